from flask import Blueprint

from scan.api.hooks import Api
from scan.http import requests

blueprint = Blueprint("pings", __name__)


@blueprint.get("/pings")
def list_pings() -> requests.Response:
    return requests.entity_list("pings")


HOOKS = Api(blueprints=(blueprint,))
