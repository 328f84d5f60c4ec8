"""Layouts of the storage as compilers give them: Solidity's `storageLayout` (from 0.5.13 on), and
Vyper's `layout` (in standard JSON from 0.4.1 on). Their sizes are bounded.
"""

import zlib

import orjson

MAX_LAYOUT_BYTES = 1024 * 1024  # as JSON; a lending protocol's has 60 kB


def packed(layout: object) -> bytes | None:
    """Return a layout as it is stored; None for one that is too large, too deep, or no object."""
    if not isinstance(layout, dict):
        return None
    try:
        text = orjson.dumps(layout)
    except orjson.JSONEncodeError:
        return None
    return zlib.compress(text, 6) if len(text) <= MAX_LAYOUT_BYTES else None


def unpacked(stored: bytes) -> str:
    """Return the JSON of a stored layout."""
    return zlib.decompressobj().decompress(stored, MAX_LAYOUT_BYTES).decode("utf-8", "replace")
