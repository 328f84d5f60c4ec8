"""Streams over real connections: what they send, how they go on, and responses left unread."""

import socket
from contextlib import ExitStack

import pytest
import requests

from scan.extensions.streams.open_response import MAX_STREAMS_PER_ADDRESS
from scan.extensions.streams.tests.conftest import WITHOUT_LIMITS
from scan.hex import to_hex
from tests.support import WAIT_S, database, lists
from tests.support.event_source import EventSource
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.serving import free_port, gunicorn, gunicorn_started, nginx, wait_for

ANNA, BERT, CARL = address("anna"), address("bert"), address("carl")
ALL = "heads,transactions,token_transfers,internal_transfers,dex_trades,logs"


def test_events_of_a_block_come_in_order_and_are_those_of_lists(chain, shared_server):
    with EventSource(shared_server, types=ALL) as source:
        chain.append([Move(ANNA, BERT, tokens=5), Move(BERT, ANNA)])
        events = source.take(4)
    assert [e.type for e in events] == ["heads", "transactions", "transactions", "token_transfers"]
    number = chain.number
    head = requests.get(f"{shared_server}/api/v1/blocks/{number}", timeout=WAIT_S).json()
    assert head == {**head, **events[0].data}
    assert head.keys() - events[0].data.keys() <= lists.ONLY_OF_ONE_BLOCK
    for event in events[1:]:
        body = {"entity": event.type, "filter": {"blockFrom": number}}
        listed = requests.post(f"{shared_server}/api/v1/query", json=body, timeout=WAIT_S)
        assert event.data in listed.json()["data"]
    assert [e.id for e in events] == [f"{number}-{head['hash']}-{count}" for count in range(1, 5)]


def test_a_fork_takes_events_back_newest_first(chain, shared_server):
    with EventSource(shared_server, types=ALL) as source:
        for _ in range(2):
            chain.append([Move(ANNA, BERT)])
        before = source.take(4)
        chain.unwind(chain.number - 2)
        chain.append([Move(BERT, ANNA)])
        after = source.take(6)
    expected = [(e.type, {**e.data, "removed": True}) for e in reversed(before)]
    assert [(e.type, e.data) for e in after[:4]] == expected
    assert [e.type for e in after[4:]] == ["heads", "transactions"]
    assert after[5].data["fromAddress"] == to_hex(BERT)


def test_filters_by_address_token_and_type(chain, shared_server):
    filters = {"types": "transactions,token_transfers", "address": f"{to_hex(CARL)},{to_hex(ANNA)}"}
    with (
        EventSource(shared_server, **filters) as parties,
        EventSource(shared_server, types="token_transfers", token=to_hex(TOKEN)) as token,
        EventSource(shared_server) as heads,
    ):
        chain.append([Move(BERT, BERT), Move(BERT, CARL, tokens=1), Move(BERT, BERT, tokens=2)])
        chain.append([Move(ANNA, ANNA)])
        assert [e.data["transactionIndex"] for e in parties.take(1)] == [1]
        expected = [("token_transfers", "1"), ("token_transfers", "2")]
        assert [(e.type, e.data["value"]) for e in token.take(2)] == expected
        assert [e.data["number"] for e in heads.take(2)] == [chain.number - 1, chain.number]
        [transfer, transaction] = parties.take(2)
        assert transfer.data["toAddress"] == to_hex(CARL)
        assert transaction.data["fromAddress"] == transaction.data["toAddress"] == to_hex(ANNA)


def test_a_fork_too_deep_to_follow_ends_streams_and_no_later_one_misses_a_block(
    chain, shared_server, shared_database_url
):
    database.execute(
        shared_database_url,
        "CREATE FUNCTION keep_no_events() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN NEW.events := NULL; RETURN NEW; END';"
        " CREATE TRIGGER keep_no_events BEFORE INSERT ON orphaned_blocks"
        " FOR EACH ROW EXECUTE FUNCTION keep_no_events()",
    )
    try:
        with EventSource(shared_server, types="transactions", address=to_hex(ANNA)) as before:
            chain.append([Move(ANNA, BERT)])
            before.take(1)
            chain.unwind(chain.number - 1)
            assert [event.data["code"] for event in before.events()] == ["position_lost"]
    finally:
        database.execute(shared_database_url, "DROP FUNCTION keep_no_events CASCADE")
    with EventSource(shared_server, types="transactions") as after:
        chain.append([Move(ANNA, BERT)])
        assert after.take(1)[0].data["blockNumber"] == chain.number


def test_what_was_missed_comes_when_it_connects_again(chain, shared_server):
    """By the header of browsers, or by the parameter."""
    chain.append([Move(ANNA, BERT)])
    with EventSource(shared_server, types=ALL) as source:
        chain.append([Move(ANNA, BERT)])
        [head, transaction] = source.take(2)
    chain.unwind(chain.number - 1)
    chain.append([Move(ANNA, CARL)])
    by_header = EventSource(shared_server, types=ALL)
    by_header.last_id = head.id
    for again in (by_header, EventSource(shared_server, types=ALL, lastEventId=head.id)):
        with again:
            # It had the head of the orphaned block alone.
            events = again.take(3)
        assert [e.type for e in events] == ["heads", "heads", "transactions"]
        assert events[0].data == {**head.data, "removed": True}
        assert events[2].data["toAddress"] == to_hex(CARL) != transaction.data["toAddress"]


def test_a_server_that_stops_ends_streams_at_an_event_and_they_go_on(chain, shared_database_url):
    port = free_port()
    with gunicorn_started(shared_database_url, port, **WITHOUT_LIMITS) as process:
        with EventSource(wait_for(port, process), types=ALL) as source:
            chain.append([Move(ANNA, BERT)])
            first = source.take(2)
            process.terminate()
            assert list(source.events()) == []  # the last chunk has come, else it raises
        process.wait(WAIT_S)
    chain.append([Move(BERT, ANNA)])
    with gunicorn(shared_database_url, **WITHOUT_LIMITS) as server:
        again = EventSource(server, types=ALL)
        again.last_id = source.last_id
        with again:
            second = again.take(2)
    newest = chain.number
    expected = [newest - 1, newest - 1, newest, newest]
    assert [e.data.get("number", e.data.get("blockNumber")) for e in first + second] == expected


@pytest.mark.thorough
def test_a_slow_reader_is_disconnected_and_resumes(chain, shared_server):
    blocks = 30
    host, port = shared_server.removeprefix("http://").split(":")
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((host, int(port)))
        slow.settimeout(WAIT_S)
        slow.sendall(f"GET /api/v1/stream?types={ALL} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        received = slow.recv(4096)
        while b"\nid: " not in received:
            received += slow.recv(4096)
        number = chain.number
        # 11 MB are more than the buffers of both sides and of the stream hold.
        for _ in range(blocks):
            chain.append([Move(ANNA, BERT)] * 500)
        while data := slow.recv(65536):
            received += data
            assert b"\n:\n" not in data, "a heartbeat: it is connected still"
    last_id = received.split(b"\nid: ")[-2].split(b"\n")[0].decode()
    with EventSource(shared_server, types="heads", lastEventId=last_id) as source:
        first = int(last_id.split("-")[0]) + 1
        rest = source.take(number + blocks + 1 - first)
    assert [e.data["number"] for e in rest] == [*range(first, number + blocks + 1)]


@pytest.mark.thorough
def test_many_streams_behind_nginx_each_get_what_concerns_them(
    chain, shared_database_url, tmp_path
):
    """Each client address has its own limit of them, also behind a proxy."""
    people = [address(f"person {number}") for number in range(MAX_STREAMS_PER_ADDRESS + 1)]
    with (
        gunicorn(shared_database_url, SCAN_TRUSTED_PROXIES="1", **WITHOUT_LIMITS) as instance,
        nginx(tmp_path, [instance] * 3) as front,
        ExitStack() as open_sources,
    ):
        sources = [EventSource(front, address=to_hex(p), types="transactions") for p in people]
        for source in sources:
            open_sources.callback(source.close)
        *opened, refused = [source.connect_from("127.0.7.1").status_code for source in sources]
        assert ({*opened}, refused) == ({200}, 429)
        assert sources[-1].connect_from("127.0.7.2").status_code == 200
        chain.append([Move(p, people[n - 1]) for n, p in enumerate(people)])
        for source, person in zip(sources, people, strict=True):
            events = source.take(2)
            assert {event.data["blockNumber"] for event in events} == {chain.number}
            for event in events:
                assert to_hex(person) in (event.data["fromAddress"], event.data["toAddress"])
