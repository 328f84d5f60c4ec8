"""What others may move of an address's tokens: GET /api/v1/addresses/:address/approvals, and the
tab of an address."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.approvals.queries import KINDS, Approvals
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response
from scan.http.list_responses import LISTED, list_response
from scan.pages import filtered_lists, hooks, records

FILTERS = ("tokenAddress", "spender", "kind", "ended")

api_views = Blueprint("approvals", __name__)


@api_views.get("/addresses/<address>/approvals")
def list_approvals(address: str) -> Response:
    key = parameters.address(address)
    arguments = query_arguments(*FILTERS, *LISTED)
    approvals = approvals_of(key, arguments)
    return list_response("approvals", arguments, approvals.page, address=key)


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


_WORDS = ("an amount", "one NFT", "all NFTs", "an amount through Permit2")
FIELDS = (
    filtered_lists.Field("tokenAddress", "Token", "address"),
    filtered_lists.Field("spender", "Spender", "address"),
    filtered_lists.Field("kind", "Kind", "choice", dict(zip(KINDS, _WORDS, strict=True))),
    filtered_lists.Field("ended", "Ended approvals", "flag", {"true": "include"}),
)


def _read(key: bytes) -> tuple[filtered_lists.FilteredList, Mapping[str, Any]]:
    owner = to_hex(key)
    approval_list = filtered_lists.filtered_list(
        f"/address/{owner}",
        f"/addresses/{owner}/approvals",
        FIELDS,
        lambda window, filters: approvals_of(key, filters).page(window),
        tab="approvals",
        paging=filtered_lists.UNORDERED,
    )
    spenders = (record["spender"] for record in approval_list.records)
    return approval_list, {"names": records.names_of(approval_list.records, owner, *spenders)}


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(
        tabs=(
            hooks.AddressTab(
                "approvals",
                "Approvals",
                75,
                template="address_approvals.html",
                read=_read,
                group=hooks.HOLDINGS,
            ),
        )
    ),
)
