"""The files of a backfill: a folder for each kind, in it a file for each range of blocks.

The file of a range's blocks is written last, so where it exists, all files of the range do.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow
from pyarrow import parquet

from scan.extensions.backfill.block_columns import SPOOLED
from scan.extensions.exports.parquet_columns import schema
from scan.extensions.exports.parquet_files import write_file

INCOMING = "incoming"  # the folder of files that are being written
BLOCKS_OF_FILE = 8_192  # of an era1 or ere file
# Kinds that are selected from candidates, by what contracts are.
SELECTED = {"token_transfers": "transfer_events", "dex_trades": "swap_events"}


class Range(NamedTuple):
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of its files, by which they sort along the chain."""
        return f"{self.first:012d}-{self.last:012d}.parquet"


class RangeEnds(NamedTuple):
    parent_hash: bytes  # of the first block
    first_hash: bytes
    hash: bytes  # of the last block


def split(first: int, last: int, blocks: int) -> list[Range]:
    return [Range(start, min(start + blocks - 1, last)) for start in range(first, last + 1, blocks)]


class RangeFiles:
    """The files of one backfill, in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, blocks: Range) -> Path:
        return self.folder / kind / blocks.name

    def has(self, blocks: Range) -> bool:
        return self.path("blocks", blocks).exists()

    def have(self, ranges: Sequence[Range], first: int, last: int) -> bool:
        """Return whether all of the ranges that have blocks from `first` up to `last` are there."""
        return all(map(self.has, (r for r in ranges if r.first <= last and first <= r.last)))

    def write(self, blocks: Range, tables: Mapping[str, pyarrow.Table]) -> None:
        for kind in SPOOLED:  # blocks are the last
            write_file(self.path(kind, blocks), tables[kind])

    def move_from(self, written: "RangeFiles", blocks: Range) -> None:
        """Move all files of a range here that one worker has written. They are never mixed: files
        of two workers may be of two forks."""
        for kind in SPOOLED:
            path = self.path(kind, blocks)
            path.parent.mkdir(exist_ok=True)
            written.path(kind, blocks).replace(path)

    def is_whole(self, blocks: Range) -> bool:
        """Return whether the files of a range have the rows and columns that they must have."""
        try:
            rows = {kind: self._require_columns(kind, blocks) for kind in SPOOLED}
            columns = ["number", "transaction_count"]
            table = parquet.read_table(self.path("blocks", blocks), columns=columns)
        except (OSError, pyarrow.ArrowException, ValueError):
            return False
        numbers: list[int] = table["number"].to_pylist()
        transactions: list[int] = table["transaction_count"].to_pylist()
        is_range = numbers == list(range(blocks.first, blocks.last + 1))
        return is_range and sum(transactions) == rows["transactions"]

    def _require_columns(self, kind: str, blocks: Range) -> int:
        """Return how many rows a file has. Raises ValueError for other columns."""
        file = parquet.ParquetFile(self.path(kind, blocks))
        if not file.schema_arrow.equals(schema(SPOOLED[kind])):
            raise ValueError("other columns")
        return int(file.metadata.num_rows)

    def ends(self, blocks: Range) -> RangeEnds:
        hashes = parquet.read_table(self.path("blocks", blocks), columns=["hash", "parent_hash"])
        return RangeEnds(
            hashes["parent_hash"][0].as_py(), hashes["hash"][0].as_py(), hashes["hash"][-1].as_py()
        )

    def row_count(self, kind: str, blocks: Range) -> int:
        return int(parquet.read_metadata(self.path(kind, blocks)).num_rows)

    def remove(self, blocks: Range) -> None:
        """Remove the files of a range, the file of its blocks first."""
        for kind in [*reversed(list(SPOOLED)), *SELECTED]:
            self.path(kind, blocks).unlink(missing_ok=True)


def broken_links(files: RangeFiles, ranges: Sequence[Range]) -> Iterator[tuple[Range, Range]]:
    """Yield neighbouring ranges of which the second does not follow on the first."""
    last_hash: bytes | None = None
    for number, blocks in enumerate(ranges):
        ends = files.ends(blocks)
        if last_hash is not None and ends.parent_hash != last_hash:
            yield ranges[number - 1], blocks
        last_hash = ends.hash


def remove_beside(
    files: RangeFiles, ranges: Sequence[Range], blocks: Collection[tuple[int, int]]
) -> None:
    """Remove the files of the ranges that have any of `blocks`, pairs of first and last block, and
    of the ranges before and after them."""
    for number, range_ in enumerate(ranges):
        if any(range_.first <= last and first <= range_.last for first, last in blocks):
            for beside in ranges[max(number - 1, 0) : number + 2]:
                files.remove(beside)
