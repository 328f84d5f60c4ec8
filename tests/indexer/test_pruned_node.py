"""Nodes that have dropped old blocks: the first block that they have is named, and what helps."""

import time

import pytest

from scan.ethereum.client import HistoryPruned, Node, NodeError
from scan.indexer import block_source, node_reader
from tests.support import faulty_node, indexing, serving
from tests.support.indexing import status
from tests.support.scan_command import scan

HEAD, FIRST = 60, 23
REASON = f"the node has pruned blocks before {FIRST}, and block 1 is needed"


@pytest.fixture(scope="module")
def anvil(shared_anvil):
    """A transaction in each block but every seventh."""
    for number in range(1, HEAD + 1):
        if number % 7:
            shared_anvil.send(shared_anvil.accounts[0], shared_anvil.accounts[1], value=1)
        shared_anvil.mine()
    return shared_anvil


@pytest.mark.parametrize("way", ("null", "4444", "-32000", "null receipts", "no receipts"))
def test_the_first_block_that_a_node_has_kept_is_named(node, way):
    node.fault = faulty_node.prune(FIRST, way)
    source = block_source.BlockSource(Node((node.url,)))
    with pytest.raises(HistoryPruned, match=f"{REASON}.* SCAN_START_BLOCK={FIRST} for"):
        source.blocks(1, 5)
    with pytest.raises(HistoryPruned, match=REASON):
        node_reader.require_kept(source.node, 1)
    assert [fetched.block.number for fetched in source.blocks(FIRST, FIRST + 2)] == [23, 24, 25]


def test_a_missing_block_near_the_head_is_no_pruned_one(node):
    node.fault = faulty_node.prune(HEAD - 3, "null")
    source = block_source.BlockSource(Node((node.url,)))
    with pytest.raises(NodeError, match=f"does not have block {HEAD - 5}, but has block {HEAD}"):
        source.blocks(HEAD - 5, HEAD)
    with pytest.raises(NodeError, match=f"does not have block {HEAD + 1} yet"):
        source.blocks(HEAD + 1, HEAD + 1)


def test_another_node_that_has_the_block_is_read(anvil, node):
    node.fault = faulty_node.prune(FIRST, "null")
    source = block_source.BlockSource(Node((node.url, anvil.url)))
    with pytest.raises(NodeError, match=r"does not have block 1$"):
        source.blocks(1, 5)
    assert len(source.blocks(1, 5)) == 5


def test_a_pruned_block_is_told_and_asked_for_seldom(node, database_url, clone, template):
    node.fault = faulty_node.prune(FIRST, "no receipts")
    with indexing.Indexing(database_url, node.url):
        serving.wait_until(lambda: REASON in (status(database_url)["problem"] or ""))
        time.sleep(1.0)  # those on their way have come
        before = node.requests
        time.sleep(1.5)
        assert node.requests == before
    indexing.Indexing(clone(template), node.url, start_block=FIRST).run_until(HEAD)


def test_doctor_names_the_first_block_that_a_node_has(node):
    node.fault = faulty_node.prune(FIRST, "null receipts")
    done = scan("doctor", RPC_URL=node.url)
    assert f"it has pruned blocks before {FIRST}" in done.stdout, done.stdout
    assert f"SCAN_START_BLOCK={FIRST}" in done.stdout
