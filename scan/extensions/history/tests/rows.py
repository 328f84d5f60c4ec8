"""What tests of histories ask for."""

import itertools
from collections import Counter

from tests.support import lists
from tests.support.lists import Listed, by_links

SIGN = {"in": 1, "out": -1, "self": 0}
NUMBERS = itertools.count()  # by which requests are new ones to the response cache


def history(client, address, limit=100, **filters):
    """Every row, page by page; where there is a total, it is their number."""
    listed = Listed(f"/addresses/{address}/history", "history", is_counted=False)
    return by_links(client, listed, limit, **filters)


def get(client, address, **arguments):
    return lists.get(client, f"/addresses/{address}/history", **arguments)


def sums(rows, key):
    totals = Counter()
    for row in rows:
        totals[key(row)] += SIGN[row["direction"]] * int(row["amount"])
    return totals


def is_coin(row):
    return row["tokenAddress"] is None


def balances(client, address, **arguments):
    """The points of all pages, oldest first."""
    points = []
    cursor = {}
    while True:
        path = f"/api/v1/addresses/{address}/balances"
        page = client.get(path, query_string={**arguments, **cursor})
        assert page.status_code == 200, page.text
        assert set(page.json["unproven"]) >= {"complete", "reason", "unexplained"}
        blocks = [point["blockNumber"] for point in page.json["balances"]]
        assert blocks == sorted(set(blocks)) and len(blocks) <= arguments.get("points", 40) + 1
        points = [*page.json["balances"], *points]
        if page.json["next"] is None:
            return points
        cursor = {"cursor": page.json["next"]}
