"""GET /api/v1/memos."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.http.list_responses import add_list

blueprint = Blueprint("memos", __name__)
add_list(blueprint, "/memos", "memos")


HOOKS = Api(blueprints=(blueprint,))
