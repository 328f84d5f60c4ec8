"""Cells of a CSV file, as spreadsheets take them (RFC 4180).

Spreadsheets keep 15 digits of a number. Values that must be exact are text: base units are followed
by `wei` or `units`, a token's id follows `#`. Amounts are numbers, which can be summed.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from scan.ethereum.units import COIN_DECIMALS, in_units

# Excel reads a file without it in the machine's own encoding; LibreOffice reads either.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# The place before a character that begins a formula in a spreadsheet: at the start of a cell, also
# of one that another separator begins. The character may be a full-width one.
_FORMULA = re.compile(
    r'(^|[;,|\t\r\n"])(?=\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}'
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}])|^(?=[\t\r])"
)

Cell = str | int | None


def text(value: str) -> str:
    """Return a text from a contract, which anybody may have written, with an apostrophe before a
    formula."""
    return _FORMULA.sub(r"\1'", value)


def amount(units: str, decimals: int) -> str:
    """Return base units as an exact decimal number without zeros at its end."""
    return in_units(int(units), decimals)


def coins(value: str | None) -> str | None:
    """Return wei as a decimal number of coins."""
    return None if value is None else amount(value, COIN_DECIMALS)


def wei(value: str | None) -> str | None:
    return None if value is None else f"{value} wei"


def units(value: str | None) -> str | None:
    return None if value is None else f"{value} units"


def token_id(value: str | None) -> str | None:
    return None if value is None else f"#{value}"


def date_time(iso: str) -> str:
    """Return `2026-01-31T23:59:59Z` as spreadsheets read a time: `2026-01-31 23:59:59`."""
    return iso.replace("T", " ").removesuffix("Z")


def lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows in UTF-8, each ended by CRLF; None is an empty cell."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().encode("utf-8", "replace")
