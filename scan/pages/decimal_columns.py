"""Amounts in tables: fractions as wide as their column's longest, so that points stand below each
other, and heads and whole numbers end where their column does; and what the Tab key stops at."""

import re
from collections import defaultdict

from markupsafe import Markup

_PART = re.compile(r'<(?P<tag>t[rdh])\b|<span class="fraction(?P<end>)">(?P<fraction>[^<]*)</span>')
_ROW = re.compile(r"(?=<tr\b)")
STOP, NO_STOP = (f'tabindex="{index}" data-full=' for index in (0, -1))
WIDE = "…"  # about as wide as two digits


def fit_fractions(table: str) -> Markup:
    """Return the rows of a table with a class for each fraction, `w<number>`: the number of digits
    that the longest fraction of its column takes. Columns of whole numbers are as they were."""
    column = 0
    ends: list[tuple[int, int]] = []  # of a fraction's class, and its column
    widths: dict[int, int] = defaultdict(int)
    for part in _PART.finditer(table):
        if part["tag"]:
            column = 0 if part["tag"] == "tr" else column + 1
        else:
            fraction = part["fraction"]
            ends.append((part.start("end"), column))
            widths[column] = max(widths[column], len(fraction) + fraction.count(WIDE))
    pieces: list[str] = []
    done = 0
    for end, column in ends:
        if widths[column]:
            pieces += table[done:end], f" w{widths[column]}"
            done = end
    return Markup("".join((*pieces, table[done:])))


def without_stops(table: str) -> str:
    """Return the rows of a table, of which those with a link are no stop of the Tab key for each of
    their cut values: they show all of them while a link has the focus (scan.css)."""
    rows = _ROW.split(table)
    return "".join(row.replace(STOP, NO_STOP) if "<a " in row else row for row in rows)
