"""Senders, which no hash covers: computed from signatures, and said where there is none."""

import pytest

from scan.ethereum import blocks, client, transaction_checks
from scan.ethereum.transaction_checks import ADDRESSES_AS_SIGNATURES, OTHER_SIGNERS
from scan.extensions.backfill.tests.backfilling import backfill
from scan.extensions.demo.tests.replaying import served
from scan.indexer.block_source import BlockSource
from tests.support import anvil, database, faulty_node, indexing
from tests.support.chain_forms import accounts, made_chain
from tests.support.indexing import source_of

ALICE, BOB = accounts.address("Alice"), accounts.address("Bob")


@pytest.fixture(scope="module")
def chain():
    with anvil.Anvil() as node:
        for type_ in ("0x0", "0x1", "0x2"):
            fields = {} if type_ == "0x2" else {"gasPrice": "0x77359400"}
            for sender, recipient in ((0, 1), (1, 2)):
                node.send(node.accounts[sender], node.accounts[recipient], type=type_, **fields)
            node.mine()
        yield node


def of_victim(result):
    """The last transaction of each block, and its receipt."""
    for record in faulty_node.records_of(result)[-1:]:
        record["from"] = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045"


BOTH = faulty_node.changing(of_victim, "eth_getBlockByNumber", "eth_getBlockReceipts")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_false_sender_is_not_indexed_and_another_node_has_it_right(chain, number):
    """In a transaction and in its receipt alike; of types 0, 1 and 2."""
    [true] = source_of(chain).blocks(number, number)
    with faulty_node.FaultyNode(chain.url, BOTH) as node:
        with pytest.raises(blocks.MalformedBlock, match=rf"block {number} .*\({OTHER_SIGNERS}\)"):
            source_of(node).blocks(number, number)
        assert BlockSource(client.Node([node.url, chain.url])).blocks(number, number) == [true]
    assert true.block.transactions[-1].from_address == bytes.fromhex(chain.accounts[1][2:])
    assert true.block.unproven is None


def test_the_head_takes_senders_from_the_node_that_has_them_right(chain, database_url):
    with faulty_node.FaultyNode(chain.url, BOTH) as node:
        indexing.Indexing(database_url, f"{node.url},{chain.url}").run_until(chain.head())
    senders = database.execute(database_url, "SELECT DISTINCT from_address FROM transactions")
    assert {bytes(sender).hex() for (sender,) in senders} == {
        account[2:].lower() for account in chain.accounts[:2]
    }


def of_version(version):
    return faulty_node.replacing("web3_clientVersion", version)


def made(chain_id, *, r, s, sender=ALICE, **others):
    """A chain whose block 1 has a transaction with this signature."""
    chain = made_chain.MadeChain(chain_id, {sender: made_chain.ETH, BOB: made_chain.ETH})
    keys, accounts.private_keys = accounts.private_keys, {}
    chain.pay(sender, BOB, 1, r=r, s=s, **others)
    accounts.private_keys = keys
    chain.pay(BOB, sender, 2)
    chain.mine()
    return chain


def read_of(version):
    """Block 1, of whose transaction an address is the signature, of a node with this version."""
    chain = made(31_337, r=int.from_bytes(ALICE), s=int.from_bytes(ALICE))
    with served(chain, of_version(version)) as node:
        [fetched] = source_of(node, traces="off").blocks(1, 1)
    return fetched.block


def test_an_address_as_signature_is_taken_from_hardhat():
    block = read_of("HardhatNetwork/2.22")
    assert block.unproven == ADDRESSES_AS_SIGNATURES
    assert block.transactions[0].from_address == ALICE


@pytest.mark.parametrize("version", ["Geth/v1", "anvil/v1.7.1"])
def test_an_address_as_signature_is_taken_from_no_other_node(version):
    with pytest.raises(blocks.MalformedBlock, match=ADDRESSES_AS_SIGNATURES):
        read_of(version)


def test_hardhats_other_senders_are_computed():
    chain = made(31_337, r=int.from_bytes(ALICE), s=int.from_bytes(ALICE))
    with served(chain, of_version("HardhatNetwork/2.22")) as node:
        node.fault = faulty_node.before(BOTH, node.fault)
        with pytest.raises(blocks.MalformedBlock, match=OTHER_SIGNERS):
            source_of(node, traces="off").blocks(1, 1)


NO_SIGNATURES = [{"r": 0, "s": 0}, {"r": 5, "s": 5}, {"r": 2**256 - 1, "s": 1}, {"yParity": 2}]


@pytest.mark.parametrize("signature", NO_SIGNATURES)
def test_a_signature_that_is_none_is_refused(signature):
    """Also one that is beyond the curve."""
    chain = made(1, **{"r": 1, "s": 1, **signature})
    expected = pytest.raises(blocks.MalformedBlock, match="senders of transactions")
    with served(chain, of_version("Geth/v1")) as node, expected:
        source_of(node, traces="off").blocks(1, 1)


@pytest.mark.thorough
def test_bulk_refuses_a_false_sender_and_says_where_it_believes_one(chain, database_url, tmp_path):
    with faulty_node.FaultyNode(chain.url, BOTH) as node:
        settings = indexing.settings_for(database_url, node.url)
        backfill(settings, tmp_path / "files", last_block=3, computes_senders=False)
    blocks = database.execute(database_url, "SELECT number, unproven FROM blocks ORDER BY number")
    assert blocks == [(0, None), *((number, transaction_checks.SENDERS) for number in (1, 2, 3))]
    source = source_of(chain)
    believing = source_of(chain, computes_senders=False)
    for true, believed in zip(source.blocks(1, 3), believing.blocks(1, 3), strict=True):
        assert believed.block == true.block._replace(unproven=transaction_checks.SENDERS)
