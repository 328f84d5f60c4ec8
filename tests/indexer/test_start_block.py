"""SCAN_START_BLOCK: where the index begins, which everything says, and what is older than it."""

from tests.support.database import execute, insert
from tests.support.indexing import Indexing
from tests.support.older_chain import older
from tests.support.scan_command import scan
from tests.support.serving import NOWHERE, free_port

__all__ = ["older"]


def test_it_may_change_while_there_are_no_blocks(anvil, database_url):
    anvil.mine(6)
    genesis = anvil.call("eth_getBlockByNumber", "0x0", False)["hash"]
    row = {"chain_id": 31337, "genesis_hash": bytes.fromhex(genesis[2:]), "start_block": 3}
    insert(database_url, "chain", **row)
    client = Indexing(database_url, anvil.url, start_block=5).run_until(anvil.head()).client()
    assert execute(database_url, "SELECT min(number) FROM blocks") == [(5,)]
    assert client.get("/api/v1/stats").json["firstBlock"] == 5
    assert client.get("/readyz").json["firstBlock"] == 5


def test_a_change_after_the_first_block_stops_the_start(anvil, database_url):
    anvil.mine(6)
    Indexing(database_url, anvil.url, start_block=5).run_until(anvil.head())
    for command in ("index", "run"):
        done = scan(
            command,
            DATABASE_URL=database_url,
            RPC_URL=anvil.url,
            SCAN_START_BLOCK="2",
            PORT=str(free_port()),
        )
        assert done.returncode != 0
        assert "SCAN_START_BLOCK='2': this database is indexed from block 5 on" in done.stderr
    anvil.mine()
    Indexing(database_url, anvil.url).run_until(anvil.head())  # without it, as it was begun


def test_blocks_before_it_are_said_to_be_older(older):
    client = older.indexing.client()
    for path in ("/api/v1/blocks/2", "/api/v1/blocks/2/transactions", "/block/2"):
        answer = client.get(path)
        assert answer.status_code == 404 and "The index begins at block 5." in answer.text
        later = client.get(path.replace("2", "99"))
        assert later.status_code == 404 and "The index begins" not in later.text
    assert "Index begins at block 5" in client.get("/blocks").text


def test_balances_of_an_older_token_are_the_tokens_own(older):
    client, token, four = older.indexing.client(), older.token, older.accounts[3]
    record = client.get(f"/api/v1/tokens/{token}").json
    assert (record["balancesSince"], record["eventsConsistent"]) == (5, True)
    listed = {t["address"]: t["balancesSince"] for t in client.get("/api/v1/tokens").json["tokens"]}
    assert listed[token] == 5
    holders = client.get(f"/api/v1/tokens/{token}/holders").json["holders"]
    balances = [(holder["address"], holder["balance"]) for holder in holders]
    assert balances == [(older.accounts[5], "99"), (four, "120")]
    [holding] = client.get(f"/api/v1/addresses/{four}/tokens").json["tokens"]
    assert holding["balance"] == "120" and "balancesSince" not in holding
    assert "may be older than the index" in client.get(f"/token/{token}?tab=holders").text


def test_balances_that_cannot_be_read_say_since_when_they_count(older):
    client, four = older.indexing.client(rpc_urls=(NOWHERE,)), older.accounts[3]
    holders = client.get(f"/api/v1/tokens/{older.token}/holders").json["holders"]
    assert [(h["balance"], h["balancesSince"]) for h in holders] == [("99", 5), ("20", 5)]
    for path in (f"/token/{older.token}?tab=holders", f"/address/{four}?tab=tokens"):
        assert 'since block <a href="/block/5">5</a>' in client.get(path).text


def test_balances_of_older_items_say_since_when_they_count(older):
    client, two = older.indexing.client(), older.accounts[1]
    [holding] = client.get(f"/api/v1/addresses/{two}/items").json["items"]
    assert (holding["balance"], holding["balancesSince"]) == ("30", 5)
    [owner] = client.get(f"/api/v1/tokens/{older.items}/items/7").json["owners"]
    assert owner == {"address": two, "balance": "30", "balancesSince": 5}
    for path in (f"/address/{two}?tab=items", f"/nft/{older.items}/7"):
        assert 'since block <a href="/block/5">5</a>' in client.get(path).text
