from flask import Blueprint

from scan.api.hooks import Api
from scan.http import list_responses
from scan.http.json_responses import Response

blueprint = Blueprint("pings", __name__)


@blueprint.get("/pings")
def list_pings() -> Response:
    return list_responses.entity_list("pings")


HOOKS = Api(blueprints=(blueprint,))
