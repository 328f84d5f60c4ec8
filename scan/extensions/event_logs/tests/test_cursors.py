"""Lists of several contracts' events by cursor, while forks take blocks: no row twice or missing,
whatever they are read from."""

import pytest

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
