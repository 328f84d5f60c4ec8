"""Clients that are behind: what they share, and how much one is sent at once."""

from contextlib import closing
from functools import partial

import pytest

from scan.database.connection import Database
from scan.extensions.streams import block_events, broadcaster, open_response
from scan.extensions.streams.tests.conftest import Client
from tests.support import made_blocks, serving
from tests.support.database import insert

pytestmark = pytest.mark.thorough

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
TYPES = frozenset({"heads", "transactions"})


class CountingDatabase(Database):
    def __init__(self, url):
        super().__init__(url, statement_timeout_ms=10_000)
        self.reads = 0
        self.lag = 0  # of the index's version, as of a replica
        self.fails_every = 10**9  # reads

    def rows(self, statement, *preceding, **params):
        self.reads += 1
        if self.reads % self.fails_every == 0:
            raise broadcaster.Unavailable("The database is away.")
        return super().rows(statement, *preceding, **params)

    def row(self, statement, **params):
        row = super().row(statement, **params)
        is_next = statement == "queries/block_events_get_next"
        return (*row[:-1], row[-1] - self.lag) if row is not None and is_next else row


@pytest.fixture
def database(database_url):
    with closing(CountingDatabase(database_url)) as counting:
        yield counting


@pytest.fixture
def chain(database_url):
    insert(database_url, "chain", chain_id=1)  # else nobody is notified
    with closing(Database(database_url, statement_timeout_ms=0)) as writes:
        yield made_blocks.Chain(writes)


def newest(database):
    return block_events.read_newest(database).position


def read_next(database, position, types):
    return block_events.read_next(database, position, types, block_events.OrphanedEvents(database))


def test_a_block_that_a_second_fork_took_away_is_not_sent_again(database, chain):
    """Though its events and its removal are both in memory, as is the removal of the first one."""
    chain.append()
    start, shared = newest(database), block_events.SharedReads(database)
    positions = [start]

    def read_all(position):
        """What a stream is sent, with whether it was removed, and where that ended."""
        received = []
        version = read_next(database, position, frozenset()).version  # as of one that is opened
        while True:
            events = shared.read_next(position, TYPES, version)
            received += [(e.type, e.record.get("removed", False)) for e in events.events]
            assert len(received) < 100, "it runs in a circle"
            position, version = events.position, events.version
            if events.is_newest:
                return received, position

    for moves in range(3):
        chain.unwind(start.number)
        chain.append([made_blocks.Move(ANNA, BERT)] * moves)
        added = [("heads", False)] + [("transactions", False)] * moves
        for held, position in enumerate(positions):
            removed = [("transactions", True)] * (held - 1) + [("heads", True)] * (held > 0)
            assert read_all(position) == (removed + added, newest(database))
        positions.append(newest(database))


def test_a_block_that_another_streams_read_has_found_removed_is_not_sent(database, chain):
    """Though this one has read nothing since, and the block's events are in memory."""
    chain.append()
    start, shared = newest(database), block_events.SharedReads(database)
    chain.append([made_blocks.Move(ANNA, BERT)])
    removed = shared.read_next(start, TYPES, 0).position
    chain.unwind(start.number)
    chain.append()
    assert shared.read_next(removed, TYPES, 0).position[:2] == start[:2]
    events = shared.read_next(start, TYPES, 0)
    expected = (["heads"], newest(database))
    assert ([event.type for event in events.events], events.position) == expected


def test_an_orphaned_block_is_read_in_pieces_and_shared(database, chain):
    """From any position in it, the last event first, as if it were read whole."""
    chain.append()
    chain.append([made_blocks.Move(ANNA, BERT)] * 20)
    orphaned = newest(database)
    chain.unwind(chain.number - 1)

    def removed(read, position):
        events, received = read(position), []
        while not events.is_newest:
            received += [(event.position, event.type) for event in events.events]
            events = read(events.position)
        return received

    def read_alone(position, **bounds):
        orphaned_events = block_events.OrphanedEvents(database)
        return block_events.read_next(database, position, TYPES, orphaned_events, **bounds)

    whole = removed(read_alone, orphaned)
    assert [kind for _, kind in whole] == ["transactions"] * 20 + ["heads"]
    read_six = partial(read_alone, max_events=6)
    assert removed(read_six, orphaned) == whole
    assert removed(read_six, orphaned._replace(event_count=8)) == whole[-8:]
    assert removed(read_six, orphaned._replace(event_count=0)) == []
    shared, before = block_events.SharedReads(database, max_events=6), database.reads
    for _ in range(5):
        assert removed(lambda p: shared.read_next(p, TYPES, 0), orphaned) == whole
    assert database.reads - before == 4 + 1 + 5  # its pieces and its events once
    events = read_next(database, orphaned, frozenset())
    assert (events.events, events.position.number) == ([], orphaned.number - 1)


def test_addresses_take_turns_whatever_number_of_streams_they_have():
    turns = open_response.FairQueue[str]()
    for number in range(4):
        turns.add("a", f"a{number}")
    turns.add("b", "b0")
    assert [turns.next() for _ in range(2)] == ["a0", "b0"]
    turns.add("b", "b1")
    turns.add("c", "c0")
    assert [turns.next() for _ in range(5)] == ["a1", "b1", "c0", "a2", "a3"]


def test_what_was_read_is_kept_briefly_and_within_bounds(database, chain):
    chain.append()
    start = newest(database)
    for _ in range(3):
        chain.append([made_blocks.Move(ANNA, BERT)] * 5)

    def reads_twice(**bounds):
        shared, counts = block_events.SharedReads(database, **bounds), [database.reads]
        for _ in range(2):
            shared.read_next(start, TYPES, 0)
            counts.append(database.reads)
        return counts[1] - counts[0], counts[2] - counts[1]

    assert reads_twice() == (1, 0)
    assert reads_twice(max_age_s=0.0) == reads_twice(cache_bytes=1000) == (1, 1)


def attached(opened, position=None):
    client = Client()
    opened.open("somebody", block_events.StreamFilter(TYPES), position).attach(client)
    return client


def test_a_client_is_sent_no_more_than_it_may_be_before_it_has_taken_that(database, chain):
    """Behind, and live where one block has more; nothing is lost or repeated."""
    open_streams = broadcaster.Streams(database, None, most_sent_bytes=3000)
    chain.append()
    start = newest(database)
    for _ in range(3):
        chain.append([made_blocks.Move(ANNA, BERT)] * 20)
    client, live = attached(open_streams, start), attached(open_streams)
    serving.wait_until(lambda: len(client.events) > 0)

    def has(events):
        client.take()
        live.take()
        return len(client.events) >= events

    serving.wait_until(lambda: has(63))
    serving.wait_until(lambda: len(open_streams._live_streams()) == 2)
    chain.append([made_blocks.Move(BERT, ANNA)] * 20)
    serving.wait_until(lambda: has(84) and len(live.events) >= 21)
    for one in (client, live):
        assert one.most_untaken < 5000 < sum(map(len, one.sent))
    for events in (client.events, live.events):
        identifiers = [text.split(b"\n")[0] for text in events]
        assert len(identifiers) == len(set(identifiers))
    assert (len(client.events), len(live.events)) == (84, 21)
    assert all(len(data) < 5000 for data in (*client.sent, *live.sent))
    chain.append()
    serving.wait_until(lambda: len(client.events) == 85 and len(live.events) == 22)


def test_a_live_stream_waits_where_another_replica_lags_behind(database, chain):
    open_streams = broadcaster.Streams(database, None)
    chain.append()
    client = attached(open_streams)
    serving.wait_until(lambda: len(open_streams._live_streams()) == 1)
    chain.append()
    serving.wait_until(lambda: len(client.events) == 1)
    database.lag = 10**15
    chain.append()
    before = database.reads
    serving.wait_until(lambda: database.reads > before + 2)
    assert len(client.events) == 1
    database.lag = 0
    serving.wait_until(lambda: len(client.events) == 2)


def test_a_position_is_lost_once_its_block_was_waited_for(database, chain):
    """A client that connects again is refused at once; others may be ahead of a replica."""
    open_streams = broadcaster.Streams(database, None, max_ahead_s=0.0)
    chain.append()
    lost, ahead = (newest(database)._replace(number=9, hash=32 * digit) for digit in (b"1", b"2"))
    client = attached(open_streams, lost)
    serving.wait_until(lambda: client.has_ended)
    with pytest.raises(broadcaster.PositionLost, match="Block 9 is not indexed"):
        attached(open_streams, lost)
    attached(open_streams, ahead)


def test_nothing_is_lost_where_the_database_fails(database, chain):
    open_streams = broadcaster.Streams(database, None)
    chain.append()
    start = newest(database)
    for _ in range(6):
        chain.append([made_blocks.Move(ANNA, BERT)])
    client = Client()
    stream = open_streams.open("somebody", block_events.StreamFilter(TYPES), start)
    database.fails_every = 3
    stream.attach(client)

    def has_all():
        client.take()
        return len(client.events) >= 12

    serving.wait_until(has_all)
    identifiers = [text.split(b"\n")[0] for text in client.events]
    assert len(identifiers) == len(set(identifiers)) == 12
