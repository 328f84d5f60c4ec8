"""GET /api/v1/authorizations (EIP-7702)."""

from flask import Blueprint

from scan import hooks
from scan.http.list_responses import entity_list
from scan.http.responses import Response

blueprint = Blueprint("authorizations", __name__)


@blueprint.get("/authorizations")
def list_authorizations() -> Response:
    return entity_list("authorizations")


HOOKS = hooks.Api(blueprints=(blueprint,))
