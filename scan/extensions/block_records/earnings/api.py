"""GET /api/v1/stats/earnings."""

from collections.abc import Mapping

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.block_records.earnings import queries
from scan.http.list_format import PARAMETER
from scan.http.list_responses import list_response
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response
from scan.queries.pages import Page, Window

blueprint = Blueprint("earnings", __name__)


@blueprint.get("/stats/earnings")
def list_earnings() -> Response:
    arguments = query_arguments("miner", "from", "to", "limit", "cursor", PARAMETER)
    return list_response("earnings", arguments, lambda window: page_of(window, arguments))


def page_of(window: Window, arguments: Mapping[str, str]) -> Page:
    """Return a page by the parameters of a request; raises InvalidParameter."""
    miner = parameters.optional_address(arguments, "miner")
    first, last = (parameters.optional_date(arguments, name) for name in ("from", "to"))
    return queries.page(reader(), window, miner, first, last)


HOOKS = Api(blueprints=(blueprint,))
