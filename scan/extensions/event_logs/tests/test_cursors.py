"""Lists of several contracts' events by cursor, while forks take blocks: no row twice or missing,
whatever they are read from."""

import itertools
from random import Random

import pytest

from scan.extensions.events.tests.random_events import Contract
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing
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


def place_of(row):
    return row["blockNumber"], row["logIndex"]


@pytest.fixture
def weather(database_url):
    weather = Weather(database_url, seed=31, deepest=30)
    weather.append_next = weather.append_busy
    yield weather
    weather.database.close()


def traversed(weather, order, rounds):
    """By each signature and two to four emitters: rows as they came, and as they are; how often a
    fork was met, and a page ended early."""
    for people in (PEOPLE[:2], [*PEOPLE[1:], bytes(20)], [*PEOPLE, bytes(20)])[:rounds]:
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
        for rows, expected, times in traversed(weather, order, 3):
            assert rows == expected
            reorganised += times
    assert reorganised
    assert bool(weather.ended_early) is (most == 128)


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
                found, more = [], {}
                while more is not None:
                    status, listed = page(limit=limit, orderBy=order, **more)
                    assert status == 200, listed
                    found += listed["events"]
                    more = listed["next"] and {"cursor": listed["next"]}
                return found

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
