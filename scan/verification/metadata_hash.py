"""The hash of a metadata file as the compiler writes it into bytecode: IPFS or Swarm.

Hashing a variant of the file takes microseconds, compiling again takes seconds.
"""

import hashlib
from collections.abc import Callable

from eth_utils.crypto import keccak

_CHUNK = 4096
_BRANCHES = _CHUNK // 32
_IPFS_BLOCK = 256 * 1024


def ipfs(content: bytes) -> bytes:
    """Return the multihash of a file as `ipfs add` computes it (UnixFS in DAG-PB); b"" for a file
    of more than one block of 256 KiB."""
    if len(content) > _IPFS_BLOCK:
        return b""
    length = _varint(len(content))
    file = b"\x08\x02\x12" + length + content + b"\x18" + length
    node = b"\x0a" + _varint(len(file)) + file
    return b"\x12\x20" + hashlib.sha256(node).digest()


def _varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def bzzr0(content: bytes) -> bytes:
    """Return Swarm's first hash: of a tree of 4 KiB chunks, by Keccak-256 over span and content."""
    inner = content
    if len(content) > _CHUNK:
        inner = b"".join(bzzr0(part) for part in _split(content))
    return bytes(keccak(len(content).to_bytes(8, "little") + inner))


def bzzr1(content: bytes, below_higher: bool = False) -> bytes:
    """Return Swarm's second hash: the same tree, where a chunk is hashed as a binary Merkle tree.

    `below_higher`: other parts of the tree have more levels. Then a last part of exactly one chunk
    has a level of its own.
    """
    inner = content
    if len(content) > _CHUNK or (len(content) == _CHUNK and below_higher):
        represented = _represented(len(content))
        inner = b"".join(bzzr1(part, represented > _CHUNK) for part in _split(content))
    merkle = _merkle(inner.ljust(_CHUNK, b"\0"))
    return bytes(keccak(len(content).to_bytes(8, "little") + merkle))


def _represented(length: int) -> int:
    """Return the size of the content under one child of the root."""
    size = _CHUNK
    while size * _BRANCHES < length:
        size *= _BRANCHES
    return size


def _split(content: bytes) -> list[bytes]:
    size = _represented(len(content))
    return [content[start : start + size] for start in range(0, len(content), size)]


def _merkle(data: bytes) -> bytes:
    if len(data) <= 64:
        return bytes(keccak(data))
    middle = len(data) // 2
    return bytes(keccak(_merkle(data[:middle]) + _merkle(data[middle:])))


BY_KIND: dict[str, Callable[[bytes], bytes]] = {"ipfs": ipfs, "bzzr0": bzzr0, "bzzr1": bzzr1}
