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
from scan.extensions.history.balance_history import MAX_ROWS_READ
from scan.extensions.history.queries import DIRECTIONS, GROUPS, MAX_COUNTED, REASONS, TYPES
from scan.parameters import MAX_LIMIT

_INDEXES = ("transactionIndex", "logIndex", "batchIndex", "transferIndex", "withdrawalIndex")

_COMPLETENESS: Json = {
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
}

PATHS: Json = {
    "/addresses/{address}/history": operation(
        "get", "listAddressHistory", "Everything that moved value to or from an address",
        ref("HistoryPage"),
        description="Coin by transactions, contracts, blocks and withdrawals, fees of all"
        " transactions sent, and token transfers, in the chain's order. What came in, less what"
        " went out, is the balance where `complete`. total is null by token or counterparty,"
        f" where over {MAX_COUNTED:,} rows without checkpoints would be counted, and with `group`.",
        parameters=(
            ADDRESS, LIMIT, CURSOR, FORMAT, *RANGE,
            query("types", text(f"Some of {', '.join(TYPES)}, with commas.", "fee")),
            query("direction", one_of("Only this way.", DIRECTIONS)),
            query("token", any_case_address("Only transfers of this token.")),
            query("counterparty", any_case_address("Only from or to it.")),
            query("group", one_of("One entry a transaction: HistoryEntry.", GROUPS)),
            shared("orderBy"),
        ),
    ),
    "/addresses/{address}/balances": operation(
        "get", "listAddressBalances", "The balance of an address over time",
        ref("BalancePage"), errors=(404,),
        description="After evenly spaced blocks, computed from the newest balance and all that"
        f" changed it. Where it has over {MAX_ROWS_READ:,} changes of one kind, `next` leads to"
        " older balances. With `blockTo` or `timeTo` they end there, and `at` is the balance after"
        " that block, or the last one at or before that time.",
        parameters=(
            ADDRESS,
            query("points", number(f"How many spans, at most {MAX_LIMIT}.", 40)),
            query("token", any_case_address("The balance of this token, by its transfers.")),
            CURSOR, RANGE[1], RANGE[3],
        ),
    ),
}  # fmt: skip

SCHEMAS: Json = {
    "HistoryPage": record(
        "A part of the history of an address.",
        {
            "history": array(
                {"anyOf": [ref("HistoryRow"), ref("HistoryEntry")]},
                "This page.",
                maxItems=MAX_LIMIT,
            ),
            "total": nullable(number("Rows that match.", 120)),
            **_COMPLETENESS,
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
    "BalancePage": record(
        "Balances of an address, oldest first.",
        {
            "balances": array(
                ref("BalancePoint"),
                "At most one more than `points`.",
                maxItems=MAX_LIMIT + 1,
            ),
            "symbol": text("Of the coin or the token.", "ETH", maxLength=50),
            "decimals": ref("Count"),
            **_COMPLETENESS,
            "next": ref("Next"),
            "at": ref("BalancePoint"),
        },
        optional=("at",),
    ),
    "BalancePoint": record(
        "What it had after a block.",
        {
            "blockNumber": ref("Count"),
            "timestamp": ref("Moment"),
            "balance": text("In the smallest unit.", "1500", pattern="^-?[0-9]+$"),
        },
    ),
    "HistoryEntry": record(
        "All rows of a transaction, or those of a block that are of none: never on two pages.",
        {
            "transactionHash": ref("HashOrNull"),
            "methodId": METHOD_ID,
            "blockNumber": ref("Count"),
            "timestamp": ref("Moment"),
            "transactionIndex": ref("CountOrNull"),
            "coinChange": text(
                "Coin that came in, less what went out, fees included.",
                "-21000",
                pattern="^-?[0-9]+$",
            ),
            "hasMore": flag("Whether it has more rows than a page reads."),
            "rows": array(ref("HistoryRow"), "In the order of the list."),
        },
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
