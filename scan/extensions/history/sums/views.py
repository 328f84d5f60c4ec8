"""Sums of lists by month, which one statement reads in one snapshot, and their worth at the present
unit prices: /transactions/sums, /transfers/sums and /internal/sums of an address, and
/tokens/:address/transfers/sums, in the API and as pages at the same paths."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import orjson
from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.database.lists import all_entities
from scan.errors import InvalidParameter, NotFound, Unavailable
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.traces import views as internal_transfers
from scan.hex import to_hex
from scan.http import list_formats
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response
from scan.http.list_responses import list_response
from scan.pages import filtered_lists, hooks
from scan.pages.records import address_of, names_of
from scan.queries import cursors, entities, filter_values, holdings, list_pages, tokens
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import MAX_ENTRIES, bounds_of, kept_keys, list_by
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


def sums_page(
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
    kept_from = attempt.kept_from_of(*kept_keys(attempt, entity, values))
    return Page(data, sums, rows, None, untraced_blocks, kept_from)


def _read(
    reader: Reader, entity: str, window: Window, values: Mapping[str, Value], address: bytes | None
) -> tuple[Any, ...]:
    """Return the row of a statement; its bounds are of the same version where `reader` has one."""
    window = in_kept_blocks(reader, window, *kept_keys(reader, entity, values))
    limits = reader.sources.get(SumBounds)
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


blueprint = Blueprint("sums", __name__)


class Summed(NamedTuple):
    """A list that is summed, of an address or a token: the name of these in paths of pages and of
    the API, the filter that a path has, the last part of the list's path, its entity."""

    parent: str
    collection: str
    key: str
    rows: str
    entity: str


SUMMED = (
    Summed("address", "addresses", "address", "transactions", "transactions"),
    Summed("address", "addresses", "address", "transfers", "token_transfers"),
    Summed("address", "addresses", "address", "internal", "internal_transfers"),
    Summed("token", "tokens", "tokenAddress", "transfers", "token_transfers"),
)
# The kinds of CSV files of sums, by entity.
FILES = {
    "transactions": "transactionSums",
    "token_transfers": "transferSums",
    "internal_transfers": "internalTransferSums",
}


def list_sums(summed: Summed, address: str) -> Response:
    """Return the sums of a list by month."""
    if summed.key == "tokenAddress":
        tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    keys = [name for name in filter_values.FILTER_KEYS[summed.entity] if name != summed.key]
    arguments = query_arguments(*keys, *entities.RANGE, list_formats.PARAMETER)
    filters = {**arguments, summed.key: address}
    party = parameters.optional_address(filters, "address")

    def read(window: list_pages.Window) -> list_pages.Page:
        page = sums_page(reader(), summed.entity, window, filters, party)
        return valued_page(page)

    def of_months(window: list_pages.Window) -> list_pages.Page:
        # Without the sums of all rows, which a spreadsheet would add to the months'.
        page = read(window)
        sums = [record for record in orjson.loads(page.data) if record["month"] != "all"]
        return replace(page, data=orjson.dumps(sums).decode(), count=len(sums))

    return list_response(
        "sums", arguments, read, kind=FILES[summed.entity], address=party, read_for_file=of_months
    )


for of_list in SUMMED:
    path = f"/{of_list.collection}/<address>/{of_list.rows}/sums"
    blueprint.add_url_rule(path, path, partial(list_sums, of_list))


page_views = Blueprint("pages_sums", __name__)


def show_sums(summed: Summed, address: str) -> Response:
    """Return the page of a list's sums by month."""
    key = address_of(address)
    shown_address = to_hex(key)
    parent = f"/{summed.parent}/{shown_address}"

    def read(reader: Reader, entity: str, window: Window, values: Mapping[str, str]) -> Page:
        of = key if summed.key == "address" else parameters.optional_address(values, "address")
        return sums_page(reader, entity, window, values, of)

    listed = filtered_lists.entity_list(
        summed.entity,
        f"{parent}/{summed.rows}/sums",
        f"/{summed.collection}/{shown_address}/{summed.rows}/sums",
        fixed={summed.key: shown_address},
        paging=(),
        page_of=read,
    )
    names = names_of(listed.records, shown_address)
    return listed.response(
        "sums.html",
        shown=listed,
        names=names,
        address=shown_address,
        parent=parent,
        rows=summed.rows,
        noun=summed.entity.removesuffix("s").replace("_", " "),
        prices=holdings.unit_prices(reader()),
    )


for of_list in SUMMED:
    path = f"/{of_list.parent}/<address>/{of_list.rows}/sums"
    page_views.add_url_rule(path, path, partial(show_sums, of_list))


HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Pages(blueprints=(page_views,), sections=(hooks.Section({"list": "list_sums.html"}),)),
)
