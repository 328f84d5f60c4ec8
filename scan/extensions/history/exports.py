"""A history as CSV files: its rows, or a line a transaction, made from the transaction's rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scan.extensions.exports.hooks import Context, Exports, Record
from scan.http.csv_text import text

MAX_IN_CELL = 100  # entries; a cell of a spreadsheet holds 32,767 characters

Rows = Sequence[Mapping[str, Any]]


def _assets(rows: Rows, direction: str) -> str:
    """Return the amounts of one direction without the fee: `1.5 ETH; 20 USDC; #7 PUNK`."""
    return _joined(
        f"#{row['tokenId']} {row['symbol']}"
        if row["tokenType"] == "BEP721"
        else f"{row['amountDecimal'] or row['amount'] + ' units of'} {row['symbol']}"
        for row in rows
        if row["direction"] == direction and row["type"] != "fee"
    )


def _joined(texts: Iterable[str]) -> str:
    """Return the first MAX_IN_CELL texts, followed by the number of all where there are more."""
    every = [*texts]
    more = [f"{len(every)} in all"] if len(every) > MAX_IN_CELL else []
    return text("; ".join([*every[:MAX_IN_CELL], *more]))


def _change(record: Record, _: Context) -> str | None:
    """Return the change of the address's balance, with its sign."""
    if record["direction"] == "self":
        return "0"
    if record["amountDecimal"] is None:
        return None
    return ("-" if record["direction"] == "out" else "") + str(record["amountDecimal"])


HOOKS = Exports(
    cells={
        "change": _change,
        "units": lambda row, _: f"{row['amount']} {'units' if row['tokenAddress'] else 'wei'}",
        "in": lambda entry, _: _assets(entry["rows"], "in"),
        "out": lambda entry, _: _assets(entry["rows"], "out"),
        "self": lambda entry, _: _assets(entry["rows"], "self"),
        "fee_of_rows": lambda entry, _: next(
            (row["amountDecimal"] for row in entry["rows"] if row["type"] == "fee"), None
        ),
        "counterparties": lambda entry, _: _joined(
            dict.fromkeys(row["counterparty"] for row in entry["rows"] if row["counterparty"])
        ),
        "row_count": lambda entry, _: len(entry["rows"]),
    }
)
