"""Nodes that number logs, or name receipts, otherwise than their order, which the roots prove."""

import logging

from tests.commands.test_command import scan
from tests.support import faulty_node, table_digest
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing


@faulty_node.altering
def numbered_by_transaction(call, answer):
    """As EthereumJS numbers logs: anew in each transaction."""
    if call["method"] == "eth_getBlockReceipts":
        for receipt in answer["result"] or ():
            for index, log in enumerate(receipt["logs"]):
                log["logIndex"] = hex(index)


def test_logs_are_numbered_by_their_place(anvil, database_url, postgres, template, caplog):
    # Two transactions with two logs each in one block.
    first, second = anvil.accounts[:2]
    coin = anvil.deploy(first, "Coin", "C", "C", 18)
    anvil.transact(first, coin, "mint", first, 100)
    for _ in range(2):
        anvil.send(first, coin.address, data=coin.data("airdrop", [first, second], 7), gas=200_000)
    anvil.mine()
    caplog.set_level(logging.WARNING)
    with faulty_node.FaultyNode(anvil.url) as node:
        node.fault = numbered_by_transaction
        Indexing(database_url, node.url).run_until(anvil.head())
        found = scan("doctor", DATABASE_URL=database_url, RPC_URL=node.url)
    assert "another logIndex of logs than its order says" in found.stdout
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
        [sent] = node.call("eth_getBlockByNumber", "latest", True)["transactions"]
        assert sent["hash"] != named  # of its receipt
        client = Indexing(database_url, node.url).run_until(node.head()).client()
        assert client.get(f"/api/v1/transactions/{sent['hash']}").json["status"] is True
        found = scan("doctor", DATABASE_URL=database_url, RPC_URL=node.url)
        assert "another transactionHash of receipts than its order says" in found.stdout
