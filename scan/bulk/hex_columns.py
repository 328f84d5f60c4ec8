"""Columns of hex text as Arrow's, all values at once: what scan/hex.py does to one of them.

Raises Surprising for whatever is not as nearly all of it is; the caller then decodes each value.
"""

from binascii import unhexlify
from collections.abc import Sequence
from typing import TypeAlias

import numpy
import pyarrow
from numpy.typing import NDArray

from scan.exports.columns import LIMBS, UINT256_BYTES

Bytes: TypeAlias = NDArray[numpy.uint8]  # a row of bytes for each value
Numbers: TypeAlias = NDArray[numpy.int64]
Mask: TypeAlias = NDArray[numpy.bool_]

QUANTITY_DIGITS = 2 * UINT256_BYTES
WIDTHS = (16, 32, QUANTITY_DIGITS)  # in digits, of one to four limbs
_PREFIX = 2  # "0x"
_NO_DIGIT = 255
# The value of each digit, by its character.
_NIBBLES = bytes(
    int(chr(code), 16) if chr(code) in "0123456789abcdefABCDEF" else _NO_DIGIT
    for code in range(256)
)


class Surprising(Exception):
    """Something that is not decoded in columns, be it right or wrong."""


def fixed(texts: Sequence[str], size: int) -> Bytes:
    """DATA of `size` bytes each."""
    width = _PREFIX + 2 * size
    if texts and set(map(len, texts)) != {width}:
        raise Surprising
    rows = _characters(texts).reshape(-1, width)
    _require_prefix(rows[:, 0], rows[:, 1])
    try:
        content = unhexlify(numpy.ascontiguousarray(rows[:, _PREFIX:]))
    except ValueError:
        raise Surprising from None
    return numpy.frombuffer(content, numpy.uint8).reshape(-1, size)


class Texts:
    """DATA of any length, of which words are taken."""

    def __init__(self, texts: Sequence[str]) -> None:
        characters = _characters(texts)
        digits = numpy.fromiter(map(len, texts), numpy.int64, len(texts))
        ends = numpy.cumsum(digits)
        if digits.size and (digits.min() < _PREFIX or (digits & 1).any()):
            raise Surprising
        starts = ends - digits
        _require_prefix(characters[starts], characters[starts + 1])
        self._nibbles = numpy.frombuffer(characters.tobytes().translate(_NIBBLES), numpy.uint8)
        if numpy.count_nonzero(self._nibbles == _NO_DIGIT) != digits.size:  # an x each
            raise Surprising
        self._starts = starts + _PREFIX
        self.sizes: Numbers = (digits - _PREFIX) // 2

    def words(self, rows: Numbers) -> Bytes:
        """The first 32 bytes of rows that have as many."""
        return _packed(self._nibbles[self._starts[rows][:, None] + numpy.arange(QUANTITY_DIGITS)])

    def value(self, row: int) -> bytes:
        start = self._starts[row]
        digits = self._nibbles[start : start + 2 * self.sizes[row]].reshape(-1, 2)
        return bytes(_packed(digits))

    def binary(self, kept: Mask) -> pyarrow.Array:
        """Those of the rows that are kept, whole."""
        is_digit: Mask = numpy.ones(len(self._nibbles), numpy.bool_)
        is_digit[self._starts - 1] = is_digit[self._starts - 2] = False
        is_digit &= numpy.repeat(kept, 2 * self.sizes + _PREFIX)
        digits = self._nibbles[is_digit].reshape(-1, 2)
        sizes = self.sizes[kept]
        return variable(_packed(digits), sizes, len(sizes))


def quantities(texts: Sequence[str]) -> Bytes:
    """QUANTITY as big-endian bytes: 8, 16 or 32 each, in which all of them fit."""
    count = len(texts)
    lengths = numpy.fromiter(map(len, texts), numpy.int64, count)
    if not count:
        return numpy.zeros((0, WIDTHS[0] // 2), numpy.uint8)
    most = int(lengths.max()) - _PREFIX
    if lengths.min() <= _PREFIX or most > QUANTITY_DIGITS:
        raise Surprising
    width = next(width for width in WIDTHS if most <= width)
    characters = _characters(texts)
    ends = numpy.cumsum(lengths)
    starts = ends - lengths
    _require_prefix(characters[starts], characters[starts + 1])
    # The width before the first value's end may begin before the text.
    padded = bytes(width) + characters.tobytes().translate(_NIBBLES)
    nibbles = numpy.frombuffer(padded, numpy.uint8)
    rows = nibbles[ends[:, None] + numpy.arange(width)]
    rows[numpy.arange(width, 0, -1) > (lengths - _PREFIX)[:, None]] = 0
    if rows.max() == _NO_DIGIT:
        raise Surprising
    return _packed(rows)


def limbs(big_endian: Bytes) -> list[NDArray[numpy.uint64]]:
    """Of unsigned integers: LIMBS columns, lowest first."""
    words = numpy.ascontiguousarray(big_endian).view(">u8").astype(numpy.uint64)
    columns = [numpy.ascontiguousarray(words[:, n]) for n in range(words.shape[1])][::-1]
    return columns + [numpy.zeros(len(words), numpy.uint64)] * (LIMBS - len(columns))


def binary(rows: Bytes, mask: Mask | None = None) -> pyarrow.Array:
    """Fixed-size binary; null where the mask is true."""
    count, size = rows.shape
    return pyarrow.Array.from_buffers(
        pyarrow.binary(size),
        count,
        [_validity(mask), pyarrow.py_buffer(numpy.ascontiguousarray(rows))],
    )


def unsigned(big_endian: Bytes, mask: Mask | None = None) -> pyarrow.Array:
    """Binary without leading zeros, so that zero has no byte; null where the mask is true."""
    significant = numpy.logical_or.accumulate(big_endian != 0, axis=1)
    return variable(big_endian[significant], significant.sum(axis=1), len(big_endian), mask)


def leading(rows: Bytes, sizes: Numbers, mask: Mask | None = None) -> pyarrow.Array:
    """Binary of the first bytes of each row, as many as its size says."""
    kept = numpy.arange(rows.shape[1]) < sizes[:, None]
    return variable(rows[kept], sizes, len(rows), mask)


def optional(texts: Sequence[str | None], stand_in: str) -> tuple[Sequence[str], Mask | None]:
    """With the stand-in for None, and where that is."""
    if None not in texts:
        return texts, None  # type: ignore[return-value]
    mask = numpy.fromiter((text is None for text in texts), numpy.bool_, len(texts))
    return [stand_in if text is None else text for text in texts], mask


def variable(content: Bytes, sizes: Numbers, count: int, mask: Mask | None = None) -> pyarrow.Array:
    offsets: NDArray[numpy.int32] = numpy.zeros(count + 1, numpy.int32)
    numpy.cumsum(sizes, out=offsets[1:])
    return pyarrow.Array.from_buffers(
        pyarrow.binary(),
        count,
        [
            _validity(mask),
            pyarrow.py_buffer(offsets),
            pyarrow.py_buffer(numpy.ascontiguousarray(content)),
        ],
    )


def _validity(mask: Mask | None) -> pyarrow.Buffer | None:
    if mask is None:
        return None
    return pyarrow.py_buffer(numpy.packbits(~mask, bitorder="little"))


def _characters(texts: Sequence[str]) -> Bytes:
    try:
        return numpy.frombuffer("".join(texts).encode("ascii"), numpy.uint8)
    except UnicodeEncodeError:
        raise Surprising from None


def _require_prefix(first: Bytes, second: Bytes) -> None:
    if (first != ord("0")).any() or (second != ord("x")).any():
        raise Surprising


def _packed(nibbles: Bytes) -> Bytes:
    return (nibbles[:, 0::2] << 4) | nibbles[:, 1::2]


def integers(big_endian: Bytes) -> list[int]:
    """As Python's ints."""
    if big_endian.shape[1] == WIDTHS[0] // 2:
        numbers: list[int] = limbs(big_endian)[0].tolist()
        return numbers
    return [int.from_bytes(row.tobytes()) for row in big_endian]
