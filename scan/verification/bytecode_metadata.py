"""The CBOR map that the compiler appends to bytecode: its version, and a hash of the metadata file.

Of RFC 8949 only what solc writes is read: maps of text to byte strings, text, integers, booleans.
"""

from collections.abc import Mapping
from typing import NamedTuple

CborValue = bytes | str | int | bool


class BytecodeMetadata(NamedTuple):
    """The metadata in bytecode. `start` is the map's offset in the code. Two bytes with the map's
    length follow it."""

    start: int
    values: Mapping[str, CborValue]


class _NotCbor(ValueError):
    pass


def read_metadata(code: bytes) -> BytecodeMetadata | None:
    """Return the metadata at the end of code; None unless the last two bytes are the length of
    exactly one CBOR map before them."""
    length = int.from_bytes(code[-2:], "big")
    start = len(code) - 2 - length
    if len(code) < 2 or length == 0 or start < 0:
        return None
    try:
        values, end = _map(code[start:-2], 0)
    except _NotCbor:
        return None
    return BytecodeMetadata(start, values) if end == length else None


def _map(data: bytes, position: int) -> tuple[dict[str, CborValue], int]:
    major, count, position = _head(data, position)
    if major != 5 or count > 8:
        raise _NotCbor
    values: dict[str, CborValue] = {}
    for _ in range(count):
        key, position = _value(data, position)
        if not isinstance(key, str) or key in values:
            raise _NotCbor
        values[key], position = _value(data, position)
    return values, position


def _value(data: bytes, position: int) -> tuple[CborValue, int]:
    major, argument, position = _head(data, position)
    if major == 0:
        return argument, position
    if major == 7 and argument in (20, 21):
        return argument == 21, position
    if major not in (2, 3) or position + argument > len(data):
        raise _NotCbor
    content = data[position : position + argument]
    position += argument
    if major == 2:
        return content, position
    try:
        return content.decode(), position
    except UnicodeDecodeError:
        raise _NotCbor from None


def _head(data: bytes, position: int) -> tuple[int, int, int]:
    """Return the major type and argument of a CBOR item, and the position after them."""
    if position >= len(data):
        raise _NotCbor
    major, argument = data[position] >> 5, data[position] & 31
    position += 1
    if argument < 24:
        return major, argument, position
    width = {24: 1, 25: 2}.get(argument)
    if width is None or position + width > len(data) or major == 7:
        raise _NotCbor
    return major, int.from_bytes(data[position : position + width], "big"), position + width


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
