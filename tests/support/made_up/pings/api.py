from flask import Blueprint

from scan.http.list_responses import entity_list
from scan.http.responses import Response

blueprint = Blueprint("pings", __name__)
BLUEPRINTS = (blueprint,)


@blueprint.get("/pings")
def list_pings() -> Response:
    return entity_list("pings")
