"""A block of a history file as bytes: its parts and their items (RLP, Yellow Paper, appendix B),
the proof that it is whole, by what its header's roots say of them, and the same parts made of a
node's JSON. Pure.

All lengths are hostile until the items end where their list does, and raise ValueError. That the
header itself is of the chain is proven by the hash of the block after it, and at last by one that
the node has.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.ethereum import block_encoding
from scan.ethereum.encoded_parts import (
    BLOOM_BYTES,
    BLOOM_PREFIX,
    RawReceipt,
    logs_bloom,
    raw_receipt,
    slim_receipt,
    transaction_item,
)
from scan.ethereum.rlp_and_tries import (
    LISTS,
    Item,
    items_of,
    join_list,
    keccak256,
    list_content,
    list_prefix_bytes,
    list_root,
    read_list,
    whole_list,
)
from scan.extensions.backfill.history_files.e2store import BadFile, Parts

_LEAST_ITEMS = 15  # of a header


class RawBlock(NamedTuple):
    """A block whose transactions, receipts, uncles and withdrawals agree with its header."""

    hash: bytes
    header: dict[str, bytes]
    transactions: Sequence[bytes]  # as consensus encodes them (EIP-2718)
    receipts: Sequence[RawReceipt]
    uncles: Sequence[bytes]  # headers
    withdrawals: Sequence[list[bytes]] | None
    size: int  # of the whole block in bytes


def read_block(parts: Parts, number: int) -> RawBlock:
    """Return a block of a file. Raises BadFile where it is not the block `number`, or where its
    parts do not agree with its header."""
    try:
        return _read(parts, number)
    except (ValueError, IndexError, TypeError) as error:
        raise BadFile(f"block {number} is malformed: {error}"[:200]) from None


def _read(parts: Parts, number: int) -> RawBlock:
    header = _header(parts.header)
    _require(int.from_bytes(header["number"]) == number, number, "has another number")
    body = parts.body
    start, end = list_content(body)
    lists = items_of(body, start, end)
    if len(lists) == 3 and body[lists[2][0]] < LISTS:  # an empty string, for no list at all
        del lists[2]
    transactions = [_typed(body, *item) for item in items_of(body, *lists[0][1:])]
    _require_root(transactions, header["transactionsRoot"], number, "transactions")
    receipts = read_receipts(parts)
    leaves = [receipt.encoded for receipt in receipts]
    _require_root(leaves, header["receiptsRoot"], number, "receipts")
    _require(len(receipts) == len(transactions), number, "has another number of receipts")
    uncles_start, uncles_first, uncles_end = lists[1]
    has_uncles = keccak256(body[uncles_start:uncles_end]) == header["sha3Uncles"]
    _require(has_uncles, number, "has other uncles than its header says")
    uncles = [body[at:stop] for at, _, stop in items_of(body, uncles_first, uncles_end)]
    withdrawals = _withdrawals(body, lists[2:], header.get("withdrawalsRoot"), number)
    content = len(parts.header) + end - start
    size = len(list_prefix_bytes(content)) + content
    block_hash = keccak256(parts.header)
    return RawBlock(block_hash, header, transactions, receipts, uncles, withdrawals, size)


def _header(encoded: bytes) -> dict[str, bytes]:
    """Return the fields of a header by name. Fields after those that are known are left out: the
    block's hash, which is one of the bytes, covers them, too."""
    items = whole_list(encoded)
    if len(items) < _LEAST_ITEMS or not all(isinstance(item, bytes) for item in items):
        raise ValueError("its header has another form")
    return dict(zip(block_encoding.ETHEREUM_HEADER, items, strict=False))


def read_header(encoded: bytes) -> dict[str, bytes]:
    """Return the fields of a header by name. Raises BadFile."""
    try:
        return _header(encoded)
    except (ValueError, IndexError) as error:
        raise BadFile(f"a header is malformed: {error}") from None


def _typed(data: bytes, start: int, content: int, end: int) -> bytes:
    """Return a transaction or receipt of a list: a legacy one is a list, or, as some writers have
    it, the string of one; another one is a string."""
    return data[start:end] if data[start] >= LISTS else data[content:end]


def read_receipts(parts: Parts) -> list[RawReceipt]:
    """Return a block's receipts, encoded as consensus does, with their blooms."""
    data = parts.receipts
    items = items_of(data, *list_content(data))
    if parts.are_slim:
        return [_slim_receipt(data, *item[1:]) for item in items]
    return [_full_receipt(_typed(data, *item)) for item in items]


def _full_receipt(encoded: bytes) -> RawReceipt:
    type_ = 0 if encoded[0] >= LISTS else encoded[0]
    items = items_of(encoded, *list_content(encoded, 1 if type_ else 0))
    outcome, gas, bloom, logs = items
    if bloom[2] - bloom[1] != BLOOM_BYTES:
        raise ValueError("a receipt has another form")
    return raw_receipt(type_, encoded, outcome, gas, logs)._replace(encoded=encoded)


def _slim_receipt(data: bytes, start: int, end: int) -> RawReceipt:
    """Return a receipt of an ere file, encoded with the bloom that follows from its logs."""
    type_item, outcome, gas, logs = items_of(data, start, end)
    type_ = int.from_bytes(data[type_item[1] : type_item[2]])
    receipt = raw_receipt(type_, data, outcome, gas, logs)
    bloom = BLOOM_PREFIX + logs_bloom(receipt.logs)
    encoded = join_list((data[outcome[0] : gas[2]], bloom, data[logs[0] : end]))
    return receipt._replace(encoded=type_.to_bytes(1) + encoded if type_ else encoded)


def _withdrawals(
    body: bytes, lists: Sequence[Item], root: bytes | None, number: int
) -> list[list[bytes]] | None:
    _require(len(lists) == (root is not None), number, "has another form of body than its header")
    if root is None:
        return None
    items = items_of(body, *lists[0][1:])
    _require_root([body[at:end] for at, _, end in items], root, number, "withdrawals")
    return [read_list(body, start, end) for _, start, end in items]


def _require_root(items: Sequence[bytes], root: bytes, number: int, name: str) -> None:
    _require(list_root(items) == root, number, f"has other {name} than its header says")


def _require(holds: bool, number: int, reason: str) -> None:
    if not holds:
        raise BadFile(f"block {number} {reason}")


def parts_of(header: Any, receipts: Sequence[Any], uncles: Sequence[Any]) -> Parts:
    """Return the parts of a block, given as structs; its receipts are slim.

    Raises Unencodable, ValueError or TypeError for what cannot be encoded. That the parts agree
    with the header's roots is not checked here.
    """
    lists = [
        join_list(
            [*map(transaction_item, block_encoding.encode_transactions(header.transactions))]
        ),
        join_list([block_encoding.encode_header(uncle) for uncle in uncles]),
    ]
    if header.withdrawalsRoot is not None:
        lists.append(join_list(block_encoding.encode_withdrawals(header.withdrawals or ())))
    slim = join_list([*map(slim_receipt, block_encoding.encode_receipts(receipts))])
    return Parts(block_encoding.encode_header(header), join_list(lists), slim, are_slim=True)
