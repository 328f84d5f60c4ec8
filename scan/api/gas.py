"""GET /api/v1/gas."""

from flask import Blueprint

from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value
from scan.queries import gas

blueprint = Blueprint("gas", __name__)


@blueprint.get("/gas")
def get_gas() -> Response:
    query_arguments()
    return json_value(gas.price(reader()))
