"""Lists and histories of a partitioned index of the scenario: the same pages and totals as without
partitions. Which partitions are read: test_partitions.py."""

import pytest

from tests.support import partitions
from tests.support.indexing import client_over
from tests.support.lists import lists_of

PARTITIONS = 5

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def partitioned(postgres, indexed):
    with postgres.cloned("template0") as url:
        partitions.partition(indexed.url, url, PARTITIONS)
        yield client_over(url, indexed.settings.rpc_urls[0])


def same(path, *clients):
    """The page that both clients have, and the next one."""
    one, other = (client.get(path).json for client in clients)
    assert one == other, path
    return one


def test_every_list_is_the_same(client, partitioned, scenario):
    for listed in lists_of(scenario.truth):
        for window in ({"limit": 7}, {"limit": 3, "page": 2}, {"limit": 7, "orderBy": "asc"}):
            same(listed.url(**window), client, partitioned)


def test_every_history_is_the_same(client, partitioned, scenario):
    to_themselves = 0
    for address in scenario.stage.people:
        for query in ("limit=7&orderBy=asc", "direction=out&limit=7", "direction=self"):
            page = same(f"/api/v1/addresses/{address}/history?{query}", client, partitioned)
        to_themselves += page["total"]
    assert to_themselves
