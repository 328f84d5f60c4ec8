"""Polygon's state syncs: transactions that no root covers, as bor's nodes return them.

A proxy before anvil adds them to its blocks, by core/types/bor_receipt.go and internal/ethapi of
bor.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import create_app
from scan.ethereum.block_hashing import contradicting_fields
from scan.ethereum.client import Node
from scan.ethereum.keccak import keccak256
from scan.indexer.block_source import BlockSource
from tests.audit import auditing
from tests.bulk.backfilling import backfill
from tests.support.anvil import Anvil
from tests.support.database import Postgres
from tests.support.faulty_node import Calls, FaultyNode, Forward, Reply
from tests.support.indexing import Indexing, settings_for
from tests.support.table_digest import digest

NOBODY = "0x" + "00" * 20
STATE_RECEIVER = f"0x{0x1001:040x}"
STATE_COMMITTED = "0x" + keccak256(b"StateCommitted(uint256,bool)").hex()
SYNCED = (3, 4)  # blocks: one with transactions, one with the state sync alone


class Bor:
    """A Fault: the chain of a node, with state syncs."""

    def __init__(self, node: Anvil, *, in_block_receipts: bool) -> None:
        self._in_block_receipts = in_block_receipts
        self.hashes: dict[str, int] = {}
        for number in SYNCED:
            block = node.call("eth_getBlockByNumber", hex(number), False)
            key = b"matic-bor-receipt-" + number.to_bytes(8) + bytes.fromhex(block["hash"][2:])
            self.hashes["0x" + keccak256(key).hex()] = number
        self._node = node

    def links(self, hash_: str) -> dict[str, Any]:
        number = hex(self.hashes[hash_])
        block = self._node.call("eth_getBlockByNumber", number, False)
        index = hex(len(block["transactions"]))
        return {"blockHash": block["hash"], "blockNumber": number, "transactionIndex": index}

    def transaction(self, hash_: str) -> dict[str, Any]:
        zeros = dict.fromkeys(("value", "gas", "gasPrice", "nonce", "type", "v", "r", "s"), "0x0")
        parties = {"from": NOBODY, "to": NOBODY, "input": "0x", "hash": hash_}
        return self.links(hash_) | zeros | parties

    def receipt(self, hash_: str) -> dict[str, Any]:
        links = self.links(hash_) | {"transactionHash": hash_}
        others = self._node.call("eth_getBlockReceipts", links["blockNumber"])
        index = hex(sum(len(receipt["logs"]) for receipt in others))
        log = {"address": STATE_RECEIVER, "topics": [STATE_COMMITTED, f"0x{7:064x}"]}
        log |= {"data": f"0x{1:064x}", "logIndex": index, "removed": False}
        zeros = dict.fromkeys(("gasUsed", "cumulativeGasUsed", "effectiveGasPrice", "type"), "0x0")
        parties = {"from": NOBODY, "to": NOBODY, "contractAddress": None, "status": "0x1"}
        return links | zeros | parties | {"logs": [links | log], "logsBloom": "0x" + "00" * 256}

    def __call__(self, calls: Calls, forward: Forward) -> Reply:
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            result, own = answer.get("result"), call["params"][:1]
            if call["method"] == "eth_getTransactionReceipt" and own[0] in self.hashes:
                answer["result"] = self.receipt(own[0])
            if call["method"] == "eth_getTransactionByHash" and own[0] in self.hashes:
                answer["result"] = self.transaction(own[0])
            for hash_, number in self.hashes.items():
                if own != [hex(number)]:
                    continue
                if call["method"] == "eth_getBlockByNumber":
                    is_whole = call["params"][1]
                    result["transactions"].append(self.transaction(hash_) if is_whole else hash_)
                if call["method"] == "eth_getBlockReceipts" and self._in_block_receipts:
                    result.append(self.receipt(hash_))
        return Reply(body=answers)


@pytest.fixture(scope="module")
def chain() -> Iterator[Anvil]:
    with Anvil() as node:
        purse = node.deploy(node.accounts[0], "Purse")
        for number in range(node.head() + 1, 6):
            if number != SYNCED[1]:
                node.send(node.accounts[0], purse.address, value=number)
                node.send(node.accounts[1], node.accounts[2], value=number)
            node.mine()
        yield node


@pytest.mark.parametrize("in_block_receipts", [True, False], ids=["listed", "apart"])
def test_a_state_sync_is_indexed_and_in_no_root(
    chain: Anvil,
    postgres: Postgres,
    template: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    in_block_receipts: bool,
) -> None:
    with FaultyNode(chain.url) as node, postgres.cloned(template) as url:
        node.fault = bor = Bor(chain, in_block_receipts=in_block_receipts)
        with caplog.at_level(logging.WARNING):
            settings = Indexing(url, node.url).run_until(chain.head()).settings
        assert not [r.getMessage() for r in caplog.records if "match" in r.getMessage()]
        client = create_app(settings).test_client()
        for hash_, number in bor.hashes.items():
            record = client.get(f"/api/v1/transactions/{hash_}").json
            assert (record["blockNumber"], record["status"], record["fee"]) == (number, True, "0")
            assert (record["fromAddress"], record["toAddress"]) == (NOBODY, NOBODY)
            assert [log["address"] for log in record["logs"]] == [STATE_RECEIVER]
        [(block, receipts)] = BlockSource(Node([node.url])).raw_blocks(3, 3)
        assert contradicting_fields(block, receipts) == ""
        block.transactions[0].value = "0x77"
        assert contradicting_fields(block, receipts) == "transactions and transactionsRoot"
        blocks = client.get("/api/v1/blocks").json["blocks"]
        assert {b["number"] for b in blocks} == set(range(chain.head() + 1))
        assert auditing.run(settings, node=True) == 0
        with postgres.cloned(template) as bulk:
            assert backfill(settings_for(bulk, node.url), tmp_path / "files", last_block=5)
            assert digest(bulk) == digest(url)
