"""What no root covers of a block: unknown types, and fields that look like another chain's form."""

import json
import logging
from functools import partial

import pytest

from scan.ethereum import block_validation, client
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.indexer import block_source
from tests.support import faulty_node, mined_chain
from tests.support.anvil import Anvil
from tests.support.chain_forms import others

BLOCKS = 4
LISTS = ("eth_getBlockByNumber", "eth_getBlockReceipts")
source_of = partial(block_source.BlockSource, stores_bodies=True)


@pytest.fixture(scope="module")
def anvil(shared_anvil):
    for number in range(BLOCKS):
        shared_anvil.send(shared_anvil.accounts[0], shared_anvil.accounts[1], value=number + 1)
        shared_anvil.mine()
    return shared_anvil


class Altered:
    """A Fault: alters transactions and receipts of some blocks, the first so many times, of a node
    that is not known as one for tests."""

    def __init__(self, alter, blocks, times=1_000):
        self._alter, self._blocks, self._remaining = alter, {hex(n) for n in blocks}, times
        self.reads = []  # blocks, by number

    def __call__(self, calls, forward):
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            if call["method"] == "eth_getBlockByNumber":
                self.reads.append(call["params"][0])
            elif call["method"] == "web3_clientVersion":
                answer["result"] = "Geth/v1.16.7"
            result = answer.get("result")
            if call["method"] in LISTS and call["params"][0] in self._blocks and self._remaining:
                self._remaining -= isinstance(result, list)  # with its receipts a block is read
                self._alter(faulty_node.records_of(result))
        return faulty_node.Reply(body=answers)


def unknown_type(records):
    """With hashes that no known type gives."""
    for record in records:
        record["type"] = "0x50"
        for name in {"hash", "transactionHash"} & record.keys():
            record[name] = "0x5050" + record[name][6:]


def fee_for_l1(records):
    for record in records:
        if "cumulativeGasUsed" in record:
            record["l1Fee"] = "0x64"


@pytest.mark.parametrize("alter", [unknown_type, fee_for_l1])
def test_one_lie_about_what_no_root_covers_changes_nothing(anvil, node, alter):
    true = source_of(client.Node([anvil.url])).blocks(0, BLOCKS)
    node.fault = Altered(alter, {3}, times=1)
    assert source_of(client.Node([node.url])).blocks(0, BLOCKS) == true
    node.fault = Altered(alter, {3})
    assert source_of(client.Node([node.url, anvil.url])).blocks(0, BLOCKS) == true


def test_a_form_that_only_fields_show_is_said_of_each_block_of_unknown_chains(node, caplog):
    node.fault = fault = Altered(fee_for_l1, {2, 3, 4})
    with caplog.at_level(logging.WARNING):
        blocks = [fetched.block for fetched in source_of(client.Node([node.url])).blocks(0, BLOCKS)]
    words = "fields of Scroll"
    assert [block.unproven for block in blocks] == [None, None, *[words] * 3]
    assert caplog.messages == [f"block 2, and maybe later ones, are not proven: {words}"]
    assert [fault.reads.count(hex(number)) for number in (2, 3, 4)] == [3, 1, 1]


def test_a_node_that_gives_a_known_reason_does_not_keep_the_next_node_from_being_asked(anvil, node):
    true = source_of(client.Node([anvil.url])).blocks(0, BLOCKS)
    with faulty_node.FaultyNode(anvil.url) as other:
        node.fault = other.fault = Altered(fee_for_l1, {2})
        source = source_of(client.Node([node.url, other.url]))
        assert source.blocks(2, 2)[0].block.unproven == "fields of Scroll"
        node.fault, other.fault = Altered(fee_for_l1, {3, 4}), None
        assert source.blocks(3, BLOCKS) == true[3:]


def test_a_state_sync_is_none_on_ethereum():
    """Polygon's is in no root."""
    chain = others.polygon()
    answers = [json.loads(line) for line in chain.lines()]
    for number in chain.state_syncs.values():
        header, receipts = (
            read_json([a["result"] for a in answers if a["method"] == method][number], form, number)
            for method, form in zip(LISTS, (BlockJson, ReceiptsJson), strict=True)
        )
        contradictions = [
            block_validation.check_body(header, receipts, chain_id=chain_id).contradiction
            for chain_id in (chain.chain_id, 1)
        ]
        assert contradictions == ["", "transactions and transactionsRoot"]


def test_before_byzantium_a_block_is_unproven_where_a_transaction_used_all_its_gas():
    """Receipts have no status then, and what failed used all."""
    with Anvil(hardfork="homestead") as anvil, faulty_node.FaultyNode(anvil.url) as node:
        anvil.send(anvil.accounts[0], anvil.accounts[1], gas=50_000, gasPrice=10**10)
        anvil.mine()
        anvil.send(anvil.accounts[0], None, data="0xfe", gas=60_000, gasPrice=10**10)
        anvil.mine()
        node.fault = mined_chain.MinedChain(anvil, {}, head=2)
        blocks = source_of(client.Node([node.url]), traces="off").blocks(1, 2)
    assert [fetched.block.unproven for fetched in blocks] == [None, block_validation.STATUSES]
