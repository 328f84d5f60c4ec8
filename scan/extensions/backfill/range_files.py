"""The files of a backfill: a folder for each kind, in it a file for each range of blocks. The file
of a range's blocks is written last, so where it exists, all files of the range do.

Machines share them as archives in a folder, or a bucket of S3. The archive of a range is named by
the digest of its content: a second writer of the same content changes nothing, and a reader gets
the content that the writer reported, or an error.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow
from pyarrow import fs, parquet

from scan.extensions.backfill.block_columns import SPOOLED
from scan.extensions.backfill.plan import Range, SpoolFailed
from scan.extensions.exports.parquet import schema, write_file
from scan.indexer.block_rows import BODIES

INCOMING = "incoming"  # the folder of files that are being written
# Kinds that are selected from candidates, by what contracts are.
SELECTED = {"token_transfers": "transfer_events", "dex_trades": "swap_events"}


class RangeEnds(NamedTuple):
    parent_hash: bytes  # of the first block
    first_hash: bytes
    hash: bytes  # of the last block


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
            write_file(self.path(kind, blocks), tables[kind], is_compressed=kind == BODIES)

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


FOLDER = "scan-ranges"
MAX_ARCHIVE_BYTES = 4 << 30
COPIED_BYTES = 1 << 20


class StoreFailed(SpoolFailed):
    """The storage cannot be used, or lacks a whole archive; the message says why."""


class RangeStore:
    """The folder of one backfill's archives, at a URI or a path, which others may share."""

    def __init__(self, uri: str, name: str) -> None:
        if urlsplit(uri).username:
            message = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not keys in --files"
            raise StoreFailed(message)
        try:
            self._filesystem, folder = fs.FileSystem.from_uri(uri)
        except (pyarrow.ArrowException, OSError) as error:
            raise StoreFailed(f"--files {uri}: {error}") from None
        self._folder = f"{folder.rstrip('/')}/{FOLDER}-{name}"

    def make(self) -> None:
        """Make the folder, empty. Raises StoreFailed."""
        self.remove()
        try:
            self._filesystem.create_dir(self._folder, recursive=True)
        except OSError as error:
            raise StoreFailed(str(error)) from None

    def remove(self) -> None:
        with suppress(OSError):
            self._filesystem.delete_dir(self._folder)

    def put(self, files: RangeFiles, blocks: Range) -> str:
        """Write the archive of a range; return its digest. Raises OSError."""
        archive = files.folder / "archive"
        _pack(files, blocks, archive)
        with archive.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            path = self._path(blocks, digest)
            if not isinstance(self._filesystem, fs.LocalFileSystem):
                self._copy(file, path)  # an object appears only when it is whole
                return digest
            temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
            self._copy(file, temporary)
            self._filesystem.move(temporary, path)
        return digest

    def take(self, files: RangeFiles, blocks: Range, digest: str, folder: Path) -> None:
        """Move a range from the storage to its files, by way of `folder`. Raises StoreFailed."""
        folder.mkdir(parents=True, exist_ok=True)
        archive, received = folder / "archive", RangeFiles(folder)
        try:
            self._receive(self._path(blocks, digest), archive)
            with archive.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise StoreFailed("the archive is not what its worker has written")
            _unpack(archive, received, blocks)
            if not received.is_whole(blocks):
                raise StoreFailed("the files do not have the rows and columns of their range")
            files.move_from(received, blocks)
            self._filesystem.delete_file(self._path(blocks, digest))
        except (OSError, BadZipFile, KeyError) as error:
            raise StoreFailed(str(error)) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _path(self, blocks: Range, digest: str) -> str:
        return f"{self._folder}/{blocks.first}-{blocks.last}.{digest}"

    def _copy(self, file: IO[bytes], path: str) -> None:
        with self._filesystem.open_output_stream(path) as stream:
            shutil.copyfileobj(file, stream, COPIED_BYTES)

    def _receive(self, path: str, archive: Path) -> None:
        remaining = MAX_ARCHIVE_BYTES
        with self._filesystem.open_input_stream(path) as stream, archive.open("wb") as file:
            while piece := stream.read(COPIED_BYTES):
                remaining -= len(piece)
                if remaining < 0:
                    raise StoreFailed(f"the archive has more than {MAX_ARCHIVE_BYTES:,} bytes")
                file.write(piece)


def _pack(files: RangeFiles, blocks: Range, archive: Path) -> None:
    """Write the archive of a range. Equal files make equal archives."""
    with ZipFile(archive, "w", ZIP_STORED) as zip_file:
        for kind in SPOOLED:
            with (
                files.path(kind, blocks).open("rb") as file,
                zip_file.open(ZipInfo(kind), "w", force_zip64=True) as member,
            ):
                shutil.copyfileobj(file, member, COPIED_BYTES)


def _unpack(archive: Path, files: RangeFiles, blocks: Range) -> None:
    with ZipFile(archive) as zip_file:
        for kind in SPOOLED:
            info = zip_file.getinfo(kind)
            if info.compress_type != ZIP_STORED:  # uncompressed, it might have any size
                raise StoreFailed("the archive is compressed")
            path = files.path(kind, blocks)
            path.parent.mkdir()
            with zip_file.open(info) as member, path.open("wb") as file:
                shutil.copyfileobj(member, file, COPIED_BYTES)
                file.flush()
                os.fsync(file.fileno())
