"""The coin of a chain that no list has: it has no name, and no token imitates it."""

import json

import pytest

from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scan_command import scan

pytestmark = pytest.mark.thorough


@pytest.fixture
def anvil():
    with Anvil("--chain-id", "4242424242") as node:
        yield node


def test_it_has_no_unit_and_no_namesake(anvil, database_url):
    one, two, three = anvil.accounts[:3]
    coin = anvil.deploy(one, "Named", "ETH")
    for holder in anvil.accounts[:5]:
        anvil.receipt_of(anvil.transact(one, coin, "mint", holder, 10))
    moved = anvil.transact(three, coin, "transferFrom", one, two, 1)
    sent = anvil.send(one, two, value=10**18)
    anvil.mine()
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        record = client.get(f"/api/v1/transactions/{sent}").json
        assert record["summary"]["text"].startswith("Sent 1 coin to ")
        [transfer, *_] = client.get(f"/api/v1/tokens/{coin.address}/transfers").json["transfers"]
        assert (transfer["transactionHash"], transfer["suspicious"]) == (moved, None)
        assert client.get(f"/api/v1/tokens/{coin.address}").json["namesake"] is None
        for path in (f"/tx/{sent}", f"/address/{two}", "/", f"/token/{coin.address}"):
            page = client.get(path).text
            assert "same symbol as the coin" not in page
        assert "ETH" not in client.get(f"/tx/{sent}").text
        assert "SCAN_COIN_SYMBOL" in client.get("/status").text
        named = indexing.client(coin_symbol="ETH")
        assert named.get(f"/api/v1/tokens/{coin.address}").json["namesake"]["symbol"] == "ETH"
        assert "SCAN_COIN_SYMBOL" not in named.get("/status").text
    done = scan("doctor", "--json", DATABASE_URL=database_url, RPC_URL=anvil.url)
    warnings = [f for f in json.loads(done.stdout) if "no known one" in f["text"]]
    assert ["SCAN_COIN_SYMBOL" in finding["advice"] for finding in warnings] == [True]


def test_a_contract_that_pays_as_tokens_move_is_none(anvil, database_url):
    one, two = anvil.accounts[:2]
    payments = anvil.deploy(one, "Payments")
    paid = anvil.transact(one, payments, "pay", two, value=10**18)
    anvil.mine()
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        record = client.get(f"/api/v1/transactions/{paid}").json
        assert "tokens" not in record["summary"]["text"]
        listed = client.get("/api/v1/tokens").json
        asked = client.post("/api/v1/query", json={"entity": "tokens"}).json
        searched = client.get(f"/api/v1/search?q={payments.address}").json["results"]
        assert (listed["total"], asked["count"]) == (0, 0)
        assert [result["type"] for result in searched] == ["address"]
        assert client.get("/api/v2/tokens").json["items"] == []
        assert client.get("/api/v1/stats").json["totalTokens"] == 0
