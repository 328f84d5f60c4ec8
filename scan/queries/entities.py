"""The entities that can be filtered: by which keys each, and how a filter's values are read."""

from collections.abc import Callable, Mapping
from typing import Any

from scan import parameters
from scan.errors import InvalidParameter
from scan.queries import (
    blocks,
    dex_trades,
    internal_transfers,
    logs,
    token_transfers,
    tokens,
    transactions,
)
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

Filters = Mapping[str, Any]  # of a query string or of JSON, unchecked

PARTIES = ("address", "from", "to")
RANGE = ("blockFrom", "blockTo", "timeFrom", "timeTo")
# Without RANGE, which the Window has.
FILTER_KEYS = {
    "transactions": (*PARTIES, "method", "status"),
    "blocks": (),
    "tokens": (),
    "token_transfers": (*PARTIES, "tokenAddress", "tokenType"),
    "dex_trades": ("address", "maker", "dex", "pool", "tokenAddress"),
    "internal_transfers": PARTIES,
    "logs": logs.FILTER_KEYS,
}
TOKEN_TYPES = ("BEP20", "BEP721", "BEP1155")
MAX_DEX_NAME = 100


def page(reader: Reader, entity: str, window: Window, filters: Filters) -> Page:
    """Records that match all keys of FILTER_KEYS that are given; raises InvalidParameter."""
    return _PAGES[entity](reader, window, filters)


def _transactions(reader: Reader, window: Window, filters: Filters) -> Page:
    address, sender, recipient = _parties(filters)
    return transactions.page(
        reader,
        window,
        address=address,
        sender=sender,
        recipient=recipient,
        method=parameters.method(filters["method"]) if "method" in filters else None,
        status=parameters.flag(filters["status"], "status") if "status" in filters else None,
    )


def _token_transfers(reader: Reader, window: Window, filters: Filters) -> Page:
    token_type = None
    if "tokenType" in filters:
        token_type = parameters.one_of(filters["tokenType"], "tokenType", TOKEN_TYPES)
    address, sender, recipient = _parties(filters)
    return token_transfers.page(
        reader,
        window,
        address=address,
        sender=sender,
        recipient=recipient,
        token=parameters.optional_address(filters, "tokenAddress"),
        token_type=token_type,
    )


def _dex_trades(reader: Reader, window: Window, filters: Filters) -> Page:
    if "maker" in filters and "address" in filters:
        raise InvalidParameter("maker and address are the same: give one.", field="maker")
    dex = None
    if "dex" in filters:
        dex = parameters.text(filters["dex"], "dex", most=MAX_DEX_NAME)
    return dex_trades.page(
        reader,
        window,
        maker=parameters.optional_address(filters, "maker" if "maker" in filters else "address"),
        dex=dex,
        pool=parameters.optional_address(filters, "pool"),
        token=parameters.optional_address(filters, "tokenAddress"),
    )


def _internal_transfers(reader: Reader, window: Window, filters: Filters) -> Page:
    address, sender, recipient = _parties(filters)
    return internal_transfers.page(
        reader, window, address=address, sender=sender, recipient=recipient
    )


def _parties(filters: Filters) -> list[bytes | None]:
    return [parameters.optional_address(filters, name) for name in PARTIES]


_PAGES: Mapping[str, Callable[[Reader, Window, Filters], Page]] = {
    "transactions": _transactions,
    "blocks": lambda reader, window, _: blocks.page(reader, window),
    "tokens": lambda reader, window, _: tokens.page(reader, window),
    "token_transfers": _token_transfers,
    "dex_trades": _dex_trades,
    "internal_transfers": _internal_transfers,
    "logs": lambda reader, window, filters: logs.page(reader, window, logs.read_filter(filters)),
}
