"""Transactions without a signature, which development nodes alone may have."""

import pytest

from scan.ethereum import blocks
from scan.ethereum.transaction_checks import UNSIGNED
from tests.support import faulty_node
from tests.support.indexing import source_of


def other_hash(result):
    for record in faulty_node.records_of(result):
        record["hash" if "hash" in record else "transactionHash"] = "0x" + "5e" * 32


def other_gas(result):
    for record in faulty_node.records_of(result):
        record["gasUsed"] = "0x7"


@pytest.mark.parametrize(
    ("number", "of", "reason"),
    [
        (2, {"version": "Geth/v1"}, UNSIGNED),
        *((2, {"chain_id": chain_id}, UNSIGNED) for chain_id in (1, 31_338)),
        (3, {"change": other_hash}, "hashes of transactions"),  # of one that is signed
        (2, {"change": other_gas}, "gasUsed and cumulativeGasUsed"),
    ],
)
def test_what_is_not_signed_is_taken_from_anvil_alone_and_all_else_compared(
    anvil, node, number, of, reason
):
    """The transaction of block 2 has no signature, and another hash than its bytes."""
    impersonated = "0x" + "ab" * 20
    anvil.impersonate(impersonated)
    for sender in (anvil.accounts[0], impersonated, anvil.accounts[0]):
        anvil.send(sender, anvil.accounts[1], value=1)
        anvil.mine()

    def read(number, version="anvil/v1.7.1", change=lambda _: None, chain_id=31_337):
        """A block of a node that names its version and has changed the block and its receipts."""
        methods = ("eth_getBlockByNumber", "eth_getBlockReceipts")
        changed = faulty_node.changing(change, *methods, block=number)
        node.fault = faulty_node.before(
            faulty_node.replacing("web3_clientVersion", version), changed
        )
        source = source_of(node, traces="off")
        source.expect(chain_id)
        return source.blocks(number, number)[0].block

    assert read(2).unproven == UNSIGNED
    with pytest.raises(blocks.MalformedBlock, match=rf"block {number} .*\({reason}\)"):
        read(number, **of)
