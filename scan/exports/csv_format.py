"""Cells of a CSV file, as spreadsheets take them (RFC 4180).

Spreadsheets keep 15 digits of a number. What must be exact is text: base units are followed by
`wei` or `units`, a token's id follows `#`. Amounts are numbers, to be summed.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from scan.ethereum.units import COIN_DECIMALS, in_units

# Excel takes a file without it for one in the machine's own encoding; LibreOffice takes either.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# What spreadsheets take for a formula, also at the beginning of a cell that begins where another
# separator is used, and in full-width letters.
_FORMULA = re.compile(
    r'(^|[;,|\t\r\n"])(?=\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}'
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}])|^(?=[\t\r])"
)

Cell = str | int | None


def text(value: str) -> str:
    """Return what anybody may have written into a contract, with an apostrophe before a formula."""
    return _FORMULA.sub(r"\1'", value)


def amount(units: str, decimals: int) -> str:
    """Return base units as an exact decimal number without zeros at its end."""
    return in_units(int(units), decimals)


def coins(value: str | None) -> str | None:
    """Return wei as an amount of the coin."""
    return None if value is None else amount(value, COIN_DECIMALS)


def wei(value: str | None) -> str | None:
    return None if value is None else f"{value} wei"


def units(value: str) -> str:
    return f"{value} units"


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
