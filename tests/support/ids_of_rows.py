"""Ids of the rows of a list on a page, which links lead to."""

import re
from collections import Counter


def require_ids_of_rows(html, kind):
    """Every row of a table, or else of a gallery, has an id that begins with its kind, and no id
    stands twice."""
    main = html.partition("<main")[2]
    rows = re.findall(r"<tr([^>]*)>\s*<td", main) or re.findall(r"<li( id=[^>]*)>", main)
    assert rows
    assert [row for row in rows if not row.startswith(f' id="{kind}-')] == []
    ids = Counter(re.findall(r'\bid="([^"]+)"', html))
    assert [id for id, times in ids.items() if times > 1] == []
