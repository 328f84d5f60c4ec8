"""Cells of a history with a line for each transaction, made of the rows of the transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scan.exports.csv_format import text

MAX_IN_CELL = 100  # of a spreadsheet, which takes 32,767 characters

Rows = Sequence[Mapping[str, Any]]


def assets(rows: Rows, direction: str) -> str:
    """Return what moved this way, the fee aside: `1.5 ETH; 20 USDC; #7 PUNK`."""
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
    """Return the first of them, and how many there are where that is more."""
    every = [*texts]
    more = [f"{len(every)} in all"] if len(every) > MAX_IN_CELL else []
    return text("; ".join([*every[:MAX_IN_CELL], *more]))
