"""How many bytes a block's encoding has: what nodes call its size, which no hash covers. Pure."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.block_encoding import encode_whole_header, encode_withdrawals
from scan.ethereum.rlp import LISTS, list_prefix_bytes, string_prefix_bytes


def block_size(header: Any, transactions: Sequence[bytes], uncles: Sequence[bytes] = ()) -> int:
    """Return the bytes of a block, given as a struct, with its encoded transactions and uncles.
    A typed transaction is a string in the list (EIP-2718)."""
    lists = [sum(map(_item_bytes, transactions)), sum(map(len, uncles))]
    if header.withdrawalsRoot is not None and header.withdrawals is not None:
        lists.append(sum(map(len, encode_withdrawals(header.withdrawals))))
    return _list_bytes(len(encode_whole_header(header)) + sum(map(_list_bytes, lists)))


def _item_bytes(transaction: bytes) -> int:
    size = len(transaction)
    return size if transaction[0] >= LISTS else len(string_prefix_bytes(size)) + size


def _list_bytes(content: int) -> int:
    return len(list_prefix_bytes(content)) + content
