"""Times and rates of a chain of which ten blocks share each second, the last second half full."""

import json
from contextlib import closing

import pytest

from scan.database.connection import Database
from scan.extensions.demo.tests.replaying import served
from tests.support import auditing, indexing
from tests.support.chain_forms.new_rollups import DENIM_S, sharing_seconds
from tests.support.database import execute

pytestmark = pytest.mark.thorough

A_SECOND, BLOCKS = 10, 125


@pytest.fixture(scope="module")
def indexed(shared_database_url):
    with served(sharing_seconds(BLOCKS, A_SECOND)) as node:
        yield indexing.Indexing(shared_database_url, node.url).run_until(BLOCKS - 1)


def etherscan(client, action, **query):
    query |= {"module": "block", "action": action}
    return client.get("/api", query_string=query).json["result"]


def test_a_range_of_time_has_all_blocks_of_its_first_and_last_second(indexed):
    client = indexed.client()

    def numbers(name, field, **query):
        body = client.get(f"/api/v1/{name}", query_string={"limit": 100, **query}).json
        assert body["total"] == len(body[name])
        return [record[field] for record in body[name]]

    for first_s, last_s in ((0, 0), (3, 5), (11, 99)):
        times = {"timeFrom": DENIM_S + first_s, "timeTo": DENIM_S + last_s}
        end = min(A_SECOND * (last_s + 1), BLOCKS)
        expected = [*range(end - 1, A_SECOND * first_s - 1, -1)]
        assert numbers("blocks", "number", **times) == expected
        sent = numbers("transactions", "blockNumber", **times)
        assert sent == [number for number in expected if number]  # genesis has none
    last_s = DENIM_S + (BLOCKS - 1) // A_SECOND
    assert numbers("blocks", "number", timeFrom=last_s + 1) == []


def test_the_nearest_block_is_the_last_before_a_time_and_the_first_after_it(indexed):
    client = indexed.client()
    for second in (0, 4, 11):
        blocks = [
            etherscan(client, "getblocknobytime", timestamp=DENIM_S + second, closest=closest)
            for closest in ("before", "after")
        ]
        assert blocks == [str(10 * second + 9), str(10 * second)]


def test_ten_blocks_a_second_are_a_tenth_of_a_second_apart(indexed):
    client = indexed.client()
    countdown = etherscan(client, "getblockcountdown", blockno=BLOCKS + 499)
    assert (countdown["RemainingBlock"], countdown["EstimateTimeInSec"]) == ("500", "50.0")
    assert client.get("/api/v2/stats").json["average_block_time"] == 100.0
    counters = client.get("/stats-service/api/v1/counters").json["counters"]
    assert {c["id"]: c["value"] for c in counters}["averageBlockTime"] == "0.1"


@pytest.mark.parametrize(
    ("blocks", "a_second", "interval_s"),
    [(1, 1, None), (2, 1, None), (3, 1, 1.0), (9, 3, 1 / 3), (4, 9, None)],
)
def test_the_interval_of_few_blocks(blocks, a_second, interval_s, database_url, database):
    """Where all blocks but the genesis have the same second nobody can tell it."""
    with served(sharing_seconds(blocks, a_second)) as node:
        indexing.Indexing(database_url, node.url).run_until(blocks - 1)
    row = database.row("queries/blocks_get_interval")
    assert row[1:] == (blocks - 1, pytest.approx(interval_s))


def test_a_keeping_time_begins_with_the_first_block_of_its_second(indexed):
    first = "SELECT first_block_since(to_timestamp(%s))"
    first_blocks = [execute(indexed.url, first, DENIM_S + second) for second in (0, 7, 99)]
    assert first_blocks == [[(0,)], [(70,)], [(BLOCKS,)]]


def test_counts_by_time_are_the_chains(indexed):
    [day] = indexed.client().get("/api/v1/stats/daily").json["days"]
    assert (day["blocks"], day["transactions"]) == (BLOCKS, BLOCKS - 1)
    with closing(Database(indexed.url, statement_timeout_ms=5_000)) as database:
        row = database.row("queries/activity_list", span_s=1, spans=20)
    seconds = {period["start"] - DENIM_S: period for period in json.loads(row[1])}
    expected = {**dict.fromkeys(range(12), A_SECOND), 12: BLOCKS % A_SECOND}
    assert {s: period["blocks"] for s, period in seconds.items() if period["blocks"]} == expected
    assert seconds[5]["gasUsed"] == str(A_SECOND * 21_000)
    assert auditing.run(indexed.settings, node=True) == 0
