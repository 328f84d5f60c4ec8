"""Cells of a history with one line a transaction, made from the transaction's rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scan.extensions.exports.csv_format import text

MAX_IN_CELL = 100  # entries; a cell of a spreadsheet holds 32,767 characters

Rows = Sequence[Mapping[str, Any]]


def assets(rows: Rows, direction: str) -> str:
    """Return the amounts of one direction without the fee: `1.5 ETH; 20 USDC; #7 PUNK`."""
    return _joined(
        f"#{row['tokenId']} {row['symbol']}"
        if row["tokenType"] == "BEP721"
        else f"{row['amountDecimal']} {row['symbol']}"
        for row in rows
        if row["direction"] == direction and row["type"] != "fee"
    )


def fee(rows: Rows) -> str | None:
    return next((row["amountDecimal"] for row in rows if row["type"] == "fee"), None)


def counterparties(rows: Rows) -> str:
    return _joined(dict.fromkeys(row["counterparty"] for row in rows if row["counterparty"]))


def _joined(texts: Iterable[str]) -> str:
    """Return the first MAX_IN_CELL texts, followed by the number of all where there are more."""
    every = [*texts]
    more = [f"{len(every)} in all"] if len(every) > MAX_IN_CELL else []
    return text("; ".join([*every[:MAX_IN_CELL], *more]))
