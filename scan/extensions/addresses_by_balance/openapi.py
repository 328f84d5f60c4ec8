"""GET /accounts."""

from scan.api.openapi.schemas import (
    LISTED,
    Json,
    address,
    amount,
    array,
    flag,
    nullable,
    number,
    one_of,
    operation,
    record,
    ref,
)
from scan.extensions.addresses_by_balance.queries import MOST_COUNTED
from scan.parameters import MAX_LIMIT

PATHS: Json = {
    "/accounts": operation(
        "get", "listAccounts", "Addresses by balance, the largest first", ref("AccountPage"),
        parameters=LISTED,
    ),
}  # fmt: skip
SCHEMAS: Json = {
    "AccountPage": record(
        "Addresses by balance. Those in no block, as unused ones of genesis, are not known.",
        {
            "accounts": array(ref("Account"), "This page.", maxItems=MAX_LIMIT),
            "total": nullable(number(f"Null above {MOST_COUNTED:,}, where pages end.", 42)),
            "complete": flag("Whether each balance is the newest block's."),
            "reason": nullable(one_of("Why not.", ("balances_unread", "untraced_blocks"))),
            "next": ref("Next"),
        },
    ),
    "Account": record(
        "An address that has a coin (10^18 wei) or more, and was seen in a block.",
        {
            "address": address("The address."),
            "balance": amount("In wei, as it was read last.", "1000000000000000000"),
            "balanceBlock": nullable(number("The block it was read at; null: to be read.", 17)),
            "txCount": number("Its transactions.", 3),
            "isContract": flag("Whether it has code."),
        },
    ),
}
