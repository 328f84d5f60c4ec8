"""Loading of tables, partitions and counters, each in a transaction that also records it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow
from pyarrow import parquet

from scan import registry
from scan.cached_values import LazyMapping
from scan.database import transaction
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.extensions.backfill.derivation import GROUPED, OF_EXTENSIONS
from scan.extensions.backfill.warehouse import CopyReader, Warehouse
from scan.extensions.exports.parquet import KINDS
from scan.indexer import block_rows, hooks, partitions, writer

COUNTERS = "token_counts"  # in DuckDB alone; its rows set counters of several tables
# The statement that returns the rows of each table, in the order of loading. Those of
# derivation.DERIVED have to be derived before; all others read files alone.
COPY: Mapping[str, str] = LazyMapping(
    lambda: {
        **dict.fromkeys(GROUPED, "bulk/partition_copy"),
        "dex_trades": "bulk/dex_trades_copy",
        "logs": "bulk/logs_copy",
        **dict.fromkeys(block_rows.UNNUMBERED, "bulk/files_copy"),
        block_rows.BODIES: "bulk/bodies_list_files",  # which are read without DuckDB
        "uncles": "bulk/uncles_copy",
        block_rows.DELEGATED_CALLS: "bulk/delegated_calls_copy",
        "token_holders": "bulk/token_holders_copy",
        "item_balances": "bulk/item_balances_copy",
        "token_items": "bulk/token_items_copy",
        "addresses": "bulk/addresses_copy",
        "list_counts": "bulk/list_counts_copy",
        "list_checkpoints": "bulk/list_checkpoints_copy",
        **{name: table.bulk_copy for name, table in OF_EXTENSIONS.items()},
        COUNTERS: "bulk/token_counts_copy",
        "daily_stats": "bulk/daily_stats_copy",
        "blocks": "bulk/blocks_copy",
    }
)
# Columns of the files that their statements return in another form.
REPLACED = {"blocks": "timestamp_s", "dex_trades": "dex", "logs": "topic0", "uncles": "timestamp_s"}
BODIES_AT_ONCE = 16
ACCEPTED = ("daily_stats", "blocks")  # loaded last, as their rows make the chain visible
KEPT_PARTS = 200  # partitions of a table whose old rows are dropped


class Step(NamedTuple):
    """The step of one transaction: a table, a partition of one, or COUNTERS."""

    name: str  # of the table or partition
    table: str
    first: int = 0  # the first ordinal of a partition
    bound: int = 0  # the first ordinal after it

    @property
    def is_partition(self) -> bool:
        return self.name != self.table


class Loader:
    """Takes several steps at the same time, in threads with sessions of their own."""

    def __init__(
        self, database: Database, warehouse: Warehouse, tables_at_once: int, writer_pid: int
    ) -> None:
        """`writer_pid` is the session of PostgreSQL that has the writer's lock. What statements
        read has to be defined in the warehouse before."""
        self._database = database
        self._warehouse = warehouse
        self._writer_pid = writer_pid
        # A session repeats all definitions, which takes as long as a step of a small chain.
        self._sessions = [warehouse.session() for _ in range(tables_at_once)]
        self._pool = ThreadPoolExecutor(tables_at_once, "load")
        self._futures: list[Future[None]] = []

    def make_partitions(self, loaded: Collection[str], rows: int, *, keeps_all: bool) -> list[Step]:
        """Make partitions of the long tables for all rows, and return all steps."""
        for table in partitions.TABLES:
            if table not in loaded:
                if table == block_rows.BODIES:
                    [(count,)] = self._warehouse.rows("bulk/bodies_get_bound")
                else:
                    [(count,)] = self._warehouse.rows("bulk/rows_count", table=table)
                with writing(self._database) as tx:
                    size = rows_of_partition(table, rows, count or 0, keeps_all=keeps_all)
                    partitions.make_empty(tx, table, size, count or 0)
        steps: list[Step] = []
        for table in [table for table in COPY if table not in ACCEPTED]:
            is_by_ordinal = table in partitions.TABLES  # others may have partitions by hash
            ranges = (
                self._database.rows("bulk/partitions_list", table=table) if is_by_ordinal else ()
            )
            of_table = [Step(name, table, first, bound) for name, first, bound in ranges]
            steps += of_table or [Step(table, table)]
        return steps

    def begin(self, step: Step) -> None:
        """Queue a step."""
        self._futures.append(self._pool.submit(self._load, step))

    def loaded(self) -> int:
        """Return how many steps are done by now. Raises the error of a step that failed."""
        done = [future for future in self._futures if future.done()]
        for future in done:
            future.result()
        return len(done)

    def wait(self, timeout_s: float) -> bool:
        """Wait for all steps, and return whether they are done in time."""
        return not wait(self._futures, timeout_s).not_done

    def close(self) -> None:
        """Wait for the steps that run, and drop those that have not begun."""
        self._pool.shutdown(cancel_futures=True)
        for session in self._sessions:
            session.close()

    def _load(self, step: Step) -> None:
        warehouse = self._sessions.pop()
        try:
            warehouse.run("bulk/files_set")  # instead of one partition's, of the step before
            _load(self._database, warehouse, step, self._writer_pid)
        finally:
            self._sessions.append(warehouse)
            self._database.close()  # this thread's connection


def rows_of_partition(table: str, most: int, count: int, *, keeps_all: bool) -> int:
    """Return how many of `count` rows a partition takes: `most`, or fewer where old rows are
    dropped afterwards, so that most of them can be."""
    most, least = (partitions.rows_of(table, n) for n in (most, partitions.LEAST_KEPT_ROWS))
    return most if keeps_all else min(most, max(count // KEPT_PARTS, least))


def _load(database: Database, warehouse: Warehouse, step: Step, writer_pid: int) -> None:
    """Take a step in one transaction, unless it is recorded as done. Raises NotTheWriter."""
    with database.transaction() as tx:
        if step.is_partition:  # this lock stops other loaders, but not readers
            tx.script(f"LOCK TABLE {step.name} IN SHARE UPDATE EXCLUSIVE MODE")
        elif step.name != COUNTERS:
            tx.script(f"LOCK TABLE {step.name} IN ACCESS EXCLUSIVE MODE")
        is_loaded, is_writer = tx.row(
            "bulk/load_get_state", table=step.name, writer_pid=writer_pid
        ) or (False, False)
        if not is_writer:
            raise writer.NotTheWriter
        if is_loaded:
            return
        if step.name == COUNTERS:
            _set_counters(tx, warehouse)
        elif step.is_partition:
            _load_partition(tx, warehouse, step)
        else:
            _load_table(tx, warehouse, step.table)
        tx.execute("bulk/state_add_loaded", table=step.name)


def _load_table(tx: Transaction, warehouse: Warehouse, table: str) -> None:
    indexes = tx.rows("bulk/indexes_list", table=table)
    for drop, _ in indexes:
        tx.script(drop)
    # In this transaction, so that with wal_level=minimal the rows need no WAL.
    tx.script(f"TRUNCATE {table}")
    _copy(tx, warehouse, table)
    for _, create in indexes:
        tx.script(create)
    tx.script(f"ANALYZE {table}")


def _load_partition(tx: Transaction, warehouse: Warehouse, step: Step) -> None:
    """Load a table of its own, which then replaces the empty partition: a partition's index cannot
    be dropped by itself, and partitions of one table are loaded at the same time."""
    bounds = {"first": step.first, "bound": step.bound}
    statements = tx.rows("bulk/partition_list_statements", partition=step.name, **bounds)
    for statement, follows_rows in statements:
        if not follows_rows:
            tx.script(statement)
    warehouse.run("bulk/partition_set", table=step.table, **bounds)
    if step.table == block_rows.BODIES:
        paths = [path for (path,) in warehouse.rows(COPY[step.table])]
        rows = CopyReader(_binary_bodies(paths, step.first, step.bound))
        columns = block_rows.UNNUMBERED[step.table]
        tx.copy(f"{step.name}_loading", columns, rows, "FORMAT binary")
        if rows.failure:
            raise rows.failure
    else:
        _copy(tx, warehouse, step.table, f"{step.name}_loading")
    for statement, follows_rows in statements:
        if follows_rows:
            tx.script(statement)


def _binary_bodies(paths: Sequence[str], first: int, bound: int) -> Iterator[bytes]:
    """Yield rows of block_bodies from files in COPY's binary format: as text a body takes twice the
    bytes, and DuckDB would hold some thousand."""
    yield transaction.BINARY_START
    for path in paths:
        for batch in parquet.ParquetFile(path).iter_batches(BODIES_AT_ONCE):
            rows = zip(*map(pyarrow.Array.to_pylist, batch), strict=True)
            yield b"".join(transaction.binary_row(row) for row in rows if first <= row[0] < bound)
    yield transaction.BINARY_END


def accept(tx: Transaction, warehouse: Warehouse) -> None:
    """Load the last tables, without dropping their indexes, so that they are not locked: /readyz
    reads them."""
    for table in ACCEPTED:
        _copy(tx, warehouse, table)
        tx.script(f"ANALYZE {table}")
    for part in registry.parts(hooks.Derived):
        for derived in part.tables.values():
            if derived.bulk_accept:
                tx.execute(derived.bulk_accept)


@contextmanager
def writing(database: Database) -> Iterator[Transaction]:
    """Begin a transaction of the writer. Raises NotTheWriter where another session became the
    writer, as after a lost connection."""
    with database.transaction() as tx:
        if not tx.value("indexer/writer_lock_transaction"):
            raise writer.NotTheWriter
        yield tx


def _set_counters(tx: Transaction, warehouse: Warehouse) -> None:
    """Set the counters of tokens, exchanges, pools and topics, whose rows inspection wrote."""
    tx.execute("bulk/token_counts_create")
    _copy(tx, warehouse, COUNTERS)
    tx.execute("bulk/tokens_set_counts")
    names, counts = _columns(warehouse.rows("bulk/dexes_count"))
    tx.execute("bulk/dexes_set_counts", names=names, counts=counts)
    pools, counts = _columns(warehouse.rows("bulk/pools_count"))
    tx.execute("bulk/pools_set_counts", addresses=pools, counts=counts)
    topics, counts = _columns(warehouse.rows("bulk/topics_count"))
    tx.execute("bulk/topics_set_counts", topics=topics, counts=counts)


def _copy(tx: Transaction, warehouse: Warehouse, table: str, target: str | None = None) -> None:
    copied = {name: c for name, c in KINDS.get(table, {}).items() if name != REPLACED.get(table)}
    with warehouse.copy_text(COPY[table], table, copied) as (columns, file):
        tx.copy(target or table, columns, file, "FORMAT csv")


def _columns(rows: Sequence[Sequence[object]]) -> tuple[list[object], list[object]]:
    return [key for key, _ in rows], [count for _, count in rows]
