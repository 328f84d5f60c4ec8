"""e2store files: entries of a type, a length and data, of which blocks' parts are compressed.

Both formats are specified by eth-clients/e2store-format-specs: formats/era1.md (before the merge;
the parts of a block follow each other) and formats/ere.md (all headers, then all bodies, then all
receipts). Entries are walked one after another, so no offset in a file is trusted.
"""

import mmap
import re
import shutil
from collections import defaultdict
from itertools import accumulate
from pathlib import Path
from struct import Struct, error
from tempfile import TemporaryFile
from typing import IO, NamedTuple

import cramjam

from scan.extensions.backfill.plan import BLOCKS_OF_FILE, CannotBackfill

VERSION, HEADER, BODY, RECEIPTS, SLIM_RECEIPTS = 0x3265, 3, 4, 5, 10
BLOCK_INDEX, DYNAMIC_BLOCK_INDEX = 0x3266, 0x3267
# The bound on a block's part when it is decompressed: blocks have 10 MiB at most (EIP-7934), and
# receipts 8 MB with a gas limit of 60 million.
MAX_PART_BYTES = 32 << 20
MAX_COMPRESSED_BYTES = MAX_PART_BYTES + MAX_PART_BYTES // 4
MAX_ENTRIES = 6 * BLOCKS_OF_FILE
MAX_FILE_BYTES = 8 << 30

_ENTRY = Struct("<HIH")  # type, length, reserved
_NUMBER = Struct("<Q")
_NAME = re.compile(
    r"([a-z0-9][a-z0-9_.-]{0,40}?)-([0-9]{5,9})-([0-9a-f]{8})((?:-[a-z]+)*)\.(era1|ere|erae)"
)


class BadFile(CannotBackfill):
    """A file that is damaged, altered, of another chain or not readable here; the message says
    what is wrong."""


class FileName(NamedTuple):
    """What a file's name says: `<network>-<era>-<hash>[-<profile>].<format>`."""

    text: str
    network: str
    era: int
    profile: str

    @property
    def first_block(self) -> int:
        return self.era * BLOCKS_OF_FILE


def parse_name(text: str) -> FileName | None:
    """Return a file's name; None where it is not one of an era1 or ere file."""
    match = _NAME.fullmatch(text)
    return match and FileName(text, match[1], int(match[2]), match[4])


class Parts(NamedTuple):
    """The parts of a block, as consensus encodes them."""

    header: bytes
    body: bytes
    receipts: bytes
    are_slim: bool  # whether receipts have no bloom (ere)


class E2File:
    """An open file, to be closed."""

    def __init__(self, path: Path) -> None:
        """Raises BadFile, OSError."""
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if not _ENTRY.size < size <= MAX_FILE_BYTES:
                raise BadFile(f"it has {size:,} bytes")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._content = mmap.mmap(-1, MAX_PART_BYTES)  # of a part, in memory that is used as needed
        try:
            entries = _walk(self._data)
            self.first_block, self.count = _read_index(self._data, entries)
            self._headers, self._bodies = entries[HEADER], entries[BODY]
            self._are_slim = bool(entries[SLIM_RECEIPTS])
            self._receipts = entries[SLIM_RECEIPTS] or entries[RECEIPTS]
            if not self._receipts:
                raise BadFile("it has no receipts (profile noreceipts), which transactions need")
            counts = {len(self._headers), len(self._bodies), len(self._receipts), self.count}
            if len(counts) > 1 or not 0 < self.count <= BLOCKS_OF_FILE:
                raise BadFile("its blocks are not as many as its index says")
        except BadFile:
            self.close()
            raise

    def close(self) -> None:
        self._data.close()
        self._content.close()

    @property
    def last_block(self) -> int:
        return self.first_block + self.count - 1

    def header(self, number: int) -> bytes:
        return self._part(self._headers[number - self.first_block])

    def parts(self, number: int) -> Parts:
        """Return the parts of a block, whose bytes nothing proves yet. Raises BadFile."""
        index = number - self.first_block
        kinds = self._headers, self._bodies, self._receipts
        header, body, receipts = (self._part(entries[index]) for entries in kinds)
        return Parts(header, body, receipts, self._are_slim)

    def _part(self, entry: slice) -> bytes:
        if entry.stop - entry.start > MAX_COMPRESSED_BYTES:
            raise BadFile(f"a part of a block has more than {MAX_PART_BYTES:,} bytes")
        try:
            framed = self._data[entry]
            size = cramjam.snappy.decompress_into(framed, self._content)
        except cramjam.DecompressionError as fault:  # also where it has more bytes
            raise BadFile(f"a part of a block cannot be decompressed: {fault}"[:200]) from None
        return self._content[:size]


def _walk(data: mmap.mmap) -> dict[int, list[slice]]:
    """Return where the data of a file's entries are, by type, in their order."""
    entries: dict[int, list[slice]] = defaultdict(list)
    start, size, walked = 0, len(data), 0
    while start < size:
        try:
            type_, length, reserved = _ENTRY.unpack_from(data, start)
        except error:
            raise BadFile("it ends in the middle of an entry") from None
        walked += 1
        start += _ENTRY.size
        if walked == 1 and (type_, length) != (VERSION, 0):
            raise BadFile("it is no e2store file")
        if reserved or start + length > size:
            raise BadFile(f"entry {walked} is longer than the file, or malformed")
        if walked > MAX_ENTRIES:
            raise BadFile(f"it has more than {MAX_ENTRIES:,} entries")
        entries[type_].append(slice(start, start + length))
        start += length
    return entries


def _read_index(data: mmap.mmap, entries: dict[int, list[slice]]) -> tuple[int, int]:
    """Return the first block and the number of blocks by the index, the last entry."""
    indexes = entries[BLOCK_INDEX] + entries[DYNAMIC_BLOCK_INDEX]
    if len(indexes) != 1 or indexes[0].stop != len(data):
        raise BadFile("it does not end in its index of blocks")
    [index] = indexes
    if index.stop - index.start < 2 * _NUMBER.size:
        raise BadFile("its index of blocks is too short")
    [first] = _NUMBER.unpack_from(data, index.start)
    [count] = _NUMBER.unpack_from(data, index.stop - _NUMBER.size)
    return first, count


class E2Writer:
    """Writes an ere file of profile noproofs: all headers, bodies and slim receipts of consecutive
    blocks, and their index. Until then they are in unnamed files of a folder."""

    def __init__(self, folder: Path, first_block: int) -> None:
        self._first_block = first_block
        self._sizes: dict[int, list[int]] = {HEADER: [], BODY: [], SLIM_RECEIPTS: []}
        self._files = {kind: TemporaryFile(dir=folder) for kind in self._sizes}  # noqa: SIM115

    def add(self, parts: Parts) -> None:
        for kind, part in zip(self._files, parts[:3], strict=True):
            entry = _entry(kind, bytes(cramjam.snappy.compress(part)))
            self._files[kind].write(entry)
            self._sizes[kind].append(len(entry))

    def write(self, file: IO[bytes]) -> None:
        file.write(_entry(VERSION, b""))
        offsets = []
        for kind, part in self._files.items():
            offsets.append([*accumulate(self._sizes[kind], initial=file.tell())][:-1])
            part.seek(0)
            shutil.copyfileobj(part, file)
        base = file.tell()
        numbers = [self._first_block]
        for of_block in zip(*offsets, strict=True):
            numbers += [(offset - base) % 2**64 for offset in of_block]
        numbers += [len(offsets), len(offsets[0])]
        file.write(_entry(DYNAMIC_BLOCK_INDEX, b"".join(map(_NUMBER.pack, numbers))))

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def _entry(type_: int, data: bytes) -> bytes:
    return _ENTRY.pack(type_, len(data), 0) + data
