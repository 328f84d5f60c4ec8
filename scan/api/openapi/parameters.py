"""Parameters shared by operations."""

from scan.api.openapi.schemas import (
    Json,
    any_case_address,
    any_case_hash,
    identifier,
    number,
    path,
    query,
    range_filters,
    text,
)
from scan.http.list_format import FORMATS, JSON
from scan.parameters import DEFAULT_LIMIT, MAX_LIMIT
from scan.queries.cursors import MAX_CURSOR
from scan.queries.pages import MAX_ENTRIES, MAX_UNLISTED_ENTRIES

PARAMETERS: Json = {
    "page": query("page", number("The page, starting at 1.", 1, minimum=1, default=1)),
    "limit": query(
        "limit",
        number(
            "Records per page.", DEFAULT_LIMIT, minimum=1, maximum=MAX_LIMIT, default=DEFAULT_LIMIT
        ),
    ),
    "format": query(
        "format",
        {
            "type": "string",
            "enum": [*FORMATS],
            "default": JSON,
            "description": "The whole list as a file, from one snapshot: csv or ndjson, also by"
            " Accept. It ends after a bound of rows or earlier; X-Scan-Complete is then false,"
            " and Link has the next file. Not together with page or limit.",
        },
    ),
    "cursor": query(
        "cursor",
        text(
            "`next` of a page with the same filter: the list goes on after it, no row twice and"
            " none left out while blocks arrive. `limit` may change. Not together with page."
            f" A page by several filters ends after {MAX_ENTRIES:,} rows were compared, or"
            f" {MAX_UNLISTED_ENTRIES:,} where none of them is an address, a token or the like: it"
            " may have fewer than `limit` records and a `next`.",
            "P5McU6d74Yg1fDd8eDY4Njg2",
            maxLength=MAX_CURSOR,
        ),
    ),
    **{name: query(name, schema) for name, schema in range_filters().items()},
    "block": {
        "name": "X-Scan-At-Least-Block",
        "in": "header",
        "required": False,
        "description": "A block that must be indexed, such as an X-Scan-Block of another instance."
        " Waits shortly for it, then returns 503.",
        "schema": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1},
    },
    "stateBlock": query(
        "block",
        text(
            "The state after this block, by number or hash; 422 history_unavailable where the node"
            " does not keep it.",
            "17",
        ),
    ),
    "address": path("address", any_case_address("The address.")),
    "token": path("address", any_case_address("The token's contract.")),
    "contract": path("address", any_case_address("The contract.")),
    "transaction": path("transaction_hash", any_case_hash("The transaction's hash.")),
    "blockNumberOrHash": path(
        "block",
        text(
            "Its number, or its hash in any letter case.",
            "17",
            pattern="^([0-9]{1,18}|0[xX][0-9a-fA-F]{64})$",
        ),
    ),
    "tokenId": path(
        "token_id",
        text(
            "The item's id: a uint256 in decimal digits, without leading zeros.",
            "7",
            pattern="^(0|[1-9][0-9]{0,77})$",
        ),
    ),
    "webhook": path("webhook_id", identifier("The webhook's id.")),
    "owner": query("owner", any_case_address("The owner's address."), required=True),
}
