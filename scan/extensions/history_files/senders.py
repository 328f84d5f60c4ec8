"""Who signed a transaction, which its bytes do not name. Pure."""

from collections.abc import Sequence

from scan.ethereum.forms.matching import FIRST_PROTECTED_V
from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import EMPTY_STRING, join_list, quantity_item
from scan.ethereum.signatures import Signature, recover_signer

FIRST_V = 27  # of signatures that cover no chain id


def sender(encoded: bytes, content: int, fields: Sequence[bytes]) -> bytes:
    """Return the address that signed a transaction, given as its bytes, the position where its
    list's content begins, and its list's items. Raises ValueError where nobody has.

    What is signed is all before the signature: with the type (EIP-2718), or with the chain id
    (EIP-155).
    """
    *_, v, r, s = fields
    number = int.from_bytes(v)
    unsigned = encoded[content : len(encoded) - sum(map(_item_bytes, (v, r, s)))]
    if encoded[0] < EMPTY_STRING[0]:
        parity, message = number, encoded[:1] + join_list([unsigned])
    elif number >= FIRST_PROTECTED_V:
        chain_id, parity = divmod(number - FIRST_PROTECTED_V, 2)
        chain_item = bytes.fromhex(quantity_item(hex(chain_id)))
        message = join_list([unsigned, chain_item, EMPTY_STRING, EMPTY_STRING])
    else:
        parity, message = number - FIRST_V, join_list([unsigned])
    signer = None
    if parity in (0, 1) and max(len(r), len(s)) <= 32:
        signature = Signature(parity, int.from_bytes(r), int.from_bytes(s))
        signer = recover_signer(keccak256(message), signature)
    if signer is None:
        raise ValueError("a transaction's signature is invalid")
    return signer


def _item_bytes(value: bytes) -> int:
    """Return how many bytes the item of a number of at most 256 bits takes."""
    return 1 if len(value) == 1 and value < EMPTY_STRING else len(value) + 1
