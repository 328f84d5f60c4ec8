from flask import Blueprint

from scan.api.hooks import Api
from scan.http.json_responses import Response
from scan.http.list_responses import entity_list

blueprint = Blueprint("pings", __name__)


@blueprint.get("/pings")
def list_pings() -> Response:
    return entity_list("pings")


HOOKS = Api(blueprints=(blueprint,))
