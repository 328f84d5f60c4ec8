"""Polygon PoS: what its bridge brings (a state sync) is a transaction that no root covers.

core/types/bor_receipt.go and internal/ethapi of 0xPolygon/bor: it is the last of its block, with a
hash of the block's number and hash, nobody as sender and recipient, and no gas. Its receipt has the
logs, and eth_getBlockReceipts of some nodes lacks it. Since Madhugiri it is a type of its own.
"""

from typing import Any

from scan.ethereum.keccak import keccak256
from scan.hex import BadHex, data, quantity

_PREFIX = b"matic-bor-receipt-"
_NOBODY = "0x" + "00" * 20


def has_state_sync(block: Any) -> bool:
    """Whether the last transaction of a block, as a struct, is a state sync."""
    if not block.transactions:
        return False
    last = block.transactions[-1]
    if last.to != _NOBODY or getattr(last, "from") != _NOBODY:
        return False
    try:
        key = _PREFIX + quantity(block.number).to_bytes(8) + data(block.hash, 32)
        is_empty = quantity(last.gas) == quantity(last.value) == 0 and data(last.input) == b""
        return is_empty and data(last.hash, 32) == keccak256(key)
    except (BadHex, TypeError, OverflowError):
        return False
