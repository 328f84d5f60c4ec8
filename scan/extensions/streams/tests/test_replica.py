"""Streams of a standby."""

import pytest

from scan.database.connection import Database
from scan.extensions.streams.tests.conftest import announce_blocks
from tests.support import event_source, made_blocks, serving
from tests.support.replica import SETTINGS, indexed, primary, replays, replica, urls

__all__ = ["primary", "replica", "urls"]

pytestmark = pytest.mark.thorough


def held(source, received):
    """What a client has once it has come to the block with two transactions."""
    names = []
    events = [*received]
    while True:
        for event in events:
            name = f"{event.type} {event.data['hash']}"
            if event.data.get("removed"):
                assert names.pop() == name
            else:
                names.append(name)
        last = events[-1]
        if last.type == "transactions" and last.data["transactionIndex"] == 1:
            return names
        events = source.take(1)


def test_streams_of_a_standby_go_on_where_the_primary_s_ended(replica, urls):
    """Over forks, and from a position that the standby has not replayed yet."""
    url, copy = urls
    database = Database(url, statement_timeout_ms=0)
    chain = made_blocks.Chain(database)
    announce_blocks(url)
    chain.append()
    serving.wait_until(lambda: indexed(copy) == 0)
    move = made_blocks.Move(made_blocks.address("anna"), made_blocks.address("bert"))
    with (
        serving.gunicorn(url, **SETTINGS) as writing,
        serving.gunicorn(url, READ_DATABASE_URL=copy, **SETTINGS) as reading,
        event_source.EventSource(writing, types="heads,transactions") as first,
        event_source.EventSource(reading, types="heads,transactions") as second,
    ):
        for _ in range(3):
            chain.append([move])
        chain.unwind(chain.number - 2)
        chain.append([move, move])
        serving.wait_until(lambda: indexed(copy) == chain.number)
        received, same = first.take(3), second.take(3)
        # The standby may have replayed the fork before it was read.
        assert held(first, received) == held(second, same) != []
        replays(replica, pause=True)
        chain.append([move])
        newest = first.take(2)
        behind = event_source.EventSource(reading, types="heads,transactions")
        behind.last_id = newest[0].id  # of a block that the standby does not have
        with behind:
            replays(replica, pause=False)
            chain.append()
            events = behind.take(2)
        assert events[0] == newest[1]
        assert (events[1].type, events[1].data["number"]) == ("heads", chain.number)
    database.close()
