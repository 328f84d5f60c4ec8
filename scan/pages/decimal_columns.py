"""Widths of the fractions in a table's columns: points below each other, and nothing right of the
longest fraction, so that a head and the whole numbers below it end where their column does."""

import re
from collections import defaultdict

from markupsafe import Markup

_CELL = re.compile(r"(?=<t[dh]\b)")
_FRACTION = re.compile(r'<span class="fraction">([^<]*)</span>')
WIDE = "…"  # about as wide as two digits


def fit_fractions(table: str) -> Markup:
    """Return the rows of a table with a class for each fraction, `w<number>`: the number of digits
    that the longest fraction of its column takes. Columns of whole numbers are as they were."""
    rows = [_CELL.split(row) for row in table.split("<tr")]
    widths: dict[int, int] = defaultdict(int)
    for cells in rows:
        for column, cell in enumerate(cells):
            for fraction in _FRACTION.findall(cell):
                widths[column] = max(widths[column], len(fraction) + fraction.count(WIDE))
    return Markup(
        "<tr".join(
            "".join(
                cell.replace('"fraction">', f'"fraction w{widths[column]}">')
                if widths[column]
                else cell
                for column, cell in enumerate(cells)
            )
            for cells in rows
        )
    )
