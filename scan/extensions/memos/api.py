"""GET /api/v1/memos."""

from flask import Blueprint

from scan import hooks
from scan.http.list_responses import entity_list
from scan.http.responses import Response

blueprint = Blueprint("memos", __name__)


@blueprint.get("/memos")
def list_memos() -> Response:
    """Return memos, all or those with a text."""
    return entity_list("memos")


HOOKS = hooks.Api(blueprints=(blueprint,))
