"""Rows as CSV files that spreadsheets take (RFC 4180)."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scan import registry
from scan.http import hooks

# Excel reads a file without it in the machine's own encoding; LibreOffice reads either.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# The beginning of a cell that a spreadsheet takes for a formula; the character may be a full-width
# one.
_FORMULA = re.compile(
    r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]|[\t\r]"
)

Cell = str | int | None


def text(value: str) -> str:
    """Return a text from a contract, which anybody may have written, with an apostrophe before a
    formula."""
    return f"'{value}" if _FORMULA.match(value) else value


def lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows in UTF-8, each ended by CRLF; None is an empty cell. U+FFFD stands for NUL, at
    which readers end."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue().replace("\0", "\ufffd").encode("utf-8", "replace")


def short_list(kind: str, records: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a short list as a file, whose columns are those of `kind`."""
    [files] = registry.parts(hooks.ListFiles)
    return files.short_list(kind, records)
