"""Transactions and receipts read from the bytes that consensus has them in, and made ready to be
items of lists. Pure.

All lengths are hostile until items end where their list does, and raise ValueError.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from scan.ethereum import block_encoding, blocks
from scan.ethereum import rlp_and_tries as rlp
from scan.hex import to_hex

BLOOM_BYTES = 256
BLOOM_PREFIX = bytes.fromhex("b90100")
_NO_BLOOM = bytes(BLOOM_BYTES)
_ADDRESS_BYTES, _WORD_BYTES = 20, 32
_TOPIC_ITEM, _TOPIC_PREFIX = 33, b"\xa0"

RawLog = tuple[bytes, tuple[bytes, ...], bytes]  # address, topics, data


class RawReceipt(NamedTuple):
    """A receipt: its type, its status or root of the state, and its logs; and where it was read
    with its bloom, all of it as consensus encodes it."""

    type: int
    outcome: bytes
    cumulative_gas_used: bytes
    logs: Sequence[RawLog]
    encoded: bytes = b""


def read_transaction(encoded: bytes) -> tuple[int, dict[str, Any]]:
    """Return a transaction's type, and its fields by their names in JSON: bytes, and lists. Raises
    ValueError where it has another form than its type, or a type that is not Ethereum's."""
    type_ = 0 if encoded[0] >= rlp.LISTS else encoded[0]
    if type_ not in _LAYOUTS:
        raise ValueError(f"this version of Scan does not know transactions of type {type_}")
    names, kinds, quantities, to = _LAYOUTS[type_]
    items = rlp.whole_list(encoded, 1 if type_ else 0)
    if [*map(type, items)] != kinds or len(items[to]) not in (0, _ADDRESS_BYTES):
        raise ValueError(f"a transaction of type {type_} has another form")
    if max([len(items[place]) for place in quantities]) > _WORD_BYTES:
        raise ValueError("a number is beyond 256 bits")
    return type_, dict(zip(names, items, strict=True))


# The fields of a type of transaction, with their kinds, and the places of numbers and of `to`.
_LAYOUTS = {
    type_: (
        names,
        [list if name in block_encoding.LISTS else bytes for name in names],
        [at for at, name in enumerate(names) if name not in {"to", "input", *block_encoding.LISTS}],
        names.index("to"),
    )
    for type_, names in block_encoding.TRANSACTION_FIELDS.items()
}


def raw_receipt(
    type_: int, encoded: bytes, outcome: rlp.Item, gas: rlp.Item, logs: rlp.Item
) -> RawReceipt:
    """Return a receipt, given the positions of its items. Raises ValueError for another form."""
    if max(encoded[outcome[0]], encoded[gas[0]]) >= rlp.LISTS or encoded[logs[0]] < rlp.LISTS:
        raise ValueError("a receipt has another form")
    return RawReceipt(
        type_,
        encoded[outcome[1] : outcome[2]],
        encoded[gas[1] : gas[2]],
        _read_logs(encoded, *logs[1:]),
    )


def _read_logs(encoded: bytes, start: int, end: int) -> list[RawLog]:
    """Return the logs of a list's content. Raises ValueError where one has not an address, up to
    four topics of 32 bytes, and data. To read lists of any form takes twice as long."""
    logs = []
    for log, content, stop in rlp.items_of(encoded, start, end):
        address, (topic_list, first, last), value = rlp.items_of(encoded, content, stop)
        places = range(first, last, _TOPIC_ITEM)
        topics = tuple([encoded[at + 1 : at + _TOPIC_ITEM] for at in places])
        count = len(topics)
        if (
            min(encoded[log], encoded[topic_list]) < rlp.LISTS
            or max(encoded[address[0]], encoded[value[0]]) >= rlp.LISTS
            or address[2] - address[1] != _ADDRESS_BYTES
            or count > blocks.MAX_TOPICS
            or last - first != count * _TOPIC_ITEM
            or encoded[first:last:_TOPIC_ITEM] != _TOPIC_PREFIX * count
        ):
            raise ValueError("a log has another form")
        logs.append((encoded[address[1] : address[2]], topics, encoded[value[1] : value[2]]))
    return logs


def logs_bloom(logs: Sequence[RawLog]) -> bytes:
    """Return the filter of logs (Yellow Paper, section 4.3.1)."""
    if not logs:
        return _NO_BLOOM
    bits = 0
    for value in {value for address, topics, _ in logs for value in (address, *topics)}:
        bits |= _bloom_bits(value)
    return bits.to_bytes(BLOOM_BYTES)


@lru_cache(16_384)
def _bloom_bits(value: bytes) -> int:
    hash_ = rlp.keccak256(value)
    bits = 0
    for at in (0, 2, 4):
        bits |= 1 << (int.from_bytes(hash_[at : at + 2]) & 2047)
    return bits


def entry_object(names: Sequence[str], values: Sequence[bytes]) -> dict[str, str]:
    """Return an entry of a list as an object; all fields but `address` are QUANTITYs."""
    return {
        name: to_hex(value) if name == "address" else hex(int.from_bytes(value))
        for name, value in zip(names, values, strict=True)
    }
