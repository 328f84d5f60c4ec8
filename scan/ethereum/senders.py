"""Who sent a transaction: its signer, as its bytes do not name one. Pure."""

from scan.ethereum.forms.matching import FIRST_PROTECTED_V
from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import (
    EMPTY_STRING,
    STRINGS,
    content_range,
    join_list,
    quantity_item,
)
from scan.ethereum.signatures import Signature, recover_signer

FIRST_V = 27  # of signatures that cover no chain id
_LARGEST = 2**256 - 1


def signer(encoded: bytes, v: int, r: int, s: int) -> bytes | None:
    """Return the address that signed a transaction, given as its bytes and its signature, whose
    numbers are the last items in them; None where the signature is invalid.

    What is signed is all before the signature: with the type (EIP-2718), or with the chain id
    (EIP-155). `v` of a transaction with a type is the parity.
    """
    is_typed = encoded[0] < STRINGS
    start, _ = content_range(encoded, 1 if is_typed else 0)
    unsigned = encoded[start : len(encoded) - sum(map(_item_bytes, (v, r, s)))]
    if is_typed:
        parity, message = v, encoded[:1] + join_list([unsigned])
    elif v >= FIRST_PROTECTED_V:
        chain_id, parity = divmod(v - FIRST_PROTECTED_V, 2)
        chain_item = bytes.fromhex(quantity_item(hex(chain_id)))
        message = join_list([unsigned, chain_item, EMPTY_STRING, EMPTY_STRING])
    else:
        parity, message = v - FIRST_V, join_list([unsigned])
    if parity not in (0, 1) or max(r, s) > _LARGEST:
        return None
    return recover_signer(keccak256(message), Signature(parity, r, s))


def _item_bytes(number: int) -> int:
    """Return how many bytes the item of a number of at most 256 bits takes."""
    return 1 if number < STRINGS else (number.bit_length() + 7) // 8 + 1
