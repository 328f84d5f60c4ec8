"""Events emitted through proxies: lists of logs decode them as /transactions/:hash does; and
proxies of proxies."""

from dataclasses import replace
from pathlib import Path

import pytest
from eth_abi import encode
from eth_utils import keccak

from app import create_app
from scan.contracts.known_proxies import IMPLEMENTATION_SLOT
from scan.extensions.decoding.tests.work import (
    NEXT,
    SLOT,
    STEPS,
    WORK,
    events,
    no_storage,
    proxy_to,
    work,
)
from tests.support import authorizations, faulty_node, many_functions
from tests.support.anvil import calldata
from tests.support.explorer import behind
from tests.support.proxies import EIP1167

__all__ = ["work"]


def of_transaction(work, transaction):
    return [log["event"] for log in work.details(transaction)["logs"]]


def test_events_through_a_proxy_are_those_of_its_implementation_of_the_time(work):
    proxy = proxy_to(work, work.worker)
    first = work.send(proxy, WORK)
    other = many_functions.deploy(work.explorer, NEXT, "Next")  # not verified
    work.explorer.anvil.call("anvil_setStorageAt", proxy, SLOT, "0x" + other[2:].rjust(64, "0"))
    second = work.send(proxy, keccak(text=f"labour({STEPS},string)")[:4] + WORK[4:])
    records = events(work.explorer.client, proxy)
    assert records == of_transaction(work, first) + of_transaction(work, second)
    assert [event and event["name"] for event in records] == ["Worked", "Quiet", None, None]
    assert {event["source"] for event in records if event} == {"verified"}


def test_while_the_node_does_not_say_the_implementation_events_are_null_and_not_cached(work):
    proxy = proxy_to(work, work.worker)
    work.send(proxy, WORK)

    with behind(work.explorer.settings) as (client, node):
        node.fault = no_storage
        assert events(client, proxy) == [None, None]
        node.fault = None
        assert [event["name"] for event in events(client, proxy)] == ["Worked", "Quiet"]
        node.fault = no_storage  # what was read stays true of its block
        assert [event["name"] for event in events(client, proxy)] == ["Worked", "Quiet"]


def is_old_state(call):
    return call["method"] == "eth_getStorageAt" and call["params"][-1] != "latest"


def test_where_the_node_has_only_present_implementations_it_is_said(work):
    sent = work.send(proxy_to(work, work.worker), WORK)
    with behind(replace(work.explorer.settings, traces="off")) as (client, node):
        node.fault = faulty_node.refuse(is_old_state, -32000, "missing trie node")
        _, details = work.get(sent, client)
        assert details["unavailable"] in client.get(f"/tx/{sent}").text
    assert "present implementations" in details["unavailable"]
    assert [log["event"]["name"] for log in details["logs"]] == ["Worked", "Quiet"]


IMPLEMENTATIONS = Path(__file__).with_name("Implementations.sol").read_text()


def test_an_upgrade_leaves_what_its_block_and_older_state_said(work):
    """In its block either implementation may have run: the trace says which, and without one an
    event is all that it may be."""
    explorer, anvil = work.explorer, work.explorer.anvil
    older, newer = (
        many_functions.verified(explorer, IMPLEMENTATIONS, name) for name in ("Older", "Newer")
    )
    me = anvil.accounts[0]
    proxy = anvil.deploy(me, "Replaceable", older)
    before = anvil.head()
    sent = anvil.send(me, proxy.address, data=calldata("act(uint256)", 5))
    anvil.transact(me, proxy, "replace", newer)
    anvil.mine()
    explorer.wait_for_block(anvil.head())
    [event] = of_transaction(work, sent)
    assert [argument["value"] for argument in event["arguments"]] == [me.lower(), "5"]
    untraced = create_app(replace(explorer.settings, traces="off")).test_client()
    [log] = untraced.get(f"/api/v1/transactions/{sent}").json["logs"]
    readings = [[argument["value"] for argument in one] for one in log["event"]["alternatives"]]
    assert len(readings) == 2 and [me.lower(), "5"] in readings
    path, body = f"/api/v1/contracts/{proxy.address}/call", {"functionName": "price"}
    for block, result, implementation in ((before, "-5", older), ("latest", "5", newer)):
        called = explorer.client.post(f"{path}?block={block}", json=body).json
        assert called["unproven"] == ["result", "implementation"]
        assert (called["result"], called["implementation"]) == (result, implementation)


@pytest.fixture(scope="module")
def proxy(explorer):
    """With nothing behind it in its own storage."""
    arguments = encode(["address", "bytes32"], [authorizations.IDLE, bytes(32)]).hex()
    return many_functions.deploy(explorer, many_functions.PROXY, "Proxy", arguments)


def clone_of(explorer, proxy):
    return explorer.place(EIP1167.format(explorer.place(EIP1167.format(proxy[2:]))[2:]))


def account_with(explorer, proxy):
    account, anvil = authorizations.new_account(1967), explorer.anvil
    signed = authorizations.authorize(account, proxy, authorizations.nonce_of(anvil, account))
    anvil.receipt_of(authorizations.send(anvil, [signed]))
    return account.address.lower()


@pytest.mark.parametrize("made", [clone_of, account_with])
def test_the_implementation_is_that_of_the_storage_that_the_code_reads(explorer, many, proxy, made):
    at = made(explorer, proxy)
    word = f"0x{many[2:]:0>64}"
    explorer.anvil.call("anvil_setStorageAt", at, IMPLEMENTATION_SLOT, word)
    sent = explorer.send(at, calldata("nothing()"))
    method = explorer.client.get(f"/api/v1/transactions/{sent}").json["method"]
    assert (method["signature"], method["source"]) == ("nothing()", "verified")
    answer = explorer.call(at, "over(uint256)", 5).json
    unproven = ["result", "implementation"]
    named = {"implementation": many, "evidence": "claim"}
    assert answer == {"result": "number", **named, "unproven": unproven}
    values = explorer.client.get(f"/api/v1/contracts/{at}/values").json
    assert values["implementation"] == many and values["values"], values
