"""Streams over real connections: what they send, and how they go on."""

from collections.abc import Iterator

import pytest
import requests

from scan.database.connection import Database
from tests.support.event_source import EventSource
from tests.support.made_blocks import TOKEN, Chain, Move, address
from tests.support.serving import gunicorn

ANNA, BERT, CARL = address("anna"), address("bert"), address("carl")
ALL = "heads,transactions,token_transfers,internal_transfers,dex_trades,logs"
WITHOUT_LIMITS = {"SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute"}


@pytest.fixture
def chain(database_url: str) -> Iterator[Chain]:
    database = Database(database_url, statement_timeout_ms=0)
    made = Chain(database)
    made.append()
    yield made
    database.close()


@pytest.fixture
def server(database_url: str, chain: Chain) -> Iterator[str]:
    with gunicorn(database_url, **WITHOUT_LIMITS) as address:
        yield address


def hex_of(value: bytes) -> str:
    return f"0x{value.hex()}"


def test_events_of_a_block_come_in_order_and_are_those_of_lists(server: str, chain: Chain) -> None:
    with EventSource(server, types=ALL) as source:
        chain.append([Move(ANNA, BERT, tokens=5), Move(BERT, ANNA)])
        events = source.take(4)
    assert [e.type for e in events] == ["heads", "transactions", "transactions", "token_transfers"]
    head = requests.get(f"{server}/api/v1/blocks/1", timeout=5).json()
    assert events[0].data == {k: v for k, v in head.items() if k != "withdrawals"}
    for event in events[1:]:
        body = {"entity": event.type, "orderBy": "asc"}
        listed = requests.post(f"{server}/api/v1/query", json=body, timeout=5).json()["data"]
        assert event.data in listed
    assert [e.id for e in events] == [f"1-{head['hash']}-{count}" for count in range(1, 5)]


def test_a_fork_takes_events_back_newest_first(server: str, chain: Chain) -> None:
    with EventSource(server, types=ALL) as source:
        for _ in range(2):
            chain.append([Move(ANNA, BERT)])
        before = source.take(4)
        chain.unwind(0)
        chain.append([Move(BERT, ANNA)])
        after = source.take(6)
    assert [(e.type, e.data) for e in after[:4]] == [
        (e.type, {**e.data, "removed": True}) for e in reversed(before)
    ]
    assert [e.type for e in after[4:]] == ["heads", "transactions"]
    assert after[5].data["fromAddress"] == hex_of(BERT)


def test_filters_by_address_token_and_type(server: str, chain: Chain) -> None:
    asked = {"types": "transactions,token_transfers", "address": f"{hex_of(CARL)},{hex_of(ANNA)}"}
    with (
        EventSource(server, **asked) as parties,
        EventSource(server, types="token_transfers", token=hex_of(TOKEN)) as token,
        EventSource(server) as heads,
    ):
        chain.append([Move(BERT, BERT), Move(BERT, CARL, tokens=1), Move(BERT, BERT, tokens=2)])
        chain.append([Move(ANNA, ANNA)])
        assert [e.data["transactionIndex"] for e in parties.take(1)] == [1]
        assert [(e.type, e.data["value"]) for e in token.take(2)] == [
            ("token_transfers", "1"), ("token_transfers", "2"),
        ]  # fmt: skip
        assert [e.data["number"] for e in heads.take(2)] == [1, 2]
        [transfer, transaction] = parties.take(2)
        assert transfer.data["toAddress"] == hex_of(CARL)
        assert transaction.data["fromAddress"] == transaction.data["toAddress"] == hex_of(ANNA)


@pytest.mark.parametrize("place", ["header", "parameter"])
def test_what_was_missed_comes_when_it_connects_again(
    server: str, chain: Chain, place: str
) -> None:
    chain.append([Move(ANNA, BERT)])
    with EventSource(server, types=ALL) as source:
        chain.append([Move(ANNA, BERT)])
        [head, transaction] = source.take(2)
    chain.unwind(1)
    chain.append([Move(ANNA, CARL)])
    if place == "header":
        again = EventSource(server, types=ALL)
        again.last_id = head.id
    else:
        again = EventSource(server, types=ALL, lastEventId=head.id)
    with again:
        # It had the head of the orphaned block alone.
        events = again.take(3)
    assert [e.type for e in events] == ["heads", "heads", "transactions"]
    assert events[0].data == {**head.data, "removed": True}
    assert events[2].data["toAddress"] == hex_of(CARL) != transaction.data["toAddress"]


def test_a_stream_goes_on_after_a_restart(database_url: str, chain: Chain) -> None:
    source = EventSource("", types=ALL)
    with gunicorn(database_url, **WITHOUT_LIMITS) as address:
        source = EventSource(address, types=ALL)
        with source:
            chain.append([Move(ANNA, BERT)])
            first = source.take(2)
    chain.append([Move(BERT, ANNA)])
    with gunicorn(database_url, **WITHOUT_LIMITS) as address:
        again = EventSource(address, types=ALL)
        again.last_id = source.last_id
        with again:
            chain.append([Move(BERT, CARL)])
            second = again.take(4)
    numbers = [e.data.get("number", e.data.get("blockNumber")) for e in first + second]
    assert numbers == [1, 1, 2, 2, 3, 3]
