"""A service whose node is of another chain: it shows what is indexed, and nothing of that node."""

from collections import namedtuple

import pytest
import requests

from tests.support import WAIT_S
from tests.support.anvil import Anvil
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn, wait_until

NONCE = "/api?module=proxy&action=eth_getTransactionCount&tag=latest&address="
UNSEEN = "0x" + "12" * 20
Served = namedtuple("Served", "url client proxy right wrong")


@pytest.fixture
def served(database_url, chain_always_checked):
    """A node behind a proxy, which leads to another one where a test says so."""
    with Anvil() as right, Anvil("--chain-id", "4242") as wrong, FaultyNode(right.url) as proxy:
        right.mine(2)
        with Indexing(database_url, right.url, until=2) as indexing:
            pass
        client = indexing.client(rpc_urls=(proxy.url,), sends_transactions=True)
        yield Served(database_url, client, proxy, right, wrong)


def problem(client):
    return str(client.get("/readyz").json["problem"] or "")


def test_a_node_that_changes_is_refused_by_requests(served):
    client, sender = served.client, served.wrong.accounts[0]
    assert client.get(f"{NONCE}{sender}").json["result"] == "0x0"
    assert problem(client) == ""
    served.proxy.upstream = served.wrong.url
    served.wrong.receipt_of(served.wrong.send(sender, served.wrong.accounts[1]))
    for path in (f"{NONCE}{sender}", "/api?module=proxy&action=eth_sendRawTransaction&hex=0x02"):
        assert "another chain" in client.get(path).text
    for path in ("/api/v1/blocks/2", "/", f"/address/{UNSEEN}"):
        assert client.get(path).status_code == 200
    wait_until(lambda: "serves chain 4242" in problem(client))  # a response is kept for a second
    assert client.get("/readyz").status_code == 200
    served.proxy.upstream = served.right.url
    assert client.get(f"{NONCE}{sender}").json["result"] == "0x0"
    wait_until(lambda: problem(client) == "")


def test_a_wrong_node_is_reported_before_any_request_needs_it(served):
    with gunicorn(served.url, RPC_URL=served.wrong.url) as server:
        ready = f"{server}/readyz"
        wait_until(lambda: "4242" in (requests.get(ready, timeout=WAIT_S).json()["problem"] or ""))
        assert "another chain" in requests.get(f"{server}{NONCE}{UNSEEN}", timeout=WAIT_S).text
