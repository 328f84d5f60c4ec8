"""Lists of several contracts' events by cursor, while forks take blocks: no row twice or missing,
whatever they are read from."""

import itertools
from random import Random

import pytest

from scan.ethereum.blocks import EventLog
from scan.extensions.events.tests.random_events import Contract
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.made_blocks import Move
from tests.support.weather import (
    PEOPLE,
    SIGNATURES,
    TOPICS,
    Weather,
    block_of,
    pages_comparing,
    traverse,
    whole,
)

# Of the first two the events of each are common and others rare; the others have none.
EMITTERS = (PEOPLE[:2], [*PEOPLE[1:], bytes(20)], [*PEOPLE, bytes(20)])


def place_of(row):
    return row["blockNumber"], row["logIndex"]


@pytest.fixture
def weather(database_url):
    weather = Weather(database_url, seed=31, deepest=30)
    weather.append_next = weather.append_busy
    yield weather
    weather.database.close()


def traversed(weather, order):
    """By each signature and some emitters: rows as they came, and as they are; and how often a fork
    was met."""
    for people in EMITTERS:
        for signature, topic in zip(SIGNATURES, TOPICS, strict=True):
            addresses, topics = ["0x" + person.hex() for person in people], ["0x" + topic.hex()]
            filters = {"signature": signature, "address": addresses}
            body = {"entity": "events", "filter": filters, "orderBy": order}

            def matching(addresses=addresses, topics=topics):
                every = whole(weather.client, {"entity": "logs"})
                logs = [x for x in every if x["address"] in addresses and x["topics"] == topics]
                return logs[:: 1 if order == "desc" else -1]

            while weather.chain.number < 45:
                weather.append_busy()
            rows, newest, reorganised = traverse(weather, body, matching)
            expected = [place_of(row) for row in matching() if block_of(row) <= newest]
            yield [*map(place_of, rows)], expected, reorganised


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("most", [128, pytest.param(2**18, marks=pytest.mark.thorough)])
def test_rows_of_several_emitters_come_once_while_forks_take_blocks(weather, order, most):
    """Pages that end early at a checkpoint, and whole ones."""
    reorganised = 0
    with pages_comparing(most):
        for rows, expected, times in traversed(weather, order):
            assert rows == expected
            reorganised += times
    assert reorganised
    assert bool(weather.ended_early) is (most == 128)


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_without_rows_stands_on_the_entry_that_it_ends_at(weather, order):
    """Which a fork may take, and then what its blocks have instead comes."""
    common, rare = TOPICS

    def append(blocks, *topics):
        for _ in range(blocks):
            logs = [EventLog(n, n, PEOPLE[0], (topic,), b"") for n, topic in enumerate(topics)]
            weather.chain.append([Move(*PEOPLE[:2]) for _ in topics], logs, is_traced=True)

    kept = weather.chain.number + 1
    append(30, *[common] * 20)
    addresses = ["0x" + person.hex() for person in PEOPLE[:2]]
    body = {"entity": "events", "filter": {"signature": SIGNATURES[1], "address": addresses}}
    with pages_comparing(128):

        def ask(cursor=None):
            given = {"cursor": cursor} if cursor else {}
            answer = weather.client.post("/api/v1/query", json={**body, "orderBy": order, **given})
            return answer.status_code, answer.json

        status, page = ask()
        assert (status, page["count"]) == (200, 0) and page["next"]
        weather.chain.unwind(kept)
        append(30, *[common] * 20, rare)
        weather.client.get("/api/v1/stats")
        rows, cursor, met = [], page["next"], 0
        while cursor:
            status, page = ask(cursor)
            met += status == 409
            cursor = page.get("next") or page.get("cursor")
            rows += page.get("data", [])
    places = sorted(map(place_of, rows), reverse=order == "desc")
    assert [*map(place_of, rows)] == places
    expected = {"asc": [*range(kept + 1, weather.chain.number + 1)], "desc": []}[order]
    assert met and [number for number, _ in places] == expected


DEPTH = 6
WITHOUT_BODIES = "DELETE FROM block_bodies; DELETE FROM bodies_from"


@pytest.mark.parametrize(
    ("logs", "statement"),
    [("all", WITHOUT_BODIES), ("none", "SELECT"), ("none", WITHOUT_BODIES)],
    ids=["index", "blocks", "node"],
)
def test_a_cursor_goes_on_after_a_fork_as_it_says(postgres, template, logs, statement):
    draw = Random(8)
    with Anvil() as anvil, postgres.cloned(template) as url:
        emitters = [Contract(anvil, draw, 2) for _ in range(3)]
        event = {"type": "event", "name": "Same", "inputs": [], "anonymous": False}

        def emit(blocks):
            for _ in range(blocks):
                for emitter in draw.sample(emitters, 2):
                    emitter.abi = [event]
                    emitter.emit(1)

        emit(8)
        with Indexing(url, anvil.url, until=anvil.head(), logs=logs) as index:
            client = index.client()
            query = {"signature": "Same()", "address": ",".join(e.address for e in emitters[:2])}

            def page(**more):
                execute(url, statement)
                answer = client.get("/api/v1/events", query_string={**query, **more})
                return answer.status_code, answer.json

            def rows(limit, order):
                events, cursor = [], {}
                while cursor is not None:
                    status, listed = page(limit=limit, orderBy=order, **cursor)
                    assert status == 200, listed
                    events += listed["events"]
                    cursor = listed["next"] and {"cursor": listed["next"]}
                return events

            for order, size in itertools.product(("asc", "desc"), (3, 9)):
                _, first = page(limit=size, orderBy=order)
                anvil.reorganise(DEPTH)
                emit(5)
                index.wait_for(anvil.head())
                kept = first["events"]
                status, following = page(limit=100, orderBy=order, cursor=first["next"])
                while status == 409:
                    common = following["commonBlock"]["number"]
                    kept = [row for row in kept if row["blockNumber"] <= common]
                    assert following["cursor"]
                    cursor = following["cursor"]
                    status, following = page(limit=100, orderBy=order, cursor=cursor)
                assert status == 200, following
                every = rows(4, order)
                last = {
                    "asc": 2**62,
                    "desc": max(r["blockNumber"] for r in [*kept, *following["events"]]),
                }
                expected = [row for row in every if row["blockNumber"] <= last[order]]
                assert [*kept, *following["events"]] == expected
            assert rows(100, "desc") == rows(1, "asc")[::-1]
