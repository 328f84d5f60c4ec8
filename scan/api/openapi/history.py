"""GET /addresses/:address/history."""

from scan.api.openapi.records import METHOD_ID
from scan.api.openapi.schemas import (
    ADDRESS,
    CURSOR,
    FORMAT,
    LIMIT,
    RANGE,
    Json,
    address,
    amount,
    any_case_address,
    array,
    flag,
    nullable,
    number,
    one_of,
    operation,
    query,
    record,
    ref,
    shared,
    text,
)
from scan.parameters import MAX_LIMIT
from scan.queries.history import DIRECTIONS, MAX_COUNTED, REASONS, TYPES

_INDEXES = ("transactionIndex", "logIndex", "batchIndex", "transferIndex", "withdrawalIndex")

PATHS: Json = {
    "/addresses/{address}/history": operation(
        "get", "listAddressHistory", "Everything that moved value to or from an address",
        ref("HistoryPage"),
        description="Coin by transactions, contracts, blocks and withdrawals, fees of all"
        " transactions sent, and token transfers, in the chain's order. What came in, less what"
        " went out, is the balance where `complete`. total is null by token or counterparty,"
        f" and where over {MAX_COUNTED:,} rows without checkpoints would be counted.",
        parameters=(
            ADDRESS, LIMIT, CURSOR, FORMAT, *RANGE,
            query("types", text(f"Some of {', '.join(TYPES)}, with commas.", "fee")),
            query("direction", one_of("Only this way.", DIRECTIONS)),
            query("token", any_case_address("Only transfers of this token.")),
            query("counterparty", any_case_address("Only from or to it.")),
            shared("orderBy"),
        ),
    ),
}  # fmt: skip

SCHEMAS: Json = {
    "HistoryPage": record(
        "A part of the history of an address.",
        {
            "history": array(ref("HistoryRow"), "This page.", maxItems=MAX_LIMIT),
            "total": nullable(number("Rows that match.", 120)),
            "complete": flag("Whether all rows together explain the balance."),
            "reason": nullable(
                one_of(
                    "Why not: rows not kept; blocks not indexed, or without traces; coin no block"
                    " explains, as at genesis; no balance; a token whose events do not add up.",
                    REASONS,
                )
            ),
            "unexplained": nullable(
                text("Balance less the sum of all rows of it.", "0", pattern="^-?[0-9]+$")
            ),
            "explanation": text(
                "What moves coin unseen on this chain; only on some chains, where the reason is"
                " `unexplained_balance`.",
                "Fees go to accounts that no block names.",
            ),
            "keptFrom": ref("KeptFrom"),
            "next": ref("Next"),
        },
        optional=("explanation", "keptFrom"),
    ),
    "HistoryRow": record(
        "An amount of the coin or of a token that an address gained, spent or moved to itself; null"
        " is what a row of its type does not have.",
        {
            "type": one_of("What moved it.", TYPES),
            "direction": one_of("Which way.", DIRECTIONS),
            "counterparty": ref("HexAddressOrNull"),
            "amount": amount("In the smallest unit.", "1500000000000000000"),
            "amountDecimal": text("The same, exact.", "1.5", pattern="^[0-9]+([.][0-9]+)?$"),
            "symbol": text("Of the coin or the token.", "ETH", maxLength=50),
            "decimals": ref("Count"),
            "tokenAddress": nullable(address("Null of the coin.")),
            "tokenType": ref("TokenTypeOrNull"),
            "tokenId": ref("AmountOrNull"),
            "transactionHash": ref("HashOrNull"),
            "methodId": METHOD_ID,
            "blockNumber": ref("Count"),
            "timestamp": ref("Moment"),
            **{name: ref("CountOrNull") for name in _INDEXES},
        },
    ),
}
