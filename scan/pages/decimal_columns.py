"""Widths of the fractions in a table's columns: points below each other, and nothing right of the
longest fraction, so that a head and the whole numbers below it end where their column does."""

import re
from collections import defaultdict

from markupsafe import Markup

_PART = re.compile(r'<(?P<tag>t[rdh])\b|<span class="fraction(?P<end>)">(?P<fraction>[^<]*)</span>')
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
