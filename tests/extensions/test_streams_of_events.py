"""Streams and webhooks of followed contracts say which events their logs are, whether SCAN_LOGS has
them stored or not."""

import json
from pathlib import Path

import pytest
import requests
from eth_abi import encode

from scan.extensions.events.tests.coffers import (
    ABI,
    address_of,
    coffers,
    fill,
    following,
    watch_logs,
)
from tests.support import WAIT_S
from tests.support.anvil import calldata
from tests.support.database import execute
from tests.support.event_source import EventSource
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn
from tests.support.solidity import compile_standard

__all__ = ["coffers"]

THOROUGH = pytest.mark.thorough


@pytest.mark.parametrize("logs", ["none", "all", pytest.param("standard", marks=THOROUGH)])
def test_logs_of_followed_contracts_are_sent_with_their_events(coffers, database_url, logs):
    anvil, proxy = coffers.anvil, address_of(coffers.proxy)
    with Indexing(database_url, anvil.url, until=anvil.head(), logs=logs) as index:
        connection, followed = following(database_url)
        with connection:
            followed.add(proxy, "coffer", json.dumps(ABI))
            followed.make_views()
            watch_logs(database_url, proxy)
            with gunicorn(database_url) as server, EventSource(server, types="logs") as source:
                coffers.deposit(2)
                index.wait_for(anvil.head())
                [first] = source.take(1)
                listed = requests.get(
                    f"{server}/api/v1/contracts/{coffers.proxy}/events/Deposited", timeout=WAIT_S
                ).json()["events"]
                assert first.data["logIndex"] == listed[0]["logIndex"]
                assert first.data["event"]["args"] == listed[0]["args"]
                fill(followed)  # of older blocks: nobody is sent those
                execute(database_url, "UPDATE deliveries SET sent = true")
                anvil.reorganise(1)
                coffers.deposit(3)
                coffers.deposit(4)
                index.wait_for(anvil.head())
                rest = source.take(3)
                assert rest[0].data == {**first.data, "removed": True}
                sent = [event.data for event in (first, *rest)]
                names = {(e["event"]["name"], e["event"]["signature"]) for e in sent}
                assert names == {("Deposited", "Deposited(address,uint256)")}
                amounts = [(e["event"]["args"]["amount"], e.get("removed", False)) for e in sent]
                assert amounts == [("2", False), ("2", True), ("3", False), ("4", False)]
                with EventSource(server, types="logs", lastEventId=first.id) as resumed:
                    assert [e.data for e in resumed.take(3)] == [e.data for e in rest]
    bodies = "SELECT body::json#>>'{data,event,args,amount}' FROM event_bodies ORDER BY id"
    assert [amount for (amount,) in execute(database_url, bodies)] == ["2", "2", "3", "4"]


def test_an_event_of_two_forms_is_once_in_every_door(world):
    """Of the form with its number of topics; what fits neither is malformed, once."""
    source = Path(__file__).with_name("IndexedTwice.sol").read_text()
    compiled = compile_standard({"C.sol": source})["contracts"]["C.sol"]
    emitter, *versions = (
        world.deploy(compiled[name]["evm"]["bytecode"]["object"]) for name in ("Any", "A", "B", "C")
    )
    abi = [entry for name in "AB" for entry in compiled[name]["abi"]]
    with Indexing(world.url, world.anvil.url, until=world.head, logs="none") as index:
        connection, followed = following(world.url)
        with connection, gunicorn(world.url) as server:
            followed.add(address_of(emitter), "any", json.dumps(abi))
            followed.make_views()
            watch_logs(world.url, address_of(emitter))
            with EventSource(server, types="logs") as source:
                for version, value in zip(versions * 2, range(6), strict=True):
                    call = bytes.fromhex(calldata("emit_(uint256)", value)[2:])
                    data = encode(["address", "bytes"], [version, call]).hex()
                    world.anvil.receipt_of(
                        world.anvil.send(world.me, emitter, data=f"0x{data}", gas=200_000)
                    )
                index.wait_for(world.head)
                streamed = [e.data["event"]["args"] for e in source.take(6)]
            path = f"{server}/api/v1/contracts/{emitter}/events/Changed"
            page, few, file = (
                requests.get(path + end, timeout=WAIT_S)
                for end in ("?orderBy=asc", "?b=4", "?orderBy=asc&format=csv")
            )
    expected = [None if n % 3 == 2 else {"a": world.me, "b": str(n)} for n in range(6)]
    assert streamed == [event["args"] for event in page.json()["events"]] == expected
    assert page.json()["total"] == 6 and [e["args"] for e in few.json()["events"]] == [expected[4]]
    assert len(file.text.splitlines()) == 7
    rows = world.sql("SELECT b, is_malformed FROM events.any_changed ORDER BY 1, 2")
    assert rows == [*((n, False) for n in (0, 1, 3, 4)), *[(None, True)] * 2]
    of_emitter = "FROM v1.logs WHERE address_bytes = %s"
    counted = f"SELECT count(*), count(DISTINCT log_index + 1000 * block_number) {of_emitter}"
    assert world.sql(counted, address_of(emitter)) == [(6, 6)]
    bodies = "SELECT body::json#>'{data,event,args}' FROM event_bodies ORDER BY id"
    assert [args for (args,) in world.sql(bodies)] == expected


@THOROUGH
def test_logs_that_are_filled_later_renumber_no_others(coffers, database_url):
    """A client has had the logs of one contract; an emitter with earlier logs is followed then."""
    anvil, owner = coffers.anvil, coffers.owner
    first, second = anvil.accounts[5:7]
    for emitter in (first, second):  # CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 LOG0
        anvil.call("anvil_setCode", emitter, "0x365f5f37365fa000")
        anvil.send(owner, emitter, data="0x" + emitter[2:].zfill(64), gas=100_000)
    anvil.mine()
    with Indexing(database_url, anvil.url, until=anvil.head(), logs="none"):
        connection, followed = following(database_url)
        with connection, gunicorn(database_url) as server:
            inputs = [{"name": "who", "type": "address", "indexed": False}]
            entry = {"type": "event", "name": "Raw", "anonymous": True, "inputs": inputs}
            followed.add(address_of(second), "second", json.dumps([entry]))
            followed.make_views()
            fill(followed)
            number = anvil.head() - 1
            block = anvil.call("eth_getBlockByNumber", hex(number), False)
            start = f"{number}-{block['hash']}-0"
            with EventSource(server, types="logs", lastEventId=start) as source:
                [had] = source.take(1)
                followed.add(address_of(first), "first", "[]")
                fill(followed)
                [later] = source.take(1)
    assert [had.data["address"], later.data["address"]] == [second.lower(), first.lower()]
    assert ("event" in later.data, later.data["logIndex"]) == (False, 0)
    raw = {"name": "Raw", "signature": "Raw(address)", "args": {"who": second.lower()}}
    assert had.data["event"] == raw
