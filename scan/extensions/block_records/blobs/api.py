"""GET /api/v1/blobs."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.http.list_responses import add_list

blueprint = Blueprint("blobs", __name__)
add_list(blueprint, "/blobs", "blobs")


HOOKS = Api(blueprints=(blueprint,))
