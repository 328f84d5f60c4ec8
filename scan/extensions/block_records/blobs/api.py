"""GET /api/v1/blobs."""

from flask import Blueprint

from scan import hooks
from scan.http.list_responses import add_list

blueprint = Blueprint("blobs", __name__)
add_list(blueprint, "/blobs", "blobs")


HOOKS = hooks.Api(blueprints=(blueprint,))
