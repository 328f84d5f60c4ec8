"""`scan export iceberg`: tables of Apache Iceberg, to which each run appends the blocks that have
become final, SCAN_FINALITY behind the newest.

A table's snapshot names the last block whose rows it has, with its hash, and is committed with
these rows: so no kill loses or repeats any, and no other note can disagree. A commit is atomic for
one table. `blocks` is the last, so all tables have all rows of the blocks that are there. Tokens
are no rows of blocks: each run replaces them by those of the newest block.
"""

import argparse
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pyarrow
from pyiceberg import exceptions
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import ancestors_of
from sqlalchemy.exc import SQLAlchemyError

from scan.database.connection import Database
from scan.database.outages import log_pause
from scan.errors import ScanError, SettingError, Unavailable
from scan.extensions.exports import parquet, table_export, table_files
from scan.extensions.exports.table_export import Chain, ExportOptions
from scan.files import held_folder
from scan.hex import to_hex
from scan.observability.logs import print_lines

log = logging.getLogger(__name__)

NAME = "scan"  # of the catalog, which PyIceberg's own settings name
GENESIS, LAST_BLOCK, LAST_HASH = "scan.genesis-hash", "scan.last-block", "scan.last-hash"
PROPERTIES = {
    # A commit in between may be another export's of the same rows.
    "commit.retry.num-retries": "0",
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.target-file-size-bytes": str(128 * 1024 * 1024),  # in memory, before compression
}
# OSError is PyArrow's and the one that requests' are, too.
FAILURES = OSError, SQLAlchemyError, exceptions.RESTError, exceptions.CommitFailedException


class Contradiction(ScanError):
    """A table has rows that the index has not, or lacks rows that it no longer has."""


def run(
    database: Database,
    warehouse: str,
    options: argparse.Namespace,
    read_options: Callable[[], ExportOptions],
    depth: int,
) -> int:
    """Export once, or with --watch again and again, where what is away is waited for. Return the
    exit code."""
    while True:
        try:
            with opened(warehouse, options.catalog) as catalog:
                export(database, catalog, read_options(), depth)
        except (Unavailable, *FAILURES) as error:
            if options.watch is None:
                raise ScanError(f"{warehouse}: {error}") from error
            log_pause(log, "nothing is exported at the moment", error)
        if options.watch is None:
            return 0
        time.sleep(options.watch)


@contextmanager
def opened(warehouse: str, uri: str | None) -> Iterator[Catalog]:
    """Open the catalog of a warehouse: a folder, in which one process works at a time, the URI of a
    storage, or a name that a REST catalog has; without its URI the one in the folder."""
    is_folder = "://" not in warehouse and not (uri or "").startswith("http")
    if not is_folder and uri is None:
        raise SettingError("--catalog", "", f"is required, as {warehouse} is not a folder")
    folder = Path(warehouse).absolute()
    if is_folder and {*"%?#"} & {*str(folder)}:
        raise SettingError("WAREHOUSE", str(folder), "has a character with a meaning in URIs")
    with held_folder(folder) if is_folder else nullcontext():
        try:
            catalog = load_catalog(
                NAME,
                uri=uri or f"sqlite:///{folder}/catalog.db",
                warehouse=f"file://{folder}" if is_folder else warehouse,
            )
        except (ValueError, exceptions.NotInstalledError) as error:
            raise SettingError("--catalog", uri or "", f"cannot be opened: {error}") from None
        yield catalog


def export(database: Database, catalog: Catalog, options: ExportOptions, depth: int) -> None:
    """Append the blocks that have become final, which are `depth` behind the newest, and replace
    the tokens. A snapshot has at most options.blocks_per_file blocks. Raises Contradiction,
    Unavailable, and ScanError where the columns of a table have changed as Iceberg's cannot."""
    tables = _tables(catalog, options, table_export.chain_of(database))
    tokens = tables.pop(table_files.TOKENS, None)
    if tables and not _append_range(database, tables, options, depth):
        print_lines(f"no other block is final (SCAN_FINALITY={depth})")
    while tables and _append_range(database, tables, options, depth):
        pass
    if tokens is not None:
        with database.transaction(snapshot=True):
            chain = table_export.chain_of(database)
            end = chain.newest, to_hex(chain.newest_hash)
            if _end(tokens, chain) != end:
                columns = table_export.columns_of(table_files.TOKENS, options)
                _commit(tokens, columns, table_files.token_rows(database), chain, *end)


def _tables(catalog: Catalog, options: ExportOptions, chain: Chain) -> dict[str, Table]:
    """Return the tables by name, `blocks` as the last, and make those that are not there."""
    namespace = f"chain_{chain.id}"
    catalog.create_namespace_if_not_exists(namespace)
    tables = {}
    for name in sorted(options.tables, key="blocks".__eq__):
        identifier = namespace, name.replace(".", "_")
        schema = parquet.schema(table_export.columns_of(name, options))
        try:
            table = catalog.create_table_if_not_exists(identifier, schema, properties=PROPERTIES)
        except ValueError as error:  # such as of a storage that PyIceberg does not know
            warehouse = catalog.properties["warehouse"]
            raise SettingError("WAREHOUSE", warehouse, f"cannot be written: {error}") from None
        tables[name] = table
    return tables


def _append_range(
    database: Database, tables: Mapping[str, Table], options: ExportOptions, depth: int
) -> bool:
    """Append the next range of blocks to the tables that lack it; return False where there is
    none."""
    with database.transaction(snapshot=True):
        chain = table_export.chain_of(database)
        begin = max(chain.oldest, options.block_from or 0)
        nexts = {name: _next_block(database, table, chain, begin) for name, table in tables.items()}
        first = min(nexts.values())
        last = min(chain.newest - depth, first + options.blocks_per_file - 1)
        if options.block_to is not None:
            last = min(last, options.block_to)
        if first > last:
            return False
        blocks = table_files.count_rows(database, first, last)
        if len(blocks) != last - first + 1:
            raise ScanError("The index has no whole range of blocks; see `scan audit`.")
        last_hash, count = to_hex(blocks[-1].hash), 0
        for name, table in tables.items():
            if nexts[name] <= last:
                missing = blocks[nexts[name] - first :]
                rows = table_export.rows_of(database, name, missing, options)
                columns = table_export.columns_of(name, options)
                count += _commit(table, columns, rows, chain, last, last_hash)
    print_lines(f"blocks {first} to {last}: {count:,} rows")
    return True


def _next_block(database: Database, table: Table, chain: Chain, begin: int) -> int:
    """Return the first block whose rows a table lacks."""
    end = _end(table, chain)
    if end is None:
        return begin
    block, block_hash = end
    if block + 1 < chain.oldest:
        raise Contradiction(
            f"{_name(table)} ends at block {block}, but rows before {chain.oldest} are no longer"
            " kept: export into another warehouse."
        )
    if block <= chain.newest and table_export.indexed_hash(database, block) != block_hash:
        raise Contradiction(
            f"{_name(table)} ends at block {block} with hash {block_hash}, which the index does not"
            " have: a reorganisation was deeper than SCAN_FINALITY. Roll all tables back to a"
            " snapshot before it, or export into another warehouse."
        )
    return block + 1


def _end(table: Table, chain: Chain) -> tuple[int, str] | None:
    """Return the last block that a table has rows of, with its hash; None for a new table. A
    snapshot of others, such as one of files merged, has the rows of the one before."""
    for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
        if snapshot.summary and (block := snapshot.summary[LAST_BLOCK]) is not None:
            if snapshot.summary[GENESIS] != to_hex(chain.genesis_hash):
                raise Contradiction(f"{_name(table)} has blocks of another chain.")
            return int(block), snapshot.summary[LAST_HASH]
    if table.current_snapshot() is not None:
        raise Contradiction(f"{_name(table)} has rows of others, but none of `scan export`.")
    return None


def _name(table: Table) -> str:
    return ".".join(table.name())


def _commit(
    table: Table,
    columns: Mapping[str, parquet.ColumnFormat],
    rows: Iterable[table_files.Values],
    chain: Chain,
    last: int,
    last_hash: str,
) -> int:
    """Append rows and the last block that they are of in one commit, or replace all tokens; return
    how many rows there were."""
    schema = parquet.schema(columns)
    tables = (parquet.make_table(columns, values) for values in rows)
    batches = (batch for table in tables for batch in table.to_batches())
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches)
    summary = {GENESIS: to_hex(chain.genesis_hash), LAST_BLOCK: str(last), LAST_HASH: last_hash}
    with table.transaction() as transaction:
        try:
            with transaction.update_schema() as update:
                update.union_by_name(schema)
        except (ValueError, exceptions.ValidationError, exceptions.ResolveError) as error:
            reason = f"{_name(table)} cannot take its new columns: {error}."
            raise ScanError(f"{reason} To have it exported anew, drop it.") from None
        if table.name()[-1] == table_files.TOKENS and table.current_snapshot() is not None:
            transaction.overwrite(reader, snapshot_properties=summary)
        else:
            transaction.append(reader, snapshot_properties=summary)
    return int(table.current_snapshot().summary["added-records"] or 0)
