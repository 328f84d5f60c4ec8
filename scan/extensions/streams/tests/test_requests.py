"""Which streams may be opened: hostile positions, filters, and how many."""

from contextlib import closing

import pytest

from scan.errors import RateLimited, Unavailable
from scan.extensions.streams import block_events, broadcaster, open_response
from scan.extensions.streams.tests.conftest import Client
from tests.support import expected, indexing, made_blocks
from tests.support.database import execute, insert, made_key

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
HASH = "0x" + 64 * "a"


@pytest.fixture
def chain(database):
    """Of the test's own."""
    return made_blocks.Chain(database)


@pytest.fixture
def client(database_url, chain):
    """Over three blocks."""
    for _ in range(3):
        chain.append([made_blocks.Move(ANNA, BERT)])
    return indexing.client_over(database_url)


def opened(client, last_id=None, **parameters):
    headers = {} if last_id is None else {"Last-Event-ID": last_id}
    return client.get("/api/v1/stream", query_string=parameters, headers=headers)


def newest(client):
    """The id with which a stream begins."""
    with opened(client) as response:
        assert response.mimetype == "text/event-stream"
        assert response.headers["X-Accel-Buffering"] == "no"
        assert response.headers["Cache-Control"] == "no-store"
        return response.text.split("id: ")[1].strip()


@pytest.mark.parametrize("last_id", ["x", f"1-{HASH}--1", "1-" + 70_000 * "a"])
def test_what_is_no_position_is_refused_in_the_header(client, last_id):
    response = opened(client, last_id)
    assert (response.status_code, response.json["field"]) == (400, "Last-Event-ID")


def test_the_header_is_the_newer_one_and_an_empty_one_is_none(client):
    last_id = newest(client)
    assert opened(client, last_id, lastEventId="x").status_code == 200
    assert opened(client, "", lastEventId=last_id).status_code == 200
    assert opened(client, "").status_code == 200
    # As after a failover to a standby that lacks the newest block.
    assert opened(client, f"3-{HASH}-1").status_code == 200


def test_positions_that_cannot_be_resumed_are_conflicts(client, chain, database_url, monkeypatch):
    last_id = newest(client)
    assert opened(client, f"1-{HASH}-0").json["code"] == "position_lost"
    assert opened(client, last_id.replace("2-", "1-", 1)).status_code == 409
    for _ in range(3):
        chain.append()
    monkeypatch.setattr(block_events, "MAX_BLOCKS", 2)
    assert opened(client, last_id).status_code == 409
    monkeypatch.undo()
    assert opened(client, last_id).status_code == 200
    chain.unwind(1)
    chain.append()
    assert opened(client, last_id).status_code == 200
    execute(database_url, "UPDATE orphaned_blocks SET events = NULL")
    response = opened(client, last_id)
    assert (response.status_code, response.json["code"]) == (409, "position_lost")


def test_a_stream_of_logs_that_are_not_stored_says_so(client, chain, database_url):
    insert(database_url, "chain", chain_id=1)
    response = opened(client, types="logs")
    assert (response.status_code, response.json["field"]) == (400, "types")
    assert "SCAN_LOGS" in response.json["error"]
    with opened(client, types="heads,logs") as response:
        comment, _, opening = response.text.partition("\n\n")
        assert comment.startswith(": ") and "SCAN_LOGS" in comment
        assert opening.startswith("retry: ")
    execute(database_url, "UPDATE chain SET stored_logs = 'all'")
    with opened(client, types="logs") as response:
        assert response.text.startswith("retry: ")


def test_an_empty_index_has_no_streams_yet(database_url):
    response = opened(indexing.client_over(database_url))
    assert (response.status_code, "Retry-After" in response.headers) == (503, True)


HEADS = block_events.StreamFilter(frozenset(("heads",)))


def streams_of(client, **most):
    """Streams of a client's service, of which few may be open."""
    sources = indexing.sources(client)
    few = sources.of_extensions[broadcaster.Streams] = broadcaster.Streams(
        sources.database, None, **most
    )
    return few


def test_streams_are_counted_for_each_address_and_in_all(client):
    streams = streams_of(client, most_of_address=10, most=11)
    opened_streams = [streams.open("192.0.2.1", HEADS, None) for _ in range(10)]
    with pytest.raises(RateLimited, match="10 streams are open"):
        streams.open("192.0.2.1", HEADS, None)
    opened_streams.append(streams.open("192.0.2.2", HEADS, None))
    with pytest.raises(Unavailable):  # its network has all of them
        streams.open("192.0.2.3", HEADS, None)
    for stream in opened_streams:
        stream.close()
        stream.close()
    streams.open("192.0.2.1", HEADS, None).close()


def test_nobody_can_take_all_places(client):
    """A client of another network gets one of the network that has most."""
    streams, sinks = streams_of(client, most=4), {}

    def open_from(address):
        stream = streams.open(address, HEADS, None)
        sinks[stream] = Client()
        return stream

    hostile = [open_from(f"192.0.2.{host}") for host in range(4)]
    hostile[2].attach(sinks[hostile[2]])
    others = [open_from("198.51.100.1"), open_from("198.51.100.2")]
    assert [stream.is_closed for stream in hostile] == [False, False, True, True]
    assert b"unavailable" in b"".join(sinks[hostile[2]].sent) and sinks[hostile[2]].has_ended
    hostile[3].attach(sinks[hostile[3]])  # it has lost its place before that
    assert sinks[hostile[3]].has_ended
    for address in ("192.0.2.9", "198.51.100.3"):
        with pytest.raises(Unavailable):
            streams.open(address, HEADS, None)
    others.append(open_from("2001:db8::/64"))
    assert sum(not stream.is_closed for stream in (*hostile, *others)) == 4


def test_a_key_gives_no_further_places(database_url, client):
    """Anybody can make wallets, and a key for each."""
    streams = streams_of(client, most_of_address=1)
    key = made_key(database_url, 100).text
    with closing(streams.open("127.0.0.1", HEADS, None)):
        response = client.get("/api/v1/stream", headers={"X-API-Key": key})
    assert response.status_code == 429
    with client.get("/api/v1/stream", headers={"X-API-Key": key}) as response:
        assert response.status_code == 200


def test_what_is_never_sent_holds_no_place(client):
    for _ in range(2 * open_response.MAX_STREAMS_PER_ADDRESS):
        assert client.head("/api/v1/stream").status_code == 200
        with opened(client) as response:
            assert response.status_code == 200
    assert client.options("/api/v1/stream").headers["Allow"] == "GET, HEAD, OPTIONS"
    assert client.post("/api/v1/stream").status_code == 405


def test_refusals_are_as_expected(client):
    expected.compare(__file__, client, {})
    assert opened(client, lastEventId=f"1-{70_000 * 'a'}").status_code == 400
