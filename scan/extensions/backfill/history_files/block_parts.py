"""The parts of a block as files have them, from a node's JSON. Pure."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.block_encoding import (
    encode_header,
    encode_receipts,
    encode_transactions,
    encode_withdrawals,
)
from scan.ethereum.rlp import LISTS, STRINGS, join_list, string_prefix_bytes
from scan.extensions.backfill.history_files.e2store import Parts
from scan.extensions.backfill.history_files.rlp_reader import items_of, list_content


def parts_of(header: Any, receipts: Sequence[Any], uncles: Sequence[Any]) -> Parts:
    """Return the parts of a block, given as structs; its receipts are slim.

    Raises Unencodable, ValueError or TypeError for what cannot be encoded. That the parts agree
    with the header's roots is not checked here.
    """
    lists = [
        join_list([_item(encoded) for encoded in encode_transactions(header.transactions)]),
        join_list([encode_header(uncle) for uncle in uncles]),
    ]
    if header.withdrawalsRoot is not None:
        lists.append(join_list(encode_withdrawals(header.withdrawals or ())))
    slim = join_list([*map(_slim, encode_receipts(receipts))])
    return Parts(encode_header(header), join_list(lists), slim, are_slim=True)


def _item(encoded: bytes) -> bytes:
    """Return a transaction as an item of a block's list."""
    return encoded if encoded[0] >= LISTS else string_prefix_bytes(len(encoded)) + encoded


def _slim(encoded: bytes) -> bytes:
    """Return a receipt without its bloom, and with its type inside."""
    type_ = 0 if encoded[0] >= LISTS else encoded[0]
    content = encoded[1:] if type_ else encoded
    outcome, gas, _, logs = items_of(content, *list_content(content))
    type_item = bytes([type_ or STRINGS])
    return join_list([type_item, content[outcome[0] : gas[2]], content[logs[0] : logs[2]]])
