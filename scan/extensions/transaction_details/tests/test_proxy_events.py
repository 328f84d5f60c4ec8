"""Events emitted through proxies: lists of logs decode them as /transactions/:hash does."""

from eth_utils import keccak

from scan.extensions.transaction_details.tests.test_transaction_contents import (
    NEXT,
    SLOT,
    STEPS,
    WORK,
    no_storage,
    proxy_to,
    work,
)
from tests.support import many_functions
from tests.support.explorer import behind

__all__ = ["work"]


def events(client, emitter):
    """Oldest first, by the list and by the query, which have to agree."""
    found = client.get(f"/api/v1/logs?address={emitter}").json["logs"]
    body = {"entity": "logs", "filter": {"address": emitter}}
    asked = client.post("/api/v1/query", json=body).json["data"]
    assert [log["event"] for log in asked] == [log["event"] for log in found]
    return [log["event"] for log in reversed(found)]


def of_transaction(work, transaction):
    return [log["event"] for log in work.details(transaction)["logs"]]


def test_events_through_a_proxy_are_those_of_its_implementation_of_the_time(work):
    proxy = proxy_to(work, work.worker)
    first = work.send(proxy, WORK)
    other = many_functions.deploy(work.explorer, NEXT, "Next")  # not verified
    work.explorer.anvil.call("anvil_setStorageAt", proxy, SLOT, "0x" + other[2:].rjust(64, "0"))
    second = work.send(proxy, keccak(text=f"labour({STEPS},string)")[:4] + WORK[4:])
    found = events(work.explorer.client, proxy)
    assert found == of_transaction(work, first) + of_transaction(work, second)
    assert [event and event["name"] for event in found] == ["Worked", "Quiet", None, None]
    assert {event["source"] for event in found if event} == {"verified"}


def test_while_the_node_does_not_say_the_implementation_events_are_null_and_not_cached(work):
    proxy = proxy_to(work, work.worker)
    work.send(proxy, WORK)

    with behind(work.explorer.settings) as (client, node):
        node.fault = no_storage
        assert events(client, proxy) == [None, None]
        node.fault = None
        assert [event["name"] for event in events(client, proxy)] == ["Worked", "Quiet"]
        requests = node.requests
        node.fault = no_storage  # what was read stays true of its block
        assert [event["name"] for event in events(client, proxy)] == ["Worked", "Quiet"]
        assert work.explorer.settings.logs != "all" or node.requests == requests
