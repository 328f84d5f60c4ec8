"""Exports tables into a folder, range by range of blocks; an interrupted export is continued. The
folder's manifest has its chain, files, and ranges of blocks with their hashes.

Each range is read in a snapshot of its own, which lasts seconds. Hashes show that ranges are of one
chain: the first block of each is a child of the last block of the range before. Where a fork
removed that block, its range is removed and exported again.
"""

import logging
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from tqdm import tqdm

from scan.cached_values import json_decoder
from scan.database.connection import Database
from scan.errors import ScanError, Unavailable
from scan.extensions.exports import parquet, table_files
from scan.extensions.exports.hooks import AddedTable
from scan.files import UNFINISHED, held_folder, whole_file
from scan.hex import to_hex

FILE_NAME = "manifest.json"
VERSION = 1


class ExportedFile(msgspec.Struct, frozen=True):
    """A file of an export; `path` is relative to the folder."""

    path: str
    rows: int
    bytes: int


class ExportedRange(msgspec.Struct, frozen=True):
    """A range of exported blocks, both ends included; hashes are hex, and `parent_hash` is the
    first block's."""

    block_from: int
    block_to: int
    parent_hash: str
    last_hash: str
    files: dict[str, ExportedFile]


class ExportedTokens(msgspec.Struct, frozen=True):
    """The exported tokens, as they were at a block."""

    block: int
    block_hash: str
    file: ExportedFile


class Manifest(msgspec.Struct):
    """The content of an export's folder; `ranges` are consecutive, without gaps."""

    chain_id: str
    genesis_hash: str
    format: str
    tables: list[str]
    blocks_per_file: int
    block_from: int
    limbs: bool = True  # of a folder of an earlier version
    ranges: list[ExportedRange] = []
    tokens: ExportedTokens | None = None
    version: int = VERSION

    def kind(self) -> "Manifest":
        """Return what an export must share with the folder's in order to continue it."""
        return msgspec.structs.replace(self, tables=sorted(self.tables), ranges=[], tokens=None)

    def next_block(self) -> int:
        return self.ranges[-1].block_to + 1 if self.ranges else self.block_from

    def files(self) -> list[ExportedFile]:
        files = [file for exported in self.ranges for file in exported.files.values()]
        return [*files, self.tokens.file] if self.tokens else files

    def write(self, folder: Path) -> None:
        with whole_file(folder / FILE_NAME) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self), indent=2))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the folder's manifest, or None where there is none; raises ScanError where it cannot
    be read."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    try:
        return json_decoder(Manifest).decode(path.read_bytes())
    except msgspec.MsgspecError as error:
        raise ScanError(f"{path} cannot be read: {error}") from None


log = logging.getLogger(__name__)

_EXPORTED = re.compile(rf"\d{{12,}}-\d{{12,}}\.\w+|\..+{re.escape(UNFINISHED)}", re.ASCII)

MAX_FORKS = 100  # in a row
FORK_WAIT_S = 0.1  # in which the indexer writes the blocks of the other branch


class ExportOptions(NamedTuple):
    """The options of an export; `block_to` is None for the newest block."""

    tables: Sequence[str]
    format: str
    folder: Path
    blocks_per_file: int
    block_from: int | None
    block_to: int | None
    added: Mapping[str, AddedTable] = {}  # tables of extensions
    limbs: bool = False  # a uint256 as four columns of Parquet files


class Chain(NamedTuple):
    """The indexed chain, with the numbers of its oldest and newest indexed blocks."""

    id: str
    genesis_hash: bytes
    oldest: int
    newest: int
    newest_hash: bytes


def export(database: Database, options: ExportOptions) -> Manifest:
    """Export the tables; raises ScanError where the folder holds another export, or one that runs,
    OSError where files cannot be written."""
    chain = chain_of(database)
    with held_folder(options.folder):
        manifest = _open_manifest(options, chain)
        last = chain.newest if options.block_to is None else min(options.block_to, chain.newest)
        if {*manifest.tables} - {table_files.TOKENS}:
            _export_ranges(database, options, manifest, last)
        if table_files.TOKENS in manifest.tables:
            manifest.tokens = _export_tokens(database, options)
            manifest.write(options.folder)
    return manifest


def _export_ranges(
    database: Database, options: ExportOptions, manifest: Manifest, last: int
) -> None:
    """Export ranges up to block `last`, or to the newest where a fork has shortened the chain."""
    if manifest.ranges:  # the newest goes where its file can now have more blocks
        newest = manifest.ranges[-1]
        if newest.block_to < min(last, _range_end(manifest, newest.block_from)):
            manifest.ranges.pop()
    forks = 0
    with tqdm(unit=" blocks", disable=None, leave=False) as bar:
        while True:
            _drop_orphaned(database, manifest)
            manifest.write(options.folder)
            _remove_unknown(options.folder, manifest)
            bar.total = last - manifest.block_from + 1
            bar.update(manifest.next_block() - manifest.block_from - bar.n)
            if manifest.next_block() > last:
                return
            exported = _export_range(database, options, manifest, last)
            if exported is not None:
                manifest.ranges.append(exported)
                forks = 0
                continue
            forks += 1
            if forks > MAX_FORKS:
                raise ScanError("The index has no whole range of blocks; see `scan audit`.")
            time.sleep(FORK_WAIT_S)
            last = min(last, chain_of(database).newest)


def chain_of(database: Database) -> Chain:
    """Return the indexed chain; raises Unavailable where it has no block yet."""
    row = database.row("exports/chain_get")
    if row is None:
        raise Unavailable("Nothing is indexed yet.")
    chain_id, genesis_hash, oldest, newest, newest_hash = row
    return Chain(chain_id, bytes(genesis_hash), oldest, newest, bytes(newest_hash))


def _open_manifest(options: ExportOptions, chain: Chain) -> Manifest:
    """Return the folder's manifest, or a new one where there is none; raises ScanError where the
    folder holds another export."""
    first = chain.oldest if options.block_from is None else max(options.block_from, chain.oldest)
    manifest = Manifest(
        chain.id,
        to_hex(chain.genesis_hash),
        options.format,
        [*options.tables],
        options.blocks_per_file,
        first,
        options.limbs,
    )
    earlier = read_manifest(options.folder)
    if earlier is not None and earlier.kind() != manifest.kind():
        raise ScanError(
            f"{options.folder} holds an export of another chain, or with other tables, --from,"
            " --blocks-per-file, --format or --limbs: give another --output."
        )
    return earlier or manifest


def indexed_hash(database: Database, number: int) -> str | None:
    """Return the hash of a block in hex, None where it is not indexed."""
    (block_hash,) = database.rows("queries/blocks_get_hash", number=number)[0][1:]
    return block_hash and to_hex(bytes(block_hash))


def _drop_orphaned(database: Database, manifest: Manifest) -> None:
    """Remove ranges whose last block is no longer in the chain."""
    while manifest.ranges:
        newest = manifest.ranges[-1]
        if indexed_hash(database, newest.block_to) == newest.last_hash:
            return
        log.warning("blocks from %s on were reorganised: exporting anew", newest.block_from)
        manifest.ranges.pop()


def _range_end(manifest: Manifest, first: int) -> int:
    """Return the last block of the file with block `first`; files begin at multiples of their
    size."""
    return first - first % manifest.blocks_per_file + manifest.blocks_per_file - 1


def _export_range(
    database: Database, options: ExportOptions, manifest: Manifest, last: int
) -> ExportedRange | None:
    """Export the next range and return it; None where blocks are missing, or where the first is
    no child of the last exported block."""
    first = manifest.next_block()
    last = min(last, _range_end(manifest, first))
    with database.transaction(snapshot=True):
        blocks = table_files.count_rows(database, first, last)
        if [block.number for block in blocks] != list(range(first, last + 1)):
            return None
        parent_hash = to_hex(blocks[0].parent_hash)
        if manifest.ranges and manifest.ranges[-1].last_hash != parent_hash:
            return None
        name = f"{first:012d}-{last:012d}"
        files = {
            table: _write_file(
                options, table, f"{table}/{name}", rows_of(database, table, blocks, options)
            )
            for table in manifest.tables
            if table != table_files.TOKENS
        }
    return ExportedRange(first, last, parent_hash, to_hex(blocks[-1].hash), files)


def _export_tokens(database: Database, options: ExportOptions) -> ExportedTokens:
    with database.transaction(snapshot=True):
        chain, tokens = chain_of(database), table_files.TOKENS
        file = _write_file(options, tokens, tokens, table_files.token_rows(database))
    return ExportedTokens(chain.newest, to_hex(chain.newest_hash), file)


def rows_of(
    database: Database, table: str, blocks: Sequence[table_files.BlockRows], options: ExportOptions
) -> Iterable[table_files.Values]:
    """Return the rows of consecutive blocks in batches, by column."""
    if table in options.added:
        return options.added[table].rows(database, blocks[0].number, blocks[-1].number)
    return table_files.range_rows(database, table, blocks)


def columns_of(table: str, options: ExportOptions) -> dict[str, parquet.ColumnFormat]:
    """Return the columns of a table as files have them: of CSV, and as limbs, those stored."""
    added = options.added.get(table)
    columns = parquet.of_types(added.columns) if added else table_files.columns_of(table)
    is_stored = options.limbs or options.format == "csv"
    return columns if is_stored else parquet.for_engines(columns)


def _write_file(
    options: ExportOptions, table: str, name: str, batches: Iterable[table_files.Values]
) -> ExportedFile:
    """Write a file of a table; `name` is its path in the folder, without the format."""
    path, rows = f"{name}.{options.format}", 0
    columns = columns_of(table, options)
    with table_files.new_file(options.folder / path, columns) as write:
        for values in batches:
            write(values)
            rows += len(next(iter(values.values())))
    return ExportedFile(path, rows, (options.folder / path).stat().st_size)


def _remove_unknown(folder: Path, manifest: Manifest) -> None:
    """Remove the files that a killed export or a fork left in the tables' folders, but no files
    with other names than an export's."""
    listed_paths = {file.path for file in manifest.files()}
    for table in manifest.tables:
        for path in (folder / table).glob("*"):
            is_listed = path.relative_to(folder).as_posix() in listed_paths
            if not is_listed and _EXPORTED.fullmatch(path.name):
                path.unlink()
