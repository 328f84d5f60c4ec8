"""Transfers, trades and every derived table, computed by DuckDB over the files."""

import math
from collections.abc import Callable, Mapping, Sequence

import pyarrow

from scan import registry
from scan.cached_values import LazyMapping, LazySequence
from scan.database import connection, lists
from scan.extensions.backfill.block_columns import SPOOLED
from scan.extensions.backfill.plan import Range
from scan.extensions.backfill.range_files import SELECTED, RangeFiles
from scan.extensions.backfill.warehouse import Warehouse
from scan.extensions.exports import parquet
from scan.indexer.block_rows import BODIES
from scan.indexer.hooks import Derived, DerivedTable

CHECKPOINT_EVERY = 128  # checkpoint_every() of sql/schema
# The kinds whose rows have ordinals, and the statement that numbers them.
NUMBERED: Mapping[str, str] = LazyMapping(
    lambda: {
        name: f"bulk/{name}_number"
        for name, entity in lists.all_entities().items()
        if not entity.is_sparse
    }
)
SELECT = {"token_transfers": "bulk/token_transfers_select", "dex_trades": "bulk/dex_trades_select"}
OF_EXTENSIONS: Mapping[str, DerivedTable] = LazyMapping(
    lambda: {
        name: table
        for name, table in registry.merged(part.tables for part in registry.parts(Derived)).items()
        if table.bulk_derive
    }
)
# In this order: a statement may read the tables before its own.
DERIVED: Mapping[str, str] = LazyMapping(
    lambda: {
        "blocks": "bulk/blocks_derive",
        "token_holders": "bulk/token_holders_derive",
        "item_balances": "bulk/item_balances_derive",
        "token_items": "bulk/token_items_derive",
        "list_counts": "bulk/list_counts_derive",
        "token_counts": "bulk/tokens_derive",
        "addresses": "bulk/addresses_derive",
        "list_checkpoints": "bulk/list_checkpoints_derive",
        "daily_stats": "bulk/daily_stats_derive",
        **{name: table.bulk_derive for name, table in OF_EXTENSIONS.items()},
    }
)
# Functions of sql/schema/ that these statements call, and that DuckDB gets as macros.
FUNCTIONS = tuple(
    """
    first_ordinal_in last_ordinal_in addresses_seen is_acting addresses_changes is_of_present_life
    present_transfers moves_balance has_amounts token_holders_changes
    item_balances_changes token_items_changes item_owner tokens_changes token_holders_expected
    item_balances_expected token_items_expected tokens_expected addresses_expected
    internal_transfer_type daily_stats_changes daily_stats_expected list_counts_changes
    list_counts_expected
    """.split()
)
VIEWS: Sequence[str] = LazySequence(
    lambda: (
        "bulk/tokens_view",
        "bulk/withdrawals_view",
        "bulk/credits_view",
        "bulk/log_emitters_view",
        *(f"bulk/{name}_view" for name, e in lists.all_entities().items() if e.is_sparse),
    )
)
# Derived tables that replace the function <table>_expected() as soon as they are there.
EXPECTED = ("token_holders", "item_balances", "token_items", "addresses")
# Tables that are grouped by an address, or by an address and more: derived in buckets of addresses.
BUCKETED = {"token_holders", "item_balances", "token_items", "addresses", "list_checkpoints"}
# Kinds of which each row may be a group of its own, and the bytes that a group takes (an estimate:
# 24 columns, some of 16 bytes). Beyond its share of the memory, DuckDB would write groups to disk
# and read them again.
GROUPED = ("transactions", "token_transfers", "internal_transfers")
GROUP_BYTES, GROUPS_SHARE, MAX_BUCKETS = 300, 0.5, 1024
# Rows of PostgreSQL that statements for DuckDB read.
INDEXED: Mapping[str, tuple[str, Mapping[str, pyarrow.DataType]]] = {
    "indexed_tokens": (
        "bulk/tokens_list",
        {
            "address": parquet.ADDRESS,
            "type": parquet.TEXT,
            "item_type": parquet.TEXT,
            "wraps_since": parquet.BLOCK_NUMBER,
            "block_number": parquet.BLOCK_NUMBER,
            "log_index": parquet.INDEX,
            "end_block": parquet.BLOCK_NUMBER,
            "is_present": parquet.BOOLEAN,
            "ended_in": parquet.BLOCK_NUMBER,
            "has_lives": parquet.BOOLEAN,
            "has_holdings": parquet.BOOLEAN,
        },
    ),
    "indexed_pools": (
        "bulk/pools_list",
        {
            "address": parquet.BYTES,
            "dex": parquet.TEXT,
            "token0": parquet.ADDRESS,
            "token1": parquet.ADDRESS,
            "block_number": parquet.BLOCK_NUMBER,
        },
    ),
    "indexed_dexes": ("bulk/dexes_list", {"name": parquet.TEXT, "dex_id": pyarrow.int32()}),
}


def open_files(
    warehouse: Warehouse,
    database: connection.Database,
    files: RangeFiles,
    ranges: Sequence[Range],
    advance: Callable[[], object],
) -> None:
    """Give the warehouse all that statements of sql/bulk read: files of all kinds, with ordinals,
    and rows of PostgreSQL. Contracts have to be inspected before.

    Transfers and trades are selected from their candidates; `advance` is called after each range.
    """
    for kind in SPOOLED:
        warehouse.set_files(kind, [files.path(kind, blocks) for blocks in ranges])
    for name, (statement, columns) in INDEXED.items():
        warehouse.set_rows(name, _table(columns, database.rows(statement)))
    for blocks in ranges:
        for kind, candidates in SELECTED.items():
            path = files.path(kind, blocks)
            if not path.exists():
                source = str(files.path(candidates, blocks))
                rows = warehouse.arrow(SELECT[kind], file=source)
                parquet.write_file(path, rows.cast(parquet.schema(parquet.KINDS[kind])))
        advance()
    for kind in SELECTED:
        warehouse.set_files(kind, [files.path(kind, blocks) for blocks in ranges])
    warehouse.set_rows("file_ordinals", _file_ordinals(files, ranges))
    warehouse.define("bulk/files_set")
    for statement in (*NUMBERED.values(), *VIEWS):
        warehouse.define(statement)
    topics = [topic for topic, _ in warehouse.rows("bulk/topics_count")]
    numbers = database.rows("indexer/event_topics_insert", topics=topics) if topics else []
    columns = {"topic0": parquet.HASH, "topic_id": pyarrow.int32()}
    warehouse.set_rows("indexed_topics", _table(columns, numbers))


def derive(warehouse: Warehouse, table: str, buckets: int) -> None:
    """Derive a table of DERIVED, unless it is there, in as many buckets if it is in BUCKETED, and
    define the functions that later statements need from it."""
    if not warehouse.has_table(table):
        params = {"every": CHECKPOINT_EVERY} if table == "list_checkpoints" else {}
        warehouse.make_table(table, DERIVED[table], buckets if table in BUCKETED else 1, **params)
    if table == "blocks":
        for function in FUNCTIONS:
            warehouse.define_function(function)
    if table in EXPECTED:
        warehouse.define_as_table(f"{table}_expected", table)


def buckets_for(files: RangeFiles, ranges: Sequence[Range], memory_bytes: int) -> int:
    """Return the number of buckets, a power of two, with which the groups of one bucket take at
    most GROUPS_SHARE of the memory."""
    rows = sum(files.row_count(kind, blocks) for kind in GROUPED for blocks in ranges)
    needed = rows * GROUP_BYTES / (memory_bytes * GROUPS_SHARE)
    return min(1 << max(math.ceil(math.log2(max(needed, 1))), 0), MAX_BUCKETS)


def _table(
    columns: Mapping[str, pyarrow.DataType], rows: Sequence[Sequence[object]]
) -> pyarrow.Table:
    values = [
        [bytes(value) if isinstance(value, memoryview) else value for value in column]
        for column in zip(*rows, strict=True)
    ] or [[] for _ in columns]
    by_column = dict(zip(columns, values, strict=True))
    return pyarrow.table(by_column, schema=pyarrow.schema([*columns.items()]))


def _file_ordinals(files: RangeFiles, ranges: Sequence[Range]) -> pyarrow.Table:
    """Return the number of rows in the files before each file, read from the files' footers."""
    rows: list[tuple[object, ...]] = []
    for blocks in ranges:  # whose numbers are ordinals of their bodies
        rows.append((BODIES, str(files.path(BODIES, blocks)), blocks.first))
    for kind in NUMBERED:
        rows_before = 0
        for blocks in ranges:
            rows.append((kind, str(files.path(kind, blocks)), rows_before))
            rows_before += files.row_count(kind, blocks)
    return _table(
        {"kind": parquet.TEXT, "filename": parquet.TEXT, "rows_before": parquet.BLOCK_NUMBER}, rows
    )
