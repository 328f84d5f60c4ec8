"""Values of JSON-RPC: quantities and data become ints and bytes here, or raise BadHex."""

import re
from binascii import unhexlify
from typing import Any

_is_quantity = re.compile(r"0x[0-9a-fA-F]{1,64}\Z").match


class BadHex(ValueError):
    """A value is not the hex text that it should be."""


def quantity(value: object) -> int:
    """Return a JSON-RPC QUANTITY (`0x1b4`) as an int of at most 256 bits."""
    if not isinstance(value, str) or not _is_quantity(value):
        raise BadHex(f"not a hex quantity: {excerpt(value)}")
    return int(value, 16)


def quantity_or_none(value: object) -> int | None:
    """Return a JSON-RPC QUANTITY as an int, null as None."""
    return None if value is None else quantity(value)


def data(value: object, length: int | None = None) -> bytes:
    """Return JSON-RPC DATA (`0x00ff`) as bytes; `length` is in bytes where it is fixed."""
    if not isinstance(value, str) or value[:2] != "0x":
        raise BadHex(f"not hex data: {excerpt(value)}")
    try:
        decoded = unhexlify(value[2:])  # unlike bytes.fromhex it takes no white space
    except ValueError:
        raise BadHex(f"not hex data: {excerpt(value)}") from None
    if length is not None and len(decoded) != length:
        raise BadHex(f"expected {length} bytes of hex: {excerpt(value)}")
    return decoded


def json_object(value: object) -> dict[str, Any]:
    """Return a value that is a JSON object. Raises BadHex."""
    if not isinstance(value, dict):
        raise BadHex(f"not an object: {excerpt(value)}")
    return value


def json_array(value: object) -> list[Any]:
    """Return a value that is a JSON array. Raises BadHex."""
    if not isinstance(value, list):
        raise BadHex(f"not an array: {excerpt(value)}")
    return value


def excerpt(value: object, max_characters: int = 80) -> str:
    """Return a short text that quotes a value of any kind and size in an error."""
    if isinstance(value, str):
        return repr(value[:max_characters])
    if isinstance(value, list | tuple):
        return "an array"
    return "an object" if isinstance(value, dict) else str(value)[:max_characters]


def to_hex(value: bytes) -> str:
    return "0x" + value.hex()
