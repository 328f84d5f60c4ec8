"""GET /api/v1/blobs."""

from flask import Blueprint

from scan import hooks
from scan.http.list_responses import entity_list
from scan.http.responses import Response

blueprint = Blueprint("blobs", __name__)


@blueprint.get("/blobs")
def list_blobs() -> Response:
    return entity_list("blobs")


HOOKS = hooks.Api(blueprints=(blueprint,))
