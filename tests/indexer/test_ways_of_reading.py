"""However a chain is read, its tables are the same: from nodes that offer less, refuse or alter
answers, in batches and transactions of any size, by one process or two."""

import logging
from collections import namedtuple

import pytest

from scan.indexer.prefetch import CATCH_UP
from tests.support import faulty_node, indexing, table_digest
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scan_command import scan

PROCESS = {"process_blocks": 1}  # a second one, also for few blocks
TOGETHER = {"commit_share": 1}  # batches in one transaction
FORGETFUL = {"indexer.contract_inspection.MAX_CONTRACTS": 0}  # unless the database has it


def batches(blocks, **limits):
    return indexing.batches_of(blocks, fetch_blocks=blocks, **limits)


# No receipts by block, no debug traces, no state by hash, and small batches.
UNKNOWN_METHODS = ("eth_getBlockReceipts", "debug_traceBlockByHash")
offers_less = faulty_node.before(
    faulty_node.limit_batch(50, faulty_node.batch_error),
    faulty_node.before(
        faulty_node.refuse_block_hashes,
        faulty_node.refuse(lambda call: call["method"] in UNKNOWN_METHODS),
    ),
)


# `limits` of the catch-up; `fault` of the node; `bounds` of modules of scan; `rate`: of requests
# that meet a passing fault.
Way = namedtuple("Way", "limits fault bounds rate", defaults=(CATCH_UP, None, {}, 0.0))
QUICK = {"flat traces": Way(fault=faulty_node.refuse_method("debug_traceBlockByHash"))}
LONG = {
    "batches together": Way(batches(2, **TOGETHER), bounds=FORGETFUL),
    "few transfers at a time": Way(bounds={"extensions.traces.block_traces.MAX_TRANSFERS": 0}),
    "block by block": Way(batches(1)),
    "a node that offers less": Way(fault=offers_less),
    "two processes": Way(CATCH_UP._replace(**PROCESS)),
    "two processes and passing faults": Way(batches(5, **PROCESS), rate=0.1),
}


@pytest.mark.parametrize(
    "way",
    [*QUICK.values(), *(pytest.param(way, marks=pytest.mark.long) for way in LONG.values())],
    ids=[*QUICK, *LONG],
)
@pytest.mark.usefixtures("short_pauses")
def test_tables_are_the_same(scenario, indexed, database_url, monkeypatch, way):
    for name, value in way.bounds.items():
        monkeypatch.setattr(f"scan.{name}", value)
    with faulty_node.FaultyNode(scenario.anvil.url, way.fault, seed=3, rate=way.rate) as node:
        Indexing(database_url, node.url, limits=way.limits).run_until(scenario.anvil.head())
    assert table_digest.digest(database_url) == table_digest.digest(indexed.url)


def test_logs_are_numbered_by_their_place(anvil, node, database_url, postgres, template, caplog):
    @faulty_node.altering
    def number_by_transaction(call, answer):
        """As EthereumJS numbers logs: anew in each transaction."""
        if call["method"] == "eth_getBlockReceipts":
            for receipt in answer["result"] or ():
                for index, log in enumerate(receipt["logs"]):
                    log["logIndex"] = hex(index)

    # Two transactions with two logs each in one block.
    first, second = anvil.accounts[:2]
    coin = anvil.deploy(first, "Coin", "C", "C", 18)
    anvil.transact(first, coin, "mint", first, 100)
    for _ in range(2):
        anvil.send(first, coin.address, data=coin.data("airdrop", [first, second], 7), gas=200_000)
    anvil.mine()
    caplog.set_level(logging.WARNING)
    node.fault = number_by_transaction
    Indexing(database_url, node.url).run_until(anvil.head())
    result = scan("doctor", DATABASE_URL=database_url, RPC_URL=node.url)
    assert "another logIndex of logs than its order says" in result.stdout
    assert "have another logIndex of logs than their roots prove" in caplog.text
    assert table_digest.digest(database_url) == table_digest.fresh_digest(postgres, template, anvil)


def test_a_deposit_in_anothers_name_has_the_hash_that_its_block_proves(database_url):
    with Anvil("--network", "optimism", hardfork="isthmus") as node:
        sender = "0x" + "de" * 20
        node.impersonate(sender)
        deposit = {"type": "0x7e", "sourceHash": f"0x{1:064x}", "mint": "0x5", "isSystemTx": False}
        fields = {"from": sender, "to": node.accounts[1], "gas": "0x30000", **deposit}
        named = node.call("eth_sendTransaction", fields)
        node.mine()
        [transaction] = node.call("eth_getBlockByNumber", "latest", True)["transactions"]
        assert transaction["hash"] != named  # of its receipt
        client = Indexing(database_url, node.url).run_until(node.head()).client()
        assert client.get(f"/api/v1/transactions/{transaction['hash']}").json["status"] is True
        result = scan("doctor", DATABASE_URL=database_url, RPC_URL=node.url)
        assert "another transactionHash of receipts than its order says" in result.stdout
