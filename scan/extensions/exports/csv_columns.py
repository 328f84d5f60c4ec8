"""The columns of each list's CSV file, as [csv] of the openapi.toml files names them, and their
cells.

Spreadsheets keep 15 digits of a number. Values that must be exact are text: base units are followed
by `wei` or `units`, a token's id follows `#`. Amounts are numbers, which can be summed.

A column is a field as the API's document writes it, in one of FORMATS, or `name()` for one of
CELLS; the names of GROUPS are several columns.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import orjson

from scan import registry
from scan.api.openapi.schemas import declared
from scan.api.renamed_fields import renamed_field
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.units import COIN_DECIMALS, in_units
from scan.extensions.exports.hooks import Context, Exports, Record
from scan.http import csv_text
from scan.http.csv_text import Cell
from scan.queries import holdings, tokens
from scan.queries.transactions import outcome


def amount(units: str, decimals: int) -> str:
    """Return base units as an exact decimal number without zeros at its end."""
    return in_units(int(units), decimals)


class Column(NamedTuple):
    name: str
    cell: Callable[[Record, Context], Cell]
    of_own: bool = False  # only in the list of an address
    is_priced: bool = False  # only with prices of days
    asset: Callable[[Record], str | None] | None = None  # whose price it is


_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)


def plain(value: Any) -> Cell:
    """Return a value of JSON as a cell: numbers in their digits, flags and lists as in JSON."""
    if isinstance(value, str):
        return stored(value)
    return None if value is None else orjson.dumps(value).decode()


def stored(text: str) -> str:
    """Return a text of a table, or a list in JSON that it has, as a cell: numbers in digits."""
    return text if _NUMBER.fullmatch(text) else csv_text.text(text)


GROUPS = {
    "TIME": ("time_utc = timestamp", "date_time = timestamp as date_time", "block = blockNumber"),
    "COIN_PRICE": ("price = coin_price()", "price_currency() as text"),
    "TOKEN_PRICE": ("price = token_price()", "price_currency() as text"),
    "PARTIES": ("direction()", "from = fromAddress", "to = toAddress"),
    "BALANCE": (
        "amount = balance in decimals",
        "symbol as text",
        "name as text",
        "units = balance as units",
        "token = tokenAddress",
        "token_type = type as standard",
        "balance_since_block = balancesSince",
        "balance_block = balanceBlock",
        "inconsistent_since_block = inconsistentSince",
    ),
}


def _token(record: Record) -> str | None:
    """Return the asset of a record of a transfer, or of a row of a history; None for an item."""
    if record["tokenAddress"] is None:
        return holdings.COIN
    token: str = record["tokenAddress"]
    return token if record["tokenType"] == "BEP20" else None


ASSETS: Mapping[str, Callable[[Record], str | None]] = {
    "coin_price": lambda _: holdings.COIN,
    "token_price": _token,
    "token_in_price": lambda record: record["tokenIn"],
    "token_out_price": lambda record: record["tokenOut"],
}
# Of values that are not null, which are empty cells.
FORMATS: Mapping[str, Callable[[Any, Context], Cell]] = {
    "coins": lambda wei, _: amount(wei, COIN_DECIMALS),
    # 2026-01-31T23:59:59Z as spreadsheets read a time: 2026-01-31 23:59:59
    "date_time": lambda iso, _: iso.replace("T", " ").removesuffix("Z"),
    "id": lambda value, _: f"#{value}",
    # A token's standard as pages call it.
    "standard": lambda value, context: tokens.token_standard(value, context.chain_id),
    "text": lambda value, _: csv_text.text(value),
    "units": lambda value, _: f"{value} units",
    "wei": lambda value, _: f"{value} wei",
    "words": lambda value, _: " ".join(value),
    "yes_no": lambda value, _: "yes" if value else "no",
}


def direction(record: Record, context: Context) -> str:
    """Return `in`, `out` or `self`, seen from `own`; a created contract is a recipient, too."""
    is_sender = record["fromAddress"] == context.own
    recipient = record["toAddress"] or record.get("contractAddress")
    if is_sender:
        return "self" if recipient == context.own else "out"
    return "in"


def fee(record: Record, context: Context) -> str | None:
    """Return the fee in wei, also of failed transactions; None in a list of another address."""
    if context.own is not None and record["fromAddress"] != context.own:
        return None
    return str(record["fee"])


def _fee_part(name: str) -> Callable[[Record, Context], Any]:
    return lambda r, context: r.get("feeParts", {}).get(name) if fee(r, context) else None


def _topic(n: int) -> Callable[[Record, Context], Cell]:
    return lambda record, _: record["topics"][n] if n < len(record["topics"]) else None


def day_of(record: Record) -> str:
    """Return the day (UTC) of a record."""
    day: str = record["date"] if "date" in record else record["timestamp"].partition("T")[0]
    return day


def _price(asset: Callable[[Record], str | None]) -> Callable[[Record, Context], Cell]:
    def cell(record: Record, context: Context) -> Cell:
        price = context.prices.get((asset(record) or "", day_of(record)))
        return None if price is None else f"{price:f}"

    return cell


@cache
def _cells() -> Mapping[str, Callable[[Record, Context], Any]]:
    """Return the CELLS that no single field has, of this extension and of others."""
    return {
        "direction": direction,
        "fee": fee,
        "l1_fee": _fee_part("l1"),
        "operator_fee": _fee_part("operator"),
        "outcome": lambda r, _: {True: "success", False: "failed", None: ""}[outcome(r)],
        # What the transaction transferred: nothing if it failed.
        "transferred": lambda r, _: amount(r["value"], COIN_DECIMALS) if r["status"] else "0",
        "coin": lambda _, context: context.coin,
        "token_symbol": lambda _, context: context.token["symbol"],
        "held": lambda record, context: _amount(record["balance"], context.token["decimals"]),
        "price_currency": lambda _, context: context.currency,
        **{name: _price(asset) for name, asset in ASSETS.items()},
        **{f"topic{n}": _topic(n) for n in range(MAX_TOPICS)},
        **registry.merged(part.cells for part in registry.parts(Exports)),
    }


def _column(written: str) -> Column:
    field = renamed_field(written)
    source = field.source if field.is_computed else ""
    read = _cells()[source] if source else lambda record, _: record.get(field.source)
    asset = ASSETS.get(source)
    return Column(
        field.name,
        _cell(read, field.format, field.decimals),
        of_own=source == "direction",
        is_priced=asset is not None or source == "price_currency",
        asset=asset,
    )


def _cell(
    read: Callable[[Record, Context], Any], as_: str | None, decimals: str | None
) -> Callable[[Record, Context], Cell]:
    if as_:
        format_value = FORMATS[as_]

        def formatted(record: Record, context: Context) -> Cell:
            value = read(record, context)
            return None if value is None else format_value(value, context)

        return formatted
    if decimals:
        # Items have no decimals; those of a token and the amount may not be known: null.
        return lambda r, context: _amount(read(r, context), r.get(decimals, 0))
    return read


def _amount(value: str | None, decimals: int | None) -> str | None:
    return None if value is None or decimals is None else amount(value, decimals)


def short_list(kind: str, records: Sequence[Record]) -> bytes:
    """Return a short list as a CSV file; its cells need no context."""
    csv_columns, context = columns(kind, None), Context(None, "", {})
    rows = [[column.cell(record, context) for column in csv_columns] for record in records]
    return csv_text.BYTE_ORDER_MARK + csv_text.lines([[c.name for c in csv_columns], *rows])


def columns(kind: str, address: str | None, *, has_prices: bool = False) -> Sequence[Column]:
    """Return the columns of a list; `own` is the address in its path, if it has one."""
    written = chain.from_iterable(GROUPS.get(name, (name,)) for name in declared("csv")[kind])
    return [
        column
        for column in map(_column, written)
        if (address is not None or not column.of_own) and (has_prices or not column.is_priced)
    ]
