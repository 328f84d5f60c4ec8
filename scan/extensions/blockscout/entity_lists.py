"""Lists of transactions, of internal transactions and of token transfers, as several paths have
them."""

from typing import Any

from scan.extensions.blockscout.lists import list_response, read_page
from scan.extensions.blockscout.token_objects import TokenTypes, transfer_objects, transfer_position
from scan.extensions.blockscout.transaction_objects import (
    internal_objects,
    transaction_objects,
    transaction_position,
)
from scan.extensions.internal_transfers import queries as internal_transfers
from scan.http.requests import reader
from scan.http.responses import Response
from scan.queries import token_transfers, transactions
from scan.queries.pages import Window


def transactions_response(window: Window | None = None, **filters: Any) -> Response:
    records, last = read_page(
        "transactions", lambda window: transactions.page(reader(), window, **filters), window
    )
    return list_response(transaction_objects(records), last and transaction_position(last))


def internal_transactions_response(window: Window | None = None, **filters: Any) -> Response:
    records, last = read_page(
        "internal_transfers",
        lambda window: internal_transfers.page(reader(), window, **filters),
        window,
    )
    items, following = internal_objects(records)
    return list_response(items, following if last else None)


def transfers_response(types: TokenTypes, **filters: Any) -> Response:
    records, last = read_page(
        "token_transfers",
        lambda window: token_transfers.page(reader(), window, type=types.only, **filters),
    )
    shown = transfer_objects(types.of(records, "tokenType"))
    return list_response(shown, last and transfer_position(last))
