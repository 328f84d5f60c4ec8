"""Parameters shared by operations."""

from scan.api.openapi.schemas import (
    Json,
    any_case_address,
    any_case_hash,
    identifier,
    number,
    path,
    query,
    text,
)
from scan.parameters import DEFAULT_LIMIT, MAX_LIMIT

PARAMETERS: Json = {
    "page": query("page", number("The page, starting at 1.", 1, minimum=1, default=1)),
    "limit": query(
        "limit",
        number(
            "Records per page.", DEFAULT_LIMIT, minimum=1, maximum=MAX_LIMIT, default=DEFAULT_LIMIT
        ),
    ),
    "block": {
        "name": "X-Scan-At-Least-Block",
        "in": "header",
        "required": False,
        "description": "A block that must be indexed, such as an X-Scan-Block of another instance."
        " Waits shortly for it, then returns 503.",
        "schema": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1},
    },
    "address": path("address", any_case_address("The address.")),
    "token": path("address", any_case_address("The token's contract.")),
    "contract": path("address", any_case_address("The contract.")),
    "transaction": path("transaction_hash", any_case_hash("The transaction's hash.")),
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
