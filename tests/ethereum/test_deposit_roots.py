"""Roots of blocks with one deposit, as an encoder made here computes them.

The lists of fields are those of specs.optimism.io (deposits, Regolith, Canyon, Isthmus).
"""

from typing import Any

import pytest
import rlp

from scan.ethereum.block_hashing import contradicting_fields
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.keccak import keccak256
from tests.ethereum.test_forms import HASH, OTHER, SENDER, received, sent

pytestmark = pytest.mark.check

BLOOM = "0x" + "00" * 255 + "01"
GAS, CUMULATIVE = 100_000, 21_000


def root_of_one(value: bytes) -> str:
    """A trie with a leaf alone, whose path is rlp(0): nibbles 8 and 0, with the prefix 2."""
    return "0x" + keccak256(rlp.encode([b"\x20\x80", value])).hex()


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
        **dict(zip(("transactionsRoot", "receiptsRoot"), map(root_of_one, roots), strict=True)),
        **fields,
    }
    return read_json(header, BlockJson, 5), read_json([receipt], ReceiptsJson, 5)


def bytes_of(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def encoded_deposit(to: str = "0x", mint: int = 0, value: int = 0, is_system: int = 0) -> bytes:
    parties = [bytes_of(HASH), bytes_of(SENDER), bytes_of(to)]
    return b"\x7e" + rlp.encode([*parties, mint, value, GAS, is_system, b"\x01\x02"])


def encoded_receipt(*tail: int) -> bytes:
    log = [bytes_of(OTHER), [bytes_of(HASH)], b"\x05"]
    return b"\x7e" + rlp.encode([1, CUMULATIVE, bytes_of(BLOOM), [log], *tail])


def deposit(**fields: Any) -> dict[str, Any]:
    own = {"sourceHash": HASH, "gas": hex(GAS), "input": "0x0102", "gasPrice": "0x0"}
    return sent(0, "0x7e", **own | fields)


def receipt_of(transaction: dict[str, Any], **fields: Any) -> dict[str, Any]:
    log = {"address": OTHER, "topics": [HASH], "data": "0x05", "logIndex": "0x0"}
    own = {"from": SENDER, "logsBloom": BLOOM, "logs": [log], "effectiveGasPrice": "0x0"}
    return received(transaction, **own | fields)


NONCE, VERSION = {"depositNonce": "0x4"}, {"depositReceiptVersion": "0x1"}


@pytest.mark.parametrize(
    ("fields", "encoded", "nonces", "tail"),
    [
        ({"isSystemTx": True}, {"is_system": 1}, {}, ()),
        ({"mint": None, "isSystemTx": False}, {}, NONCE, ()),
        ({"mint": "0x0"}, {}, NONCE | VERSION, (4, 1)),
        ({"mint": "0x64", "value": "0x32"}, {"mint": 100, "value": 50}, NONCE | VERSION, (4, 1)),
    ],
    ids=["bedrock", "regolith", "canyon", "minting"],
)
def test_a_deposit_and_its_receipt_have_their_roots(
    fields: dict[str, Any], encoded: dict[str, int], nonces: dict[str, str], tail: tuple[int, ...]
) -> None:
    transaction = deposit(**fields)
    roots = encoded_deposit(OTHER, **encoded), encoded_receipt(*tail)
    block, receipts = block_of_one(transaction, receipt_of(transaction, **nonces), roots)
    assert contradicting_fields(block, receipts) == ""
    block.transactions[0].value = "0x33"
    assert contradicting_fields(block, receipts) == "transactions and transactionsRoot"


def test_a_deposit_creates_at_the_nonce_of_its_receipt() -> None:
    transaction = deposit(to=None)
    created = "0x" + keccak256(rlp.encode([bytes_of(SENDER), 4]))[12:].hex()
    receipt = receipt_of(transaction, contractAddress=created, **NONCE, **VERSION)
    block, receipts = block_of_one(transaction, receipt, (encoded_deposit(), encoded_receipt(4, 1)))
    assert contradicting_fields(block, receipts) == ""
    receipts[0].contractAddress = OTHER
    assert contradicting_fields(block, receipts) == "contractAddress and its creator"


@pytest.mark.parametrize(
    ("of_transaction", "of_receipt"),
    [({"ethValue": "0x1"}, {}), ({}, {"tokenRatio": "0x1"}), ({"queueIndex": "0x1"}, {})],
    ids=["Mantle", "Mantle by its receipt", "Scroll"],
)
def test_roots_of_other_forms_of_the_type_are_not_compared(
    of_transaction: dict[str, str], of_receipt: dict[str, str]
) -> None:
    transaction = deposit(**of_transaction)
    if "queueIndex" in of_transaction:
        del transaction["sourceHash"]
    block, receipts = block_of_one(transaction, receipt_of(transaction, **of_receipt), (b"", b""))
    assert contradicting_fields(block, receipts) == ""
