"""Earnings as they are listed, in pages."""

from scan.extensions.block_records.tests.uncles.mined_blocks import UNCLE_MINERS, mined  # noqa: F401  # a fixture
from tests.support.lists import get


def rows_of(client, limit, **filters):
    rows, cursor = [], {}
    while cursor is not None:
        page = get(client, "/stats/earnings", limit=limit, **cursor, **filters)
        rows += page["earnings"]
        cursor = page["next"] and {"cursor": page["next"]}
    return rows
