"""GET /api/v1/addresses/:address/approvals."""

from collections.abc import Mapping

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.approvals.queries import KINDS, ApprovalPage, Approvals
from scan.http.list_responses import LISTED, list_body, list_response
from scan.http.requests import Response, query_arguments, reader
from scan.queries.pages import Page

FILTERS = ("tokenAddress", "spender", "kind", "ended")

blueprint = Blueprint("approvals", __name__)


@blueprint.get("/addresses/<address>/approvals")
def list_approvals(address: str) -> Response:
    key = parameters.address(address)
    arguments = query_arguments(*FILTERS, *LISTED)
    approvals = approvals_of(key, arguments)
    return list_response("approvals", arguments, approvals.page, own=key, body=_body)


def approvals_of(owner: bytes, arguments: Mapping[str, str]) -> Approvals:
    """Return an owner's approvals that match the filters; raises InvalidParameter."""
    kind, ended = arguments.get("kind"), arguments.get("ended")
    return Approvals(
        reader(),
        owner,
        token=parameters.optional_address(arguments, "tokenAddress"),
        spender=parameters.optional_address(arguments, "spender"),
        kind=None if kind is None else parameters.one_of(kind, "kind", KINDS),
        ended=ended is not None and parameters.flag(ended, "ended"),
    )


def _body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    assert isinstance(page, ApprovalPage)
    more = {"block": page.block, "source": page.source, "usesFrom": page.uses_from}
    return list_body(name, page, arguments, **more)


HOOKS = Api(blueprints=(blueprint,))
