"""Blocks whose answers are larger than is read at once: checked as others are, or refused."""

import json
from functools import partial

import pytest

from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import MAX_ANSWER_BYTES, Node, NodeError
from scan.indexer import block_source, node_reader
from tests.support import faulty_node

pytestmark = pytest.mark.thorough

NUMBER = 3
source_of = partial(block_source.BlockSource, stores_bodies=True)
LARGER = MAX_ANSWER_BYTES + 2**20


@pytest.fixture(scope="module")
def anvil(shared_anvil):
    me, you, *_ = shared_anvil.accounts
    coin = shared_anvil.deploy(me, "Coin", "Coin", "COIN", 18)
    shared_anvil.mine()
    while shared_anvil.head() < 5:
        shared_anvil.send(me, you, value=7)
        shared_anvil.transact(me, coin, "mint", you, 10**18)
        shared_anvil.mine()
    return shared_anvil


def padded(alter, size=LARGER):
    """Answers with a block, or a block's receipts, have as many spaces at their end."""

    def reply(calls, forward):
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            if is_of_the_block(answer.get("result")):
                alter(call["method"], answer["result"])
        large = ("eth_getBlockByNumber", "eth_getBlockReceipts")
        is_large = any(c["method"] in large and c["params"][0] == hex(NUMBER) for c in calls)
        return faulty_node.Reply(raw=json.dumps(answers).encode() + b" " * (size * is_large))

    return reply


def is_of_the_block(result):
    record = result[0] if isinstance(result, list) and result else result
    if not isinstance(record, dict):
        return False
    return hex(NUMBER) in (record.get("number"), record.get("blockNumber"))


def value(method, result):
    if method == "eth_getBlockByNumber" and isinstance(result["transactions"][0], dict):
        result["transactions"][0]["value"] = "0x9"


def log_index(method, result):
    receipts = result if isinstance(result, list) else [result]
    for log in (log for receipt in receipts for log in receipt.get("logs", ())):
        log["logIndex"] = hex(int(log["logIndex"], 16) + 5)


def test_spaces_around_a_block_leave_it_proven(anvil, node):
    true = source_of(Node([anvil.url])).blocks(0, 5)
    node.fault = padded(lambda _, __: None)
    source = source_of(Node([node.url]))
    assert [block for n in range(6) for block in source.blocks(n, n)] == true
    assert [fetched.block.unproven for fetched in true] == [None] * 6


ALTERATIONS = {value: "transactions and transactionsRoot", log_index: "logIndex of logs"}


@pytest.mark.parametrize("alter", ALTERATIONS, ids=lambda alter: alter.__name__)
def test_a_large_block_that_is_altered_is_refused_and_taken_from_the_next_node(anvil, node, alter):
    true = source_of(Node([anvil.url])).blocks(0, 5)
    node.fault = padded(alter)
    with pytest.raises(MalformedBlock, match=f"block 3 .*{ALTERATIONS[alter]}"):
        source_of(Node([node.url])).blocks(NUMBER, NUMBER)
    source = source_of(Node([node.url, anvil.url]))
    assert source.blocks(NUMBER, NUMBER) == true[NUMBER : NUMBER + 1]
    pairs = source_of(Node([node.url, anvil.url])).raw_blocks(NUMBER, NUMBER, checked=True)
    assert [pair[0].hash for pair in pairs] == ["0x" + true[NUMBER].block.hash.hex()]


def test_an_answer_above_all_bounds_is_refused_and_the_next_node_is_asked(anvil, node, monkeypatch):
    monkeypatch.setattr(node_reader, "MAX_BLOCK_BYTES", LARGER)
    true = source_of(Node([anvil.url])).blocks(NUMBER, NUMBER)
    node.fault = padded(lambda _, __: None, 2 * LARGER)
    with pytest.raises(NodeError, match="larger than 9 MiB"):
        source_of(Node([node.url])).blocks(NUMBER, NUMBER)
    assert source_of(Node([node.url, anvil.url])).blocks(NUMBER, NUMBER) == true
