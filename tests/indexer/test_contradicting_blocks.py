"""Blocks that contradict their own hash or roots whenever a node gives them."""

import json

import pytest

from scan.ethereum import blocks, client
from scan.ethereum.transaction_checks import UNSIGNED
from scan.indexer.block_source import BlockSource
from tests.support import anvil, faulty_node
from tests.support.indexing import source_of


@pytest.fixture(scope="module")
def chain():
    with anvil.Anvil() as node:
        for value in range(6):
            node.send(node.accounts[0], node.accounts[1], value=value)
            node.mine()
        yield node


def altered_block(alter, number, chain_id, version):
    """A block that is altered whenever it is read, of a chain with this id."""

    def alter_answer(call, answer):
        header = answer.get("result")
        named = {"eth_chainId": hex(chain_id), "web3_clientVersion": version}
        answer |= {"result": named[call["method"]]} if call["method"] in named else {}
        if isinstance(header, dict) and int(header["number"], 16) == number:
            alter(header)

    return faulty_node.altering(alter_answer)


def alter_value(block):
    if isinstance(block["transactions"][0], dict):
        block["transactions"][0]["value"] = "0x7"


def alter_header(block):
    block["gasUsed"] = "0x7"


@pytest.mark.parametrize("alter", [alter_value, alter_header])
@pytest.mark.parametrize("version", ["Geth/v1.16.7", "anvil/v1.7.1", "Ganache/v7.9.2"])
def test_a_block_that_one_node_always_alters_is_not_taken(chain, alter, version):
    """Another node has it right; of test nodes only what they really have otherwise is taken."""
    true = source_of(chain).blocks(0, 5)
    with faulty_node.FaultyNode(chain.url) as node:
        node.fault = altered_block(alter, 3, 31_337, version)
        source = source_of(node)
        assert source.blocks(0, 5) == true[:3]
        with pytest.raises(blocks.MalformedBlock, match="block 3 contradicts itself"):
            source.blocks(3, 5)
        assert BlockSource(client.Node([node.url, chain.url])).blocks(0, 5) == true
        node.fault = None
        assert source.blocks(0, 5) == true


IMPERSONATED = "0x" + "ab" * 20


@pytest.fixture(scope="module")
def impersonating():
    """The transaction of block 2 has no signature, and another hash than its bytes."""
    with anvil.Anvil() as node:
        node.impersonate(IMPERSONATED)
        for sender in (node.accounts[0], IMPERSONATED, node.accounts[0]):
            node.send(sender, node.accounts[1], value=1)
            node.mine()
        yield node


def read(node, number, version, old="", new="", chain_id=31337):
    """Return a block of a node whose answers name its version, and have `new` instead of `old`."""

    def reply(calls, forward):
        text = json.dumps(forward(calls))
        answers = json.loads(text.replace(old, new) if old else text)
        for call, answer in zip(calls, answers, strict=True):
            if call["method"] == "web3_clientVersion":
                answer["result"] = version
        return faulty_node.Reply(body=answers)

    with faulty_node.FaultyNode(node.url) as faulty:
        faulty.fault = reply
        source = source_of(faulty, traces="off")
        source.expect(chain_id)
        return source.blocks(number, number)[0].block


def test_a_hash_that_is_not_the_transactions_is_taken_from_anvil_alone(impersonating):
    assert read(impersonating, 2, "anvil/v1.7.1").unproven == UNSIGNED
    with pytest.raises(blocks.MalformedBlock, match=rf"block 2 .*\({UNSIGNED}\)"):
        read(impersonating, 2, "Geth/v1")


@pytest.mark.parametrize("chain_id", [1, 10, 250, 31_338])
def test_nodes_for_development_are_excused_on_their_own_chain_ids_alone(impersonating, chain_id):
    with pytest.raises(blocks.MalformedBlock, match=rf"block 2 .*\({UNSIGNED}\)"):
        read(impersonating, 2, "anvil/v1.7.1", chain_id=chain_id)


def test_a_signed_transaction_has_its_hash_in_anvils_blocks_too(impersonating):
    block = impersonating.call("eth_getBlockByNumber", "0x3", False)
    with pytest.raises(blocks.MalformedBlock, match=r"block 3 .*\(hashes of transactions\)"):
        read(impersonating, 3, "anvil/v1.7.1", block["transactions"][0], "0x" + "5e" * 32)


def test_other_fields_of_a_block_with_such_a_hash_are_compared(impersonating):
    """Of the receipt, which names the sender, too."""
    receipt = impersonating.call("eth_getBlockReceipts", "0x2")[0]
    used = json.dumps({"gasUsed": receipt["gasUsed"]})[1:-1]
    with pytest.raises(blocks.MalformedBlock, match=r"block 2 .*\(gasUsed and cumulativeGasUsed\)"):
        read(
            impersonating, 2, "anvil/v1.7.1", f'{used}, "effective', '"gasUsed": "0x7", "effective'
        )
