"""GET /api/v1/messages-to-l1."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.http.list_responses import add_list

blueprint = Blueprint("messages_to_l1", __name__)
add_list(blueprint, "/messages-to-l1", "messages_to_l1")


HOOKS = Api(blueprints=(blueprint,))
