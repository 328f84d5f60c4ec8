"""GET /api/v1/messages-to-l1."""

from flask import Blueprint

from scan import hooks
from scan.http.list_responses import entity_list
from scan.http.responses import Response

blueprint = Blueprint("messages_to_l1", __name__)


@blueprint.get("/messages-to-l1")
def list_messages_to_l1() -> Response:
    """Return withdrawals and other messages that a rollup sent to L1."""
    return entity_list("messages_to_l1")


HOOKS = hooks.Api(blueprints=(blueprint,))
