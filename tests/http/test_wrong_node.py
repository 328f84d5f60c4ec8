"""A service whose node is of another chain: it shows what is indexed, and nothing of that node."""

import pytest
import requests

from tests.support import WAIT_S
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn, wait_until

NONCE = "/api?module=proxy&action=eth_getTransactionCount&tag=latest&address="
UNSEEN = "0x" + "12" * 20


@pytest.fixture
def other():
    """A node of another chain."""
    with Anvil("--chain-id", "4242") as node:
        yield node


def problem(client):
    return str(client.get("/readyz").json["problem"] or "")


def test_a_node_that_changes_is_refused_by_requests(
    database_url, anvil, node, other, chain_always_checked
):
    anvil.mine(2)
    indexing = Indexing(database_url, anvil.url).run_until(2)
    client = indexing.client(rpc_urls=(node.url,), sends_transactions=True)
    sender = other.accounts[0]
    assert client.get(f"{NONCE}{sender}").json["result"] == "0x0"
    assert problem(client) == ""
    node.upstream = other.url
    other.receipt_of(other.send(sender, other.accounts[1]))
    for path in (f"{NONCE}{sender}", "/api?module=proxy&action=eth_sendRawTransaction&hex=0x02"):
        assert "another chain" in client.get(path).text
    for path in ("/api/v1/blocks/2", "/", f"/address/{UNSEEN}"):
        assert client.get(path).status_code == 200
    wait_until(lambda: "serves chain 4242" in problem(client))  # a response is kept for a second
    assert client.get("/readyz").status_code == 200
    node.upstream = anvil.url
    assert client.get(f"{NONCE}{sender}").json["result"] == "0x0"
    wait_until(lambda: problem(client) == "")


def test_a_wrong_node_is_reported_before_any_request_needs_it(database_url, anvil, other):
    anvil.mine(2)
    Indexing(database_url, anvil.url).run_until(2)
    with gunicorn(database_url, RPC_URL=other.url) as server:
        ready = f"{server}/readyz"
        wait_until(lambda: "4242" in (requests.get(ready, timeout=WAIT_S).json()["problem"] or ""))
        assert "another chain" in requests.get(f"{server}{NONCE}{UNSEEN}", timeout=WAIT_S).text
