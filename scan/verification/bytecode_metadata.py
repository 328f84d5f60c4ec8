"""Metadata in bytecode: the CBOR that a compiler appends, with its version and a hash of the
source, and that hash of a metadata file, IPFS or Swarm, as the compiler computes it.

Of RFC 8949 only what the compilers write is taken. solc: a map of text to byte strings, text,
integers, booleans, whose byte strings hash the metadata file. Vyper from 0.3.4 to 0.3.9, at the end
of runtime code without immutables: a map with the version, in 0.3.4 without a length. Vyper since
0.3.10, at the end of creation code: an array of a hash of the sources (since 0.4.1), the size of
the runtime code, the sizes of its data, the size of its immutables, and a map with the version.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import cbor2

from scan.ethereum.rlp_and_tries import keccak256

CborValue = bytes | str | int | bool

INTEGRITY = "integrity"  # Vyper's hash of the sources
RUNTIME_SIZE = "runtimeSize"
IMMUTABLE_SIZE = "immutableSize"
VYPER = "vyper"
_UNMEASURED_BYTES = 11  # of a version of three numbers below 24
_MAX_DEPTH = 3


class BytecodeMetadata(NamedTuple):
    """The metadata in bytecode. `start` is its offset in the code. Two bytes with its length follow
    it, to which Vyper counts themselves."""

    start: int
    values: Mapping[str, CborValue]


def read_metadata(code: bytes) -> BytecodeMetadata | None:
    """Return the metadata at the end of code; None unless the last two bytes are the length of
    exactly one CBOR map or of Vyper's array before them, or it is the map of Vyper 0.3.4, the one
    of which no length follows."""
    length = int.from_bytes(code[-2:], "big")
    for size, is_measured, values_of in (
        (length, True, _values_of_map),
        (length - 2, True, _values_of_array),
        (_UNMEASURED_BYTES, False, _values_of_unmeasured),
    ):
        start = len(code) - size - 2 * is_measured
        if size <= 0 or start < 0:
            continue
        try:
            values = values_of(_item(code[start : start + size]))
        except cbor2.CBORError:
            continue
        if values is not None:
            return BytecodeMetadata(start, values)
    return None


def _values_of_map(item: Any) -> dict[str, CborValue] | None:
    if not isinstance(item, dict):
        return None
    values: dict[str, Any] = {
        key: _version(value) if key == VYPER else value for key, value in item.items()
    }
    is_flat = all(isinstance(value, bytes | str | int) for value in values.values())
    return values if is_flat and all(isinstance(key, str) for key in values) else None


def _values_of_unmeasured(item: Any) -> dict[str, CborValue] | None:
    values = _values_of_map(item)
    return values if values and values.keys() == {VYPER} else None


def _values_of_array(item: Any) -> dict[str, CborValue] | None:
    if not isinstance(item, list) or len(item) not in (4, 5):
        return None
    *integrity, runtime_size, data_sizes, immutable_size, last = item
    version = _values_of_unmeasured(last)
    if version is None or not all(isinstance(value, bytes) for value in integrity):
        return None
    if not (
        isinstance(data_sizes, list) and _are_numbers(runtime_size, immutable_size, *data_sizes)
    ):
        return None
    hashes = dict(zip((INTEGRITY,), integrity, strict=False))
    return {**hashes, RUNTIME_SIZE: runtime_size, IMMUTABLE_SIZE: immutable_size, **version}


def _version(numbers: Any) -> str | None:
    is_version = isinstance(numbers, list) and _are_numbers(*numbers)
    return ".".join(map(str, numbers)) if is_version else None


def _are_numbers(*values: Any) -> bool:
    return all(type(value) is int and 0 <= value < 1 << 16 for value in values)


def _item(data: bytes) -> Any:
    """Return the item that these bytes are, in the shortest form, as compilers write it; raises
    CBORError. Lengths allocate nothing; a tag has cbor2 make numbers, patterns and dates."""
    tags: defaultdict[int, Any] = defaultdict(lambda: _refuse_tag)
    item = cbor2.loads(
        data, max_depth=_MAX_DEPTH, strict_hashable_types=True, semantic_decoders=tags
    )
    if cbor2.dumps(item) != data:
        raise cbor2.CBORError
    return item


def _refuse_tag(_: object) -> NoReturn:
    raise cbor2.CBORError


def compiler_version(metadata: BytecodeMetadata | None) -> str | None:
    """Return the version in the metadata, such as `0.8.26`; None where there is none, as before
    0.5.9."""
    version = metadata.values.get("solc") if metadata else None
    if isinstance(version, bytes) and len(version) == 3:
        return ".".join(str(part) for part in version)
    return version.partition("+")[0].partition("-")[0] if isinstance(version, str) else None


def hash_kind(metadata: BytecodeMetadata | None) -> str | None:
    """Return `ipfs`, `bzzr1` or `bzzr0`; None where the metadata has no hash."""
    for kind in ("ipfs", "bzzr1", "bzzr0"):
        if metadata and isinstance(metadata.values.get(kind), bytes):
            return kind
    return None


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
    return keccak256(len(content).to_bytes(8, "little") + inner)


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
    return keccak256(len(content).to_bytes(8, "little") + merkle)


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
        return keccak256(data)
    middle = len(data) // 2
    return keccak256(_merkle(data[:middle]) + _merkle(data[middle:]))


BY_KIND: dict[str, Callable[[bytes], bytes]] = {"ipfs": ipfs, "bzzr0": bzzr0, "bzzr1": bzzr1}
