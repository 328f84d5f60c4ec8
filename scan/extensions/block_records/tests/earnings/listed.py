"""Earnings as they are listed, in pages."""

from tests.support.lists import get


def rows_of(client, limit, **filters):
    rows, cursor = [], {}
    while cursor is not None:
        page = get(client, "/stats/earnings", limit=limit, **cursor, **filters)
        rows += page["earnings"]
        cursor = page["next"] and {"cursor": page["next"]}
    return rows
