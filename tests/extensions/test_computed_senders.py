"""Senders, which no hash covers: computed from signatures, and said where there is none."""

from contextlib import nullcontext
from itertools import pairwise

import pytest

from scan.ethereum import blocks, transaction_checks
from scan.ethereum.transaction_checks import ADDRESSES_AS_SIGNATURES, OTHER_SIGNERS
from scan.extensions.backfill.tests.backfilling import backfill
from scan.extensions.demo.tests.replaying import served
from tests.support import database, faulty_node, indexing
from tests.support.chain_forms import accounts, made_chain
from tests.support.indexing import source_of

ALICE, BOB = accounts.address("Alice"), accounts.address("Bob")


def of_victim(result):
    """The last transaction of each block, and its receipt."""
    for record in faulty_node.records_of(result)[-1:]:
        record["from"] = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045"


BOTH = faulty_node.changing(of_victim, "eth_getBlockByNumber", "eth_getBlockReceipts")


def made(chain_id, *, r, s, sender=ALICE, **others):
    """A chain whose block 1 has a transaction with this signature."""
    chain = made_chain.MadeChain(chain_id, {sender: made_chain.ETH, BOB: made_chain.ETH})
    keys, accounts.private_keys = accounts.private_keys, {}
    chain.pay(sender, BOB, 1, r=r, s=s, **others)
    accounts.private_keys = keys
    chain.pay(BOB, sender, 2)
    chain.mine()
    return chain


@pytest.mark.parametrize(
    ("version", "fault", "refused"),
    [
        ("HardhatNetwork/2.22", None, None),
        ("HardhatNetwork/2.22", BOTH, OTHER_SIGNERS),  # its other senders are computed
        ("Geth/v1", None, ADDRESSES_AS_SIGNATURES),
        ("anvil/v1.7.1", None, ADDRESSES_AS_SIGNATURES),
    ],
)
def test_an_address_as_signature_is_taken_from_hardhat_alone(version, fault, refused):
    chain = made(31_337, r=int.from_bytes(ALICE), s=int.from_bytes(ALICE))
    refusal = pytest.raises(blocks.MalformedBlock, match=refused) if refused else nullcontext()
    with served(chain, faulty_node.replacing("web3_clientVersion", version)) as node, refusal:
        node.fault = faulty_node.before(fault, node.fault) if fault else node.fault
        [fetched] = source_of(node, traces="off").blocks(1, 1)
        assert fetched.block.unproven == ADDRESSES_AS_SIGNATURES
        assert fetched.block.transactions[0].from_address == ALICE


@pytest.mark.parametrize(
    "signature", [{"r": 0, "s": 0}, {"r": 5, "s": 5}, {"r": 2**256 - 1, "s": 1}, {"yParity": 2}]
)
def test_a_signature_that_is_none_is_refused(signature):
    """Also one that is beyond the curve."""
    chain = made(1, **{"r": 1, "s": 1, **signature})
    expected = pytest.raises(blocks.MalformedBlock, match="senders of transactions")
    with served(chain, faulty_node.replacing("web3_clientVersion", "Geth/v1")) as node, expected:
        source_of(node, traces="off").blocks(1, 1)


@pytest.mark.thorough
def test_bulk_refuses_a_false_sender_and_says_where_it_believes_one(
    anvil, node, database_url, tmp_path
):
    price = {"gasPrice": "0x77359400"}
    for type_, fields in (("0x0", price), ("0x1", price), ("0x2", {})):
        for sender, recipient in pairwise(anvil.accounts[:3]):
            anvil.send(sender, recipient, type=type_, **fields)
        anvil.mine()
    node.fault = BOTH
    settings = indexing.settings_for(database_url, node.url)
    backfill(settings, tmp_path / "files", last_block=3, computes_senders=False)
    blocks = database.execute(database_url, "SELECT number, unproven FROM blocks ORDER BY number")
    assert blocks == [(0, None), *((number, transaction_checks.SENDERS) for number in (1, 2, 3))]
    source = source_of(anvil)
    believing = source_of(anvil, computes_senders=False)
    for true, believed in zip(source.blocks(1, 3), believing.blocks(1, 3), strict=True):
        assert believed.block == true.block._replace(unproven=transaction_checks.SENDERS)
