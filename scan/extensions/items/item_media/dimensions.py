"""The number of pixels that a picture claims in its header, for which a decoder allocates memory.
Pure."""

import struct
from collections.abc import Callable, Mapping

# Frame headers of JPEG, ITU-T T.81 table B.1: not DHT (C4), JPG (C8) and DAC (CC).
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


def pixels(content: bytes, content_type: str) -> int:
    """Return width times height; 0 where the header has no size: then no browser shows it."""
    try:
        width, height = _SIZES[content_type](content)
    except (struct.error, IndexError, ValueError):
        return 0
    return width * height


def _jpeg(content: bytes) -> tuple[int, int]:
    """Return the size in the first frame header; decoders refuse a second one. Like decoders, skip
    bytes between segments."""
    position = 2
    while True:
        position = content.index(b"\xff", position)
        marker = content[position + 1]
        if marker in (0x00, 0xFF):  # no marker; fill bytes
            position += 1
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, position + 5)
            return width, height
        elif marker in _WITHOUT_LENGTH:
            position += 2
        else:
            position += 2 + struct.unpack_from(">H", content, position + 2)[0]


def _webp(content: bytes) -> tuple[int, int]:
    """Return the canvas of VP8X, or the size of the only picture (RFC 9649)."""
    chunk = content[12:16]
    if chunk == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    if chunk == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise IndexError


_SIZES: Mapping[str, Callable[[bytes], tuple[int, int]]] = {
    "image/png": lambda content: struct.unpack_from(">II", content, 16),
    "image/gif": lambda content: struct.unpack_from("<HH", content, 6),
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
