"""GET /api/v1/authorizations (EIP-7702)."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.http.list_responses import add_list

blueprint = Blueprint("authorizations", __name__)
add_list(blueprint, "/authorizations", "authorizations")


HOOKS = Api(blueprints=(blueprint,))
