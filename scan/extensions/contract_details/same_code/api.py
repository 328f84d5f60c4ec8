"""GET /api/v1/contracts/:address/same-code."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.contract_details.same_code import queries
from scan.http.list_responses import LISTED, list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response

blueprint = Blueprint("same_code", __name__)


@blueprint.get("/contracts/<address>/same-code")
def list_same_code(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "sameCode",
        query_arguments(*LISTED),
        lambda window: queries.page(reader(), key, window),
        own=key,
    )


HOOKS = Api(blueprints=(blueprint,))
