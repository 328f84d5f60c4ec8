"""RLP, and the root of a Merkle Patricia trie of a list (Yellow Paper, appendices B, D). Pure."""

from collections.abc import Sequence
from itertools import takewhile
from typing import TypeAlias

from eth_hash.auto import keccak

Item: TypeAlias = "bytes | Sequence[Item]"
_Entries = list[tuple[tuple[int, ...], bytes]]


def rlp(item: Item) -> bytes:
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < 0x80 else _prefix(len(item), 0x80) + item
    body = b"".join(map(rlp, item))
    return _prefix(len(body), 0xC0) + body


def integer(value: int) -> bytes:
    """Return big-endian bytes without leading zeros, RLP's form of numbers."""
    return value.to_bytes((value.bit_length() + 7) // 8)


def list_root(values: Sequence[bytes]) -> bytes:
    """Return the root of the trie that maps rlp(index) to each value: transactionsRoot,
    receiptsRoot."""
    entries = sorted((_nibbles(rlp(integer(at))), value) for at, value in enumerate(values))
    return keccak(rlp(_node(entries, 0)))


def _prefix(length: int, offset: int) -> bytes:
    if length < 56:
        return bytes([offset + length])
    size = integer(length)
    return bytes([offset + 55 + len(size)]) + size


def _nibbles(key: bytes) -> tuple[int, ...]:
    return tuple(nibble for byte in key for nibble in divmod(byte, 16))


def _node(entries: _Entries, depth: int) -> Item:
    """Return the node of entries, sorted, that share their first `depth` nibbles."""
    if not entries:
        return b""
    first, last = entries[0][0], entries[-1][0]
    if len(entries) == 1:
        return [_hex_prefix(first[depth:], True), entries[0][1]]
    shared = depth + len(
        list(takewhile(lambda p: p[0] == p[1], zip(first[depth:], last[depth:], strict=False)))
    )
    if shared > depth:
        return [_hex_prefix(first[depth:shared], False), _reference(_node(entries, shared))]
    # A branch has a child for each nibble, and the value of the key that ends at it.
    ends = entries[0][1] if len(first) == depth else b""
    children = [
        _reference(_node([e for e in entries if len(e[0]) > depth and e[0][depth] == n], depth + 1))
        for n in range(16)
    ]
    return [*children, ends]


def _reference(node: Item) -> Item:
    encoded = rlp(node)
    # A node shorter than a hash is embedded in its parent.
    return node if len(encoded) < 32 else keccak(encoded)


def _hex_prefix(nibbles: Sequence[int], is_leaf: bool) -> bytes:
    # An odd number of nibbles shares the first byte with the flag.
    flag = 2 * is_leaf + len(nibbles) % 2
    padded = [flag, *nibbles] if len(nibbles) % 2 else [flag, 0, *nibbles]
    return bytes(16 * a + b for a, b in zip(padded[::2], padded[1::2], strict=True))
