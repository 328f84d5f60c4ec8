"""A block of a history file as bytes: its parts and their items (RLP, Yellow Paper, appendix B),
the proof that it is whole, by what its header's roots say of them, and the same parts made of a
node's JSON. Pure.

All lengths are hostile until the items end where their list does, and raise ValueError. That the
header itself is of the chain is proven by the hash of the block after it, and at last by one that
the node has.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from scan.ethereum import block_encoding, blocks
from scan.ethereum.rlp_and_tries import (
    LISTS,
    LONG,
    STRINGS,
    join_list,
    keccak256,
    list_prefix_bytes,
    list_root,
    string_prefix_bytes,
)
from scan.extensions.backfill.history_files.e2store import BadFile, Parts

MAX_DEPTH = 8  # of lists within lists; an access list of a transaction in a block has five


def list_content(data: bytes, start: int = 0) -> tuple[int, int]:
    """Return where the content of a list begins and ends, which is all of `data` from `start`."""
    [(_, content, end)] = items_of(data, start, len(data))
    if data[start] < LISTS:
        raise ValueError("not a list")
    return content, end


def items_of(data: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return the positions of consecutive items: where each begins, and where its content begins
    and ends."""
    items = []
    while start < end:
        prefix = data[start]
        content = start + 1
        if prefix < STRINGS:
            items.append((start, start, content))
            start = content
            continue
        size = prefix - (STRINGS if prefix < LISTS else LISTS)
        if size > LONG:
            content += size - LONG
            size = int.from_bytes(data[start + 1 : content])
        stop = content + size
        if stop > end:
            break
        items.append((start, content, stop))
        start = stop
    if start != end:
        raise ValueError("an item is longer than its list")
    return items


def read_list(data: bytes, start: int, end: int, depth: int = MAX_DEPTH) -> list[Any]:
    """Return the items of a list whose content is given: bytes, and lists."""
    if depth < 0:
        raise ValueError("lists are too deep")
    return [
        read_list(data, content, stop, depth - 1) if data[item] >= LISTS else data[content:stop]
        for item, content, stop in items_of(data, start, end)
    ]


def whole_list(data: bytes, start: int = 0) -> list[Any]:
    """Return the items of a list that is all of `data` from `start`."""
    return read_list(data, *list_content(data, start))


_BLOOM_BYTES = 256
_BLOOM_PREFIX = bytes.fromhex("b90100")
_NO_BLOOM = bytes(_BLOOM_BYTES)
_LEAST_ITEMS = 15  # of a header
_ADDRESS_BYTES = 20
_TOPIC_ITEM, _TOPIC_PREFIX = 33, b"\xa0"

RawLog = tuple[bytes, tuple[bytes, ...], bytes]  # address, topics, data
Item = tuple[int, int, int]  # positions, as items_of() returns them


class RawReceipt(NamedTuple):
    """A receipt: its type, its status or root of the state, its logs, and all of it as consensus
    encodes it."""

    type: int
    outcome: bytes
    cumulative_gas_used: bytes
    logs: Sequence[RawLog]
    encoded: bytes


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
    receipts = _receipts(parts)
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


def encoded_receipts(parts: Parts) -> list[bytes]:
    """Return a block's receipts as consensus encodes them, with their blooms."""
    return [receipt.encoded for receipt in _receipts(parts)]


def _typed(data: bytes, start: int, content: int, end: int) -> bytes:
    """Return a transaction or receipt of a list: a legacy one is a list, or, as some writers have
    it, the string of one; another one is a string."""
    return data[start:end] if data[start] >= LISTS else data[content:end]


def _receipts(parts: Parts) -> list[RawReceipt]:
    data = parts.receipts
    items = items_of(data, *list_content(data))
    if parts.are_slim:
        return [_slim_receipt(data, *item[1:]) for item in items]
    return [_full_receipt(_typed(data, *item)) for item in items]


def _full_receipt(encoded: bytes) -> RawReceipt:
    type_ = 0 if encoded[0] >= LISTS else encoded[0]
    items = items_of(encoded, *list_content(encoded, 1 if type_ else 0))
    outcome, gas, bloom, log_list = items
    if bloom[2] - bloom[1] != _BLOOM_BYTES or encoded[log_list[0]] < LISTS:
        raise ValueError("a receipt has another form")
    return _receipt(type_, encoded, outcome, gas, _read_logs(encoded, *log_list[1:]), encoded)


def _slim_receipt(data: bytes, start: int, end: int) -> RawReceipt:
    """Return a receipt of an ere file, encoded with the bloom that follows from its logs."""
    type_item, outcome, gas, log_list = items_of(data, start, end)
    type_ = int.from_bytes(data[type_item[1] : type_item[2]])
    logs = _read_logs(data, *log_list[1:])
    encoded = join_list(
        (data[outcome[0] : gas[2]], _BLOOM_PREFIX, _bloom(logs), data[log_list[0] : end])
    )
    if type_:
        encoded = type_.to_bytes(1) + encoded
    return _receipt(type_, data, outcome, gas, logs, encoded)


def _receipt(
    type_: int, data: bytes, outcome: Item, gas: Item, logs: Sequence[RawLog], encoded: bytes
) -> RawReceipt:
    if data[outcome[0]] >= LISTS or data[gas[0]] >= LISTS:
        raise ValueError("a receipt has another form")
    return RawReceipt(type_, data[outcome[1] : outcome[2]], data[gas[1] : gas[2]], logs, encoded)


def _read_logs(data: bytes, start: int, end: int) -> list[RawLog]:
    """Return the logs of a list's content. Raises ValueError where one has not an address, up to
    four topics of 32 bytes, and data. To read lists of any form takes twice as long."""
    logs = []
    for log, content, stop in items_of(data, start, end):
        address, (topic_list, first, last), value = items_of(data, content, stop)
        topics = tuple([data[at + 1 : at + _TOPIC_ITEM] for at in range(first, last, _TOPIC_ITEM)])
        count = len(topics)
        if (
            min(data[log], data[topic_list]) < LISTS
            or max(data[address[0]], data[value[0]]) >= LISTS
            or address[2] - address[1] != _ADDRESS_BYTES
            or count > blocks.MAX_TOPICS
            or last - first != count * _TOPIC_ITEM
            or data[first:last:_TOPIC_ITEM] != _TOPIC_PREFIX * count
        ):
            raise ValueError("a log has another form")
        logs.append((data[address[1] : address[2]], topics, data[value[1] : value[2]]))
    return logs


def _bloom(logs: Sequence[RawLog]) -> bytes:
    """Return the filter of logs (Yellow Paper, section 4.3.1)."""
    if not logs:
        return _NO_BLOOM
    bits = 0
    for value in {value for address, topics, _ in logs for value in (address, *topics)}:
        bits |= _bloom_bits(value)
    return bits.to_bytes(_BLOOM_BYTES)


@lru_cache(16_384)
def _bloom_bits(value: bytes) -> int:
    hash_ = keccak256(value)
    bits = 0
    for at in (0, 2, 4):
        bits |= 1 << (int.from_bytes(hash_[at : at + 2]) & 2047)
    return bits


def _withdrawals(
    body: bytes, lists: Sequence[tuple[int, int, int]], root: bytes | None, number: int
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
            [_item(encoded) for encoded in block_encoding.encode_transactions(header.transactions)]
        ),
        join_list([block_encoding.encode_header(uncle) for uncle in uncles]),
    ]
    if header.withdrawalsRoot is not None:
        lists.append(join_list(block_encoding.encode_withdrawals(header.withdrawals or ())))
    slim = join_list([*map(_slim, block_encoding.encode_receipts(receipts))])
    return Parts(block_encoding.encode_header(header), join_list(lists), slim, are_slim=True)


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
