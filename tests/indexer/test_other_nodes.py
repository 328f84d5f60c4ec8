"""Chains of Hardhat's node and Ganache, indexed as anvil's are: beside their truth."""

import pytest
import rlp
from eth_utils import keccak

from tests.support import database, table_digest
from tests.support.anvil import Anvil
from tests.support.auditing import EXACT, run
from tests.support.indexing import Indexing, status
from tests.support.other_nodes import Ganache, Hardhat
from tests.support.scenario.stage import STRANGERS
from tests.support.truth import read_truth

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
STATE_READ_BY = {Hardhat: "blockHash", Ganache: "blockNumber"}


@pytest.fixture(scope="module", params=STATE_READ_BY, ids=lambda kind: kind.__name__)
def node(request):
    with request.param() as running:
        yield running


def everything(client, entity):
    records = []
    while True:
        query = {"entity": entity, "limit": 100, "offset": len(records)}
        body = client.post("/api/v1/query", json=query).get_json()
        assert "data" in body, body
        records += body["data"]
        if len(body["data"]) < 100:
            return records


def test_the_index_is_the_nodes(node, postgres, template):
    coin, kitties, maker = (node.deploy(name) for name in ("NulName", "Kitties", "Maker"))
    purse, failing = node.deploy("Purse"), node.deploy("Failing")
    me = node.accounts[0]
    node.transact(0, coin, "mint", me, 1_000)
    node.transact(0, coin, "transfer", STRANGERS[0], 300)
    node.transact(0, kitties, "mint", me, 7)
    node.transact(0, kitties, "transfer", STRANGERS[1], 7)
    node.send(me, STRANGERS[2], value=5)
    node.transact(0, purse, "pay", STRANGERS[3], 3, value=3)
    node.transact(0, purse, "payAroundRevert", STRANGERS[3], 2, value=100)
    node.transact(0, failing, "withReason")
    vaults = []  # which only a trace shows; the third one is made in vain
    for function, value in (("makeNest", 0), ("makeFunded", 9), ("makeInVain", 0)):
        before = node.call("eth_getTransactionCount", maker.address, "latest")
        receipt = node.transact(0, maker, function, value=value, gas=1_000_000)
        assert receipt["status"] == "0x1" and receipt["logs"] == []
        creation = rlp.encode([bytes.fromhex(maker.address[2:]), int(before, 16)])
        vaults.append("0x" + keccak(creation)[12:].hex())
    with postgres.cloned(template) as url, Indexing(url, node.url) as indexing:
        truth = read_truth(node, traces=False)
        head = truth.stats["latestBlock"]
        indexing.wait_for(head)
        client = indexing.client()
        assert status(url)["stateReadBy"] == STATE_READ_BY[type(node)]
        for entity in ("blocks", "transactions", "token_transfers"):
            expected = [
                {k: v for k, v in record.items() if k not in ("unproven", "tracesProven")}
                for record in getattr(truth, entity)
            ]
            records = everything(client, entity)
            records = [r for r in records if r.get("number", r.get("blockNumber")) <= head]
            pairs = zip(records, expected, strict=True)
            assert [{name: r[name] for name in e} for r, e in pairs] == expected
        blocks = everything(client, "blocks")
        named = {r["number"] for r in blocks if r["unproven"]}
        # Hardhat's first block has a transactionsRoot that is not that of no transactions.
        proven = {r["number"] for r in blocks if not (r["txCount"] or r["unproven"])}
        assert {r["number"] for r in blocks if r["tracesProven"]} == proven
        reasons = database.execute(url, "SELECT number FROM blocks WHERE unproven IS NOT NULL")
        assert named == {number for (number,) in reasons}
        tokens = client.get("/api/v1/tokens?limit=100").get_json()["tokens"]
        pairs = zip(tokens, truth.tokens, strict=True)
        assert [{name: r[name] for name in e} for r, e in pairs] == truth.tokens
        for address, expected in truth.addresses.items():
            answer = client.get(f"/api/v1/addresses/{address}").get_json()
            for key in ("balance", "txCount", "isContract", "firstSeen"):
                assert answer[key] == expected[key], (address, key)
        for vault in vaults[:2]:
            assert client.get(f"/api/v1/addresses/{vault}").get_json()["firstSeen"]
            internal = client.get(f"/api/v1/addresses/{vault}/internal").get_json()
            assert internal["internalTransfers"][-1]["type"] == "create"
        assert run(indexing.settings) == EXACT


def test_blocks_that_hardhat_mines_at_once_are_indexed(postgres, template):
    """Most of them have neither their parent's hash nor the root of no transactions."""
    with Hardhat() as node, postgres.cloned(template) as url, Indexing(url, node.url) as indexing:
        snapshot = node.call("evm_snapshot")
        node.call("hardhat_mine", "0x32")
        indexing.wait_for(50)
        parents = [block["parentHash"] for block in everything(indexing.client(), "blocks")]
        assert int(node.call("eth_getBlockByNumber", "0x1e", False)["parentHash"], 16) == 0
        hashes = [node.call("eth_getBlockByNumber", hex(n), False)["hash"] for n in range(50)]
        assert parents == [*hashes[::-1], "0x" + 64 * "0"]
        node.call("evm_revert", snapshot)
        node.send(node.accounts[0], STRANGERS[0], value=1)
        node.call("hardhat_mine", "0x28", "0x3c")
        indexing.wait_for(41)
        assert table_digest.digest(url) == table_digest.fresh_digest(postgres, template, node)
        assert run(indexing.settings) == EXACT


def test_a_fork_of_hardhat_begins_after_its_block(database_url):
    forked_at = 250
    with Anvil("--chain-id", "4242") as forked:
        forked.call("anvil_mine", hex(300), hex(12))
        forking = {"url": forked.url, "blockNumber": forked_at}
        with Hardhat(forking) as node, Indexing(database_url, node.url) as indexing:
            me = node.accounts[0]
            hash_ = node.send(me, STRANGERS[0], value=7)
            indexing.wait_for(forked_at + 1)
            client = indexing.client(development_node="auto")
            numbers = database.execute(database_url, "SELECT number FROM blocks")
            assert numbers == [(forked_at + 1,)]
            record = client.get(f"/api/v1/transactions/{hash_['transactionHash']}").json
            assert (record["value"], record["status"]) == ("7", 1)
            status = client.get("/readyz").json
            assert (status["firstBlock"], status["forkBlock"]) == (forked_at + 1, forked_at)
