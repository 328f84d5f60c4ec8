"""Roots of blocks with one transaction of a chain's own type, as an encoder made here computes
them.

The lists of fields are those of specs.optimism.io (deposits, Regolith, Canyon, Isthmus); viem's
serializer for Celo signed the transaction of CIP-64.
"""

from typing import Any

import pytest
import rlp

from scan.ethereum.block_validation import contradicting_fields
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.keccak import keccak256
from tests.ethereum.test_forms import HASH, OTHER, SENDER, received, sent
from tests.support.chain_forms.made_chain import list_root

pytestmark = pytest.mark.check

BLOOM = "0x" + "00" * 255 + "01"
GAS, CUMULATIVE = 100_000, 21_000


def block_of_one(
    transaction: dict[str, Any], receipt: dict[str, Any], roots: tuple[bytes, bytes], **fields: Any
) -> tuple[Any, Any]:
    """The structs of a block with a deposit, whose roots are of these encodings."""
    transaction["hash"] = receipt["transactionHash"] = "0x" + keccak256(roots[0]).hex()
    header = {
        **{
            "number": "0x5",
            "extraData": "0x",
            "baseFeePerGas": "0x7",
            "transactions": [transaction],
        },
        **dict(
            zip(
                ("transactionsRoot", "receiptsRoot"),
                (f"0x{list_root([r]).hex()}" for r in roots),
                strict=True,
            )
        ),
        **fields,
    }
    return read_json(header, BlockJson, 5), read_json([receipt], ReceiptsJson, 5)


def bytes_of(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def encoded_receipt(*tail: int, type_: bytes = b"\x7e") -> bytes:
    log = [bytes_of(OTHER), [bytes_of(HASH)], b"\x05"]
    return type_ + rlp.encode([1, CUMULATIVE, bytes_of(BLOOM), [log], *tail])


def deposit(**fields: Any) -> dict[str, Any]:
    own = {"sourceHash": HASH, "gas": hex(GAS), "input": "0x0102", "gasPrice": "0x0"}
    return sent(0, "0x7e", **own | fields)


def receipt_of(transaction: dict[str, Any], **fields: Any) -> dict[str, Any]:
    log = {"address": OTHER, "topics": [HASH], "data": "0x05", "logIndex": "0x0"}
    own = {"from": SENDER, "logsBloom": BLOOM, "logs": [log], "effectiveGasPrice": "0x0"}
    return received(transaction, **own | fields)


NONCE, VERSION = {"depositNonce": "0x4"}, {"depositReceiptVersion": "0x1"}


SIGNED = bytes.fromhex(
    "7bf8b482a4ec03026482520894b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b205820102f838f794aaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaae1a00101010101010101010101010101010101010101010101010101010101"
    "01010194cececececececececececececececececececece80a088354979c4f27076a1e75e0c6a9dc4fc1f33ccf7"
    "8f8cba6bd85bcd85ee4ec3d7a029f5ec4c4396f1185f79b66e4940304b6ad1f441df5f7c54e06659fba8b76335"
)
CIP_64: dict[str, Any] = {
    **{"chainId": "0xa4ec", "nonce": "0x3", "maxPriorityFeePerGas": "0x2", "maxFeePerGas": "0x64"},
    **{"gas": "0x5208", "value": "0x5", "input": "0x0102", "feeCurrency": "0x" + "ce" * 20},
    "accessList": [{"address": "0x" + "aa" * 20, "storageKeys": ["0x" + "01" * 32]}],
    **{"yParity": "0x0", "gasPrice": "0x34"},
    "r": "0x88354979c4f27076a1e75e0c6a9dc4fc1f33ccf78f8cba6bd85bcd85ee4ec3d7",
    "s": "0x29f5ec4c4396f1185f79b66e4940304b6ad1f441df5f7c54e06659fba8b76335",
}


@pytest.mark.parametrize(
    ("base_fee", "tail"), [("0x32", (0x32,)), (None, ())], ids=["since its L2", "before"]
)
def test_cip_64_and_its_receipt_have_their_roots(base_fee, tail):
    transaction = sent(0, "0x7b", **CIP_64)
    own = {} if base_fee is None else {"baseFee": base_fee}
    receipt = receipt_of(
        transaction, **{"effectiveGasPrice": base_fee and "0x34", "gasUsed": hex(CUMULATIVE), **own}
    )
    encoded = encoded_receipt(*tail, type_=b"\x7b")
    block, receipts = block_of_one(transaction, receipt, (SIGNED, encoded))
    assert block.transactions[0].hash == (
        "0xb60126cd2925390c532c756b68e01c4c5107956ea90f333b3989c5ee5308f1b4"
    )
    assert contradicting_fields(block, receipts) == ""
    block.transactions[0].feeCurrency = OTHER
    assert contradicting_fields(block, receipts) == "transactions and transactionsRoot"


def test_the_price_of_cip_64_is_by_the_base_fee_of_its_receipt():
    transaction = sent(0, "0x7b", **CIP_64)
    receipt = receipt_of(transaction, baseFee="0x32", effectiveGasPrice="0x35")
    roots = SIGNED, encoded_receipt(0x32, type_=b"\x7b")
    block, receipts = block_of_one(transaction, receipt, roots)
    assert contradicting_fields(block, receipts).startswith("effectiveGasPrice")
    receipts[0].baseFee = "0x33"
    assert contradicting_fields(block, receipts) == "receipts and receiptsRoot"
