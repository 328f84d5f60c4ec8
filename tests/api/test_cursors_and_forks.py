"""A client that pages through lists by cursor while blocks arrive and forks take some back.

SCAN_TEST_TRAVERSALS=1000 has it do so a thousand times.
"""

import os

import pytest

from tests.support import brute_force
from tests.support.database import execute
from tests.support.made_blocks import DEX
from tests.support.weather import (
    PEOPLE,
    POOLS,
    TOPICS,
    Weather,
    block_of,
    fresh_index,
    traverse,
    whole,
)


@pytest.fixture
def weather(database_url):
    weather = Weather(database_url, seed=25)
    yield weather
    weather.database.close()


@pytest.mark.thorough
def test_every_row_comes_once_while_forks_take_blocks(weather, postgres, template):
    """The rows are those of numbered pages, and at the end of a round of a fresh index."""
    reorganised = 0
    a_round = 10  # traversals, after which the client is compared with an index that saw no fork
    traversals = int(os.environ.get("SCAN_TEST_TRAVERSALS", "10"))
    for _ in range(traversals // a_round):
        for _ in range(a_round):
            body = weather.body()
            rows, newest, times = traverse(weather, body)
            reorganised += times
            expected = [row for row in whole(weather.client, body) if block_of(row) <= newest]
            assert rows == expected, body
        with fresh_index(weather, postgres, template) as fresh:
            expected = [row for row in whole(fresh, body) if block_of(row) <= newest]
            assert rows == expected, body
            for other in (weather.body() for _ in range(6)):
                assert whole(weather.client, other) == whole(fresh, other), other
        weather.chain.unwind(min(weather.chain.number, 30))  # or rounds would become ever longer
    assert reorganised > traversals / 20


@pytest.mark.thorough
@pytest.mark.parametrize("order", [pytest.param("asc", marks=pytest.mark.long), "desc"])
def test_pages_that_end_early_go_on_through_forks(database_url, order, monkeypatch):
    """Lists by several filters end a page after so many rows were compared, also without one that
    matches; each row comes once for all that."""
    monkeypatch.setattr("scan.api.query.MAX_ENTRIES", 128)  # checkpoints are as far apart
    one, other, pool = ("0x" + holder.hex() for holder in (*PEOPLE[:2], POOLS[0]))
    parties = {"address": one, "counterparty": other}
    weather = Weather(database_url, seed=25, deepest=30)
    weather.append_next = weather.append_busy
    reorganised = 0
    for entity, filters in (
        *((entity, parties) for entity in ("transactions", "token_transfers")),
        ("internal_transfers", parties),
        ("transactions", {"status": False}),
        ("transactions", {"from": other, "status": False}),
        ("logs", {"address": other, "topic0": "0x" + TOPICS[0].hex()}),
        ("dex_trades", {"maker": other, "pool": pool}),
        ("dex_trades", {"maker": other, "tokenAddress": pool}),
        ("dex_trades", {"dex": DEX, "maker": other, "pool": pool}),
    ):
        body = {"entity": entity, "filter": filters, "orderBy": order}

        def matching(body=body):
            every = whole(weather.client, {"entity": body["entity"]})
            return brute_force.Chain({body["entity"]: every}, {}).find(body)

        weather.ended_early = 0
        for _ in range(2):
            while weather.chain.number < 45:
                weather.append_busy()
            rows, newest, times = traverse(weather, body, matching)
            reorganised += times
            assert rows == [row for row in matching() if block_of(row) <= newest], body
        assert weather.ended_early, body
    weather.database.close()
    assert reorganised


def test_the_response_names_what_to_drop_and_where_to_go_on(weather):
    while weather.chain.number < 40:
        weather.append()
    path = "/api/v1/blocks?limit=3"
    first = weather.client.get(path).json
    weather.chain.unwind(weather.chain.number - 10)
    head = weather.client.get("/api/v1/blocks/latest").json
    for _ in range(20):
        weather.append()
    answer = weather.client.get(f"{path}&cursor={first['next']}")
    assert (answer.status_code, answer.json["code"]) == (409, "reorganised")
    assert answer.json["commonBlock"] == {"number": head["number"], "hash": head["hash"]}
    onward = weather.client.get(f"{path}&cursor={answer.json['cursor']}").json
    assert onward["blocks"][0]["hash"] == head["hash"]


@pytest.mark.thorough
def test_a_block_that_no_journal_has(weather):
    """Where everything was taken back, a client begins again."""
    path = "/api/v1/blocks?limit=3"
    weather.chain.unwind(29)
    cursor = weather.client.get(path).json["next"]
    oldest = weather.client.get("/api/v1/blocks/0").json
    weather.chain.unwind(10)
    execute(weather.url, "DELETE FROM orphaned_blocks")
    for number in (20, 60):  # the index is behind, or may be a replica's that is
        while weather.chain.number < number:
            weather.append()
        behind = weather.client.get(f"{path}&cursor={cursor}")
        assert (behind.status_code, behind.json["code"]) == (503, "unavailable")
        assert behind.headers["Retry-After"] == "1"
    while weather.chain.number < 120:
        weather.append()
    lost = weather.client.get(f"{path}&cursor={cursor}")
    assert (lost.status_code, lost.json["code"]) == (409, "reorganised")
    assert lost.json["commonBlock"] == {"number": 0, "hash": oldest["hash"]}
    cursor = weather.client.get(path).json["next"]
    weather.chain.unwind(-1)
    for _ in range(9):
        weather.append()
    answer = weather.client.get(f"{path}&cursor={cursor}")
    assert (answer.status_code, answer.json["cursor"]) == (409, None)
    assert answer.json["commonBlock"]["number"] == -1
