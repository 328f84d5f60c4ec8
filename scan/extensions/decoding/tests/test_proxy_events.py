"""Events emitted through proxies: lists of logs decode them as /transactions/:hash does; and
proxies of proxies."""

from dataclasses import replace

from eth_utils import keccak

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
from tests.support import faulty_node, many_functions
from tests.support.explorer import behind

__all__ = ["work"]


def test_events_through_a_proxy_are_those_of_its_implementation_of_the_time(work):
    proxy = proxy_to(work, work.worker)
    first = work.send(proxy, WORK)
    other = many_functions.deploy(work.explorer, NEXT, "Next")  # not verified
    work.explorer.anvil.call("anvil_setStorageAt", proxy, SLOT, "0x" + other[2:].rjust(64, "0"))
    second = work.send(proxy, keccak(text=f"labour({STEPS},string)")[:4] + WORK[4:])
    records = events(work.explorer.client, proxy)
    logs = work.details(first)["logs"] + work.details(second)["logs"]
    assert records == [log["event"] for log in logs]
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


def test_where_the_node_has_only_present_implementations_it_is_said(work):
    sent = work.send(proxy_to(work, work.worker), WORK)
    with behind(replace(work.explorer.settings, traces="off")) as (client, node):
        node.fault = faulty_node.refuse(
            lambda call: call["method"] == "eth_getStorageAt" and call["params"][-1] != "latest",
            *(-32000, "missing trie node"),
        )
        _, details = work.get(sent, client)
        assert details["unavailable"] in client.get(f"/tx/{sent}").text
    assert "present implementations" in details["unavailable"]
    assert [log["event"]["name"] for log in details["logs"]] == ["Worked", "Quiet"]
