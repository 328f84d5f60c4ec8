"""GET /addresses/:address/history."""

from scan.api.openapi.records import METHOD_ID
from scan.api.openapi.schemas import (
    ADDRESS,
    CURSOR,
    LIMIT,
    RANGE,
    TOKEN_EXAMPLE,
    Json,
    address,
    amount,
    any_case_address,
    array,
    flag,
    hash32,
    moment,
    nullable,
    number,
    one_of,
    operation,
    query,
    record,
    ref,
    text,
    token_type,
)
from scan.parameters import MAX_LIMIT
from scan.queries.history import DIRECTIONS, REASONS, TYPES

HISTORY_PATHS: Json = {
    "/addresses/{address}/history": {
        "get": operation(
            "listAddressHistory", "Chain", "Everything that moved value to or from an address",
            ref("HistoryPage"),
            description="Coin by transactions that succeeded, by contracts, blocks and withdrawals,"
            " fees of all transactions sent, and token transfers, in the chain's order. What came"
            " in, less what went out, is the balance, unless `complete` is false. total is null by"
            " token or counterparty.",
            parameters=(
                ADDRESS, LIMIT, CURSOR, *RANGE,
                query("types", text(f"Some of {', '.join(TYPES)}, with commas.", "fee")),
                query("direction", one_of("Only this way.", DIRECTIONS)),
                query("token", any_case_address("Only transfers of this token.")),
                query("counterparty", any_case_address("Only from or to it.")),
                query("orderBy", one_of("Newest first, or asc.", ("desc", "asc"))),
            ),
        ),
    },
}  # fmt: skip

HISTORY_SCHEMAS: Json = {
    "HistoryPage": record(
        "A part of the history of an address.",
        {
            "history": array(ref("HistoryRow"), "This page.", maxItems=MAX_LIMIT),
            "total": nullable(number("Rows that match.", 120)),
            "complete": flag("Whether all rows together explain the balance."),
            "reason": nullable(
                one_of(
                    "Why not: earlier blocks are not indexed, some lack traces, it has coin that no"
                    " block explains (as at genesis), the node gives no balance; by token: its"
                    " events give somebody less than nothing.",
                    REASONS,
                )
            ),
            "unexplained": nullable(
                text(
                    "The balance less the sum of the coin's rows, in wei; null where it is not"
                    " known, and by token.",
                    "0",
                    pattern="^-?[0-9]+$",
                )
            ),
            "next": ref("Next"),
        },
    ),
    "HistoryRow": record(
        "An amount of the coin or of a token that an address gained, spent or moved to itself.",
        {
            "type": one_of("What moved it.", TYPES),
            "direction": one_of("Which way.", DIRECTIONS),
            "counterparty": nullable(
                address("From or to whom; null of fees, rewards and withdrawals.")
            ),
            "amount": amount("How much, in the smallest unit.", "1500000000000000000"),
            "amountDecimal": text("The same, exact.", "1.5", pattern="^[0-9]+([.][0-9]+)?$"),
            "symbol": text("Of the coin or the token.", "ETH", maxLength=50),
            "decimals": number("How many decimals amounts have.", 18, maximum=255),
            "tokenAddress": nullable(address("Null of the coin.", TOKEN_EXAMPLE)),
            "tokenType": nullable(token_type("Null of the coin.")),
            "tokenId": nullable(amount("Null of the coin and of a BEP20.", "7")),
            "transactionHash": nullable(hash32("Null of rewards and withdrawals.")),
            "methodId": METHOD_ID,
            "blockNumber": number("Its block.", 17),
            "timestamp": moment("When its block was made."),
            **{
                name: nullable(number(description, 0))
                for name, description in (
                    ("transactionIndex", "The transaction's index in its block."),
                    ("logIndex", "Of a token transfer."),
                    ("batchIndex", "Of a token transfer."),
                    ("transferIndex", "Of an internal transfer."),
                    ("withdrawalIndex", "Of a withdrawal."),
                )
            },
        },
    ),
}
