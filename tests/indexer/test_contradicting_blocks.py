"""Blocks that contradict their own hash or roots whenever a node gives them: a lie, or a form."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node
from scan.indexer.block_source import FORM_BLOCKS, BlockSource
from scan.indexer.rereads import Rereads
from tests.support import faulty_node
from tests.support.anvil import Anvil
from tests.support.faulty_node import Fault, FaultyNode


@pytest.fixture(scope="module")
def chain() -> Iterator[Anvil]:
    with Anvil() as node:
        for value in range(FORM_BLOCKS + 6):
            node.send(node.accounts[0], node.accounts[1], value=value)
            node.mine()
        yield node


def altered_blocks(
    alter: Callable[[dict[str, Any]], None],
    first: int,
    last: int,
    chain_id: int = 1,
    version: str = "Geth/v1.16.7",
) -> Fault:
    """Blocks that are altered whenever they are read, of a chain with this id."""

    def reply(calls: faulty_node.Calls, forward: faulty_node.Forward) -> faulty_node.Reply:
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            header = answer["result"]
            if call["method"] == "eth_chainId":
                answer["result"] = hex(chain_id)
            if call["method"] == "web3_clientVersion":
                answer["result"] = version
            if isinstance(header, dict) and first <= int(header["number"], 16) <= last:
                alter(header)
        return faulty_node.Reply(body=answers)

    return reply


def alter_value(block: dict[str, Any]) -> None:
    if isinstance(block["transactions"][0], dict):
        block["transactions"][0]["value"] = "0x7"


def alter_header(block: dict[str, Any]) -> None:
    block["gasUsed"] = "0x7"


@pytest.mark.parametrize("alter", [alter_value, alter_header])
def test_a_block_that_one_node_always_alters_is_not_taken(
    chain: Anvil, alter: Callable[[dict[str, Any]], None]
) -> None:
    """Unlike its neighbours it contradicts itself, so it is no form of the chain's own; another
    node has it right, and only who runs Scan may decide that this one has."""
    true = BlockSource(Node([chain.url])).blocks(0, 5)
    with FaultyNode(chain.url) as node:
        node.fault = altered_blocks(alter, 3, 3)
        source = BlockSource(Node([node.url]))
        for _ in range(3):
            with pytest.raises(
                MalformedBlock, match=r"block 3 contradicts itself .*unlike its nei"
            ):
                source.blocks(0, 5)
        assert BlockSource(Node([node.url]), takes_unmatched=True).blocks(0, 5) != true
        assert BlockSource(Node([node.url, chain.url])).blocks(0, 5) == true


def test_a_hard_fork_is_taken_when_the_blocks_after_it_are_known(
    chain: Anvil, caplog: pytest.LogCaptureFixture
) -> None:
    """Before that, the first block could be a fault of the node."""
    head = chain.head()
    with FaultyNode(chain.url) as node:
        source = BlockSource(Node([node.url]))
        node.fault = altered_blocks(alter_header, head - FORM_BLOCKS + 1, head)
        with pytest.raises(MalformedBlock, match="unlike its neighbours"):
            source.blocks(head - FORM_BLOCKS + 1, head)
        node.fault = altered_blocks(alter_header, head - FORM_BLOCKS, head)
        taken = source.blocks(head - FORM_BLOCKS, head)
    assert [fetched.block.gas_used for fetched in taken] == [7] * (FORM_BLOCKS + 1)
    assert "do not match their hash (header and hash)" in caplog.text


def test_the_last_block_of_an_older_form_is_taken(chain: Anvil) -> None:
    """As before Arbitrum's Nitro and Celo's second layer, where a range of a backfill may begin."""
    with FaultyNode(chain.url) as node:
        node.fault = altered_blocks(alter_header, 0, FORM_BLOCKS + 1)
        [fetched] = BlockSource(Node([node.url])).blocks(FORM_BLOCKS + 1, FORM_BLOCKS + 1)
        assert fetched.block.gas_used == 7


@pytest.mark.parametrize(
    ("chain_id", "version"), [(31_337, "Geth/v1.16.7"), (1, "anvil/v1.7.1"), (1, "Ganache/v7.9.2")]
)
def test_a_body_that_contradicts_itself_may_be_a_form_beyond_ethereum(
    chain: Anvil, chain_id: int, version: str
) -> None:
    """Test nodes have such blocks among others, and hard forks of chains that nobody named. A test
    node that forked Ethereum has its chain id."""
    with FaultyNode(chain.url) as node:
        node.fault = altered_blocks(alter_value, 3, 3, chain_id, version)
        [fetched] = BlockSource(Node([node.url])).blocks(3, 3)
        assert fetched.block.transactions[0].value == 7


@pytest.mark.parametrize("version", ["Geth/v1.16.7", "anvil/v1.7.1"])
def test_a_body_that_contradicts_itself_for_a_moment_is_not_taken(
    chain: Anvil, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By who follows the head: a node that is wrong for some seconds has the block right later."""
    true = BlockSource(Node([chain.url])).blocks(0, 5)
    with FaultyNode(chain.url) as node:
        source = BlockSource(Node([node.url]), form_patience_s=3600.0)
        node.fault = altered_blocks(alter_value, 3, 3, 31_337, version)
        for _ in range(2):
            with pytest.raises(MalformedBlock, match="block 3 contradicts itself"):
                source.blocks(0, 5)
        node.fault = None
        assert source.blocks(0, 5) == true
        node.fault = altered_blocks(alter_value, 1, chain.head(), 31_337, version)
        with pytest.raises(MalformedBlock, match="block 6 contradicts itself"):
            source.blocks(6, 6)  # of one that is wrong about all blocks, too
        node.fault = altered_blocks(alter_value, 3, 3, 31_337, version)
        monkeypatch.setattr(Rereads, "age_s", lambda *_: 3600.0)
        assert source.blocks(3, 3)[0].block.transactions[0].value == 7
