"""Sums of the rows of a list by month, which one statement reads in one snapshot, and their worth
at the operator's present unit prices, where there are any.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson

from scan.database.lists import all_entities
from scan.errors import InvalidParameter, NotFound, Unavailable
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.traces import views as internal_transfers
from scan.http.current_request import reader
from scan.queries import cursors, entities, holdings
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import MAX_ENTRIES, bounds_of, list_by
from scan.queries.holdings import UnitPrices, exact_worth
from scan.queries.list_pages import Page, Window, in_kept_blocks
from scan.queries.reader import Reader

STATEMENTS = {
    "transactions": "queries/transactions_sum",
    "token_transfers": "queries/token_transfers_sum",
    "internal_transfers": "queries/internal_transfers_sum",
}
MOST_SUMS = 4000  # by month and token: at most 2 MB
ATTEMPTS = 3


class SumBounds:
    """The bounds of one request."""

    entries, sums = MAX_ENTRIES, MOST_SUMS


class TooManyRows(InvalidParameter):
    """From the block `first_block` on there are few enough."""

    def __init__(self, first_block: int) -> None:
        reason = f"over {MAX_ENTRIES:,} rows would be summed"
        super().__init__(f"blockFrom must be at least {first_block}: {reason}.", field="blockFrom")
        self.first_block = first_block


def page(
    reader: Reader, entity: str, window: Window, arguments: Mapping[str, Any], address: bytes | None
) -> Page:
    """Return the sums of all rows of a window that match the filters, seen from `address`;
    `total` counts the rows.

    Raises TooManyRows, InvalidParameter where there are too many sums, NotFound without traces,
    Unavailable where the index changes at each attempt.
    """
    values = entities.read_filters(reader, entity, arguments)
    for _ in range(ATTEMPTS):
        attempt = Reader(reader.sources, reader.client)
        data, sums, rows, *more = _read(attempt, entity, window, values, address)
        if len(attempt.versions) == 1:
            break
    else:
        raise Unavailable("The index changes too quickly. Try again.")
    reader.versions |= attempt.versions
    if more == [None]:
        raise NotFound(internal_transfers.without_traces(reader))
    if data is None:
        message = f"is needed, or a shorter range: there are over {MOST_SUMS:,} sums."
        raise InvalidParameter(f"tokenAddress {message}", field="tokenAddress")
    untraced_blocks = more[0] if more else None
    return Page(data, sums, rows, None, untraced_blocks, attempt.kept_from)


def _read(
    reader: Reader, entity: str, window: Window, values: Mapping[str, Value], address: bytes | None
) -> tuple[Any, ...]:
    """Return the row of a statement; its bounds are of the same version where `reader` has one."""
    window, limits = in_kept_blocks(reader, window), reader.sources.get(SumBounds)
    span = {"block_from": window.block_from, "block_to": window.block_to}
    shortest, end, bounds = bounds_of(
        reader, entity, values, {**span, "direction": "desc", "after": None}, limits.entries
    )
    if (last_unread := cursors.read_reference(end.block)) is not None:
        raise TooManyRows(last_unread.number + 1)
    list_, by_param = list_by(entity, shortest, values)
    params = {**dict.fromkeys(all_entities()[entity].by_param), **by_param, **bounds}
    if entity == "token_transfers":
        params["most_sums"] = limits.sums
    return reader.row(STATEMENTS[entity], is_unbounded=True, own=address, list=list_, **params)


AMOUNTS = ("value", "valueIn", "valueOut", "fees")


def valued_page(page: Page) -> Page:
    """Return the page, of whose sums those of the coin and of tokens with a price have the currency
    and the worth of each amount, as exact decimal numbers."""
    prices = holdings.unit_prices(reader())
    if prices is None:
        return page
    records = orjson.loads(page.data)
    for record in records:
        for name in AMOUNTS:
            worth = None if record.get(name) is None else _worth(prices, record, record[name])
            if worth is not None:
                record["currency"] = prices.currency
                record[f"{name}Worth"] = f"{worth:f}"
    return replace(page, data=orjson.dumps(records).decode())


def _worth(prices: UnitPrices, record: dict[str, Any], value: str) -> Decimal | None:
    """Return the worth of an amount of the coin or of a record's token; items have none."""
    if "tokenAddress" not in record:
        return None if prices.coin is None else exact_worth(value, COIN_DECIMALS, prices.coin)
    if record["tokenType"] != "BEP20":
        return None
    return prices.token_worth(record["tokenAddress"], value, record["tokenDecimals"])
