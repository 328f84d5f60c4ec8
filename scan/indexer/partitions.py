"""Partitions of the long tables, made ahead of the rows, so that every write has its partition.

A table is a plain one until it nears `rows` rows. Then a constraint that bounds its ordinals is
added and validated beside the writer, and the table becomes the first partition: see
partition_table() in sql/schema. Every step is a short transaction whose result is seen in the
catalog, so that after a kill the next indexer goes on. A step waits at most LOCK_WAIT_MS for a
lock, as do the readers behind it; if that was too short, the next batch tries again.
"""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.errors import LockNotGranted
from scan.database.migrations import LOCK_WAIT_MS
from scan.database.transaction import Transaction
from scan.errors import ScanError, Unavailable
from scan.settings import Keep

log = logging.getLogger(__name__)

TABLES = ("transactions", "token_transfers", "dex_trades", "internal_transfers", "logs")
PATIENCE_S = 10.0  # for a lock without which the next batch cannot be written
PAUSE_S = 0.5
NEVER = sys.maxsize
LEAST_KEPT_ROWS = 100_000  # of a partition, where old ones are dropped


class TableState(NamedTuple):
    """The state of a table. `bound` is the first ordinal that the newest partition, or a plain
    table's constraint, does not take; None for a plain table without a constraint."""

    is_partitioned: bool
    bound: int | None
    is_validated: bool


def make_empty(tx: Transaction, table: str, rows: int, needed: int) -> None:
    """Make partitions of `rows` rows, enough for `needed` rows, of a partitioned or empty table."""
    state = _read_state(tx, table)
    bound = state.bound or rows
    if not state.is_partitioned:
        if needed <= rows - _ahead(rows):
            return
        if state.bound is None:
            tx.execute("indexer/partitions_add_bound", table=table, bound=bound)
        tx.execute("indexer/partitions_validate_bound", table=table)
        obstacle = _make(tx, table, bound)
        if obstacle is not None:
            log.warning("%s stays one table: %s", table, obstacle)
            return
    while bound < needed + _ahead(rows):
        end = (bound // rows + 1) * rows
        tx.execute("indexer/partitions_add", table=table, first=bound, bound=end)
        bound = end


def _ahead(rows: int) -> int:
    """Return how many rows before the end of a partition the next one is made."""
    return rows // 10


def _read_state(source: Database | Transaction, table: str) -> TableState:
    row = source.row("indexer/partitions_get_state", table=table)
    if row is None:
        raise Unavailable(f"There is no table {table}.")
    return TableState(*row)


def _make(tx: Transaction, table: str, bound: int) -> str | None:
    """Partition a table. Return why it stays a plain one, without its constraint; None if it does
    not."""
    obstacle: str | None = tx.value("indexer/partitions_make", table=table, bound=bound)
    if obstacle is not None:
        tx.execute("indexer/partitions_drop_bound", table=table)
    return obstacle


@contextmanager
def locked(database: Database) -> Iterator[Transaction]:
    """Begin a transaction of the only writer, for whose locks readers do not wait long. Raises
    LockNotGranted."""
    with database.transaction() as tx:
        tx.execute("database/lock_timeout_set", milliseconds=str(LOCK_WAIT_MS))
        if not tx.value("indexer/writer_lock_transaction"):
            raise LockNotGranted("Another indexer writes to this database.")
        yield tx


class CannotPartition(Exception):
    """The table stays a plain one: something that depends on it does not allow partitions."""


class Partitions:
    """The partitions of one database, made for its only writer."""

    def __init__(self, database: Database, rows: int, keep: Keep | None = None) -> None:
        """A new partition takes `rows` rows; with `keep` fewer, as partitions are dropped whole."""
        self._database = database
        self._most_rows = rows
        self._keep = keep
        self._enough: dict[str, int] = {}  # by table, the rows that its partitions are enough for
        self._tasks: dict[str, threading.Thread] = {}

    def forget(self) -> None:
        """Forget the state of the tables, which another indexer may have changed."""
        self._enough.clear()

    def are_made(self, table: str, needed: int) -> bool:
        """Return whether prepare() has made all partitions that `needed` rows take."""
        return needed <= self._enough.get(table, 0)

    def prepare(self, table: str, count: int, needed: int) -> None:
        """Make the partitions that a table of `count` rows needs to have `needed` rows.

        Raises LockNotGranted where a reader holds a lock and the rows would find no partition.
        """
        if self.are_made(table, needed):
            return
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._enough[table] = self._prepare(table, count, needed)
            except CannotPartition as error:
                log.warning("%s stays one table: %s", table, error)
                self._enough[table] = NEVER
            except LockNotGranted:
                bound = self._state(table).bound
                if bound is not None and needed > bound:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(PAUSE_S)
                    continue
                self._enough[table] = needed
            return

    def _prepare(self, table: str, count: int, needed: int) -> int:
        """Take the steps that are due, and return up to how many rows the table needs no more."""
        state, rows = self._state(table), self._rows_of(table)
        if not state.is_partitioned:
            threshold = rows - _ahead(rows)
            if state.bound is None and needed <= threshold:
                return threshold
            bound = state.bound or self._add_bound(table, count, rows)
            if not state.is_validated and not self._validate(table, is_urgent=needed > bound):
                return needed
            self._convert(table, bound)
            state = self._state(table)
        if state.bound is None:
            raise Unavailable(f"The table {table} has no partition.")
        return self._add(table, state.bound, needed, rows)

    def _rows_of(self, table: str) -> int:
        """Return how many rows a new partition takes: all at most, or a sixteenth of those that
        SCAN_KEEP_* keeps."""
        if self._keep is None:
            return self._most_rows
        steps = self._database.row("indexer/retention_get_step", **self._keep._asdict())
        rows: int = steps[TABLES.index(table)] if steps else 0
        return min(max(rows, LEAST_KEPT_ROWS), self._most_rows)

    def _state(self, table: str) -> TableState:
        return _read_state(self._database, table)

    def _add_bound(self, table: str, count: int, rows: int) -> int:
        bound = ((count + _ahead(rows) // 2) // rows + 1) * rows
        with locked(self._database) as tx:
            tx.execute("indexer/partitions_add_bound", table=table, bound=bound)
        return bound

    def _validate(self, table: str, *, is_urgent: bool) -> bool:
        """Validate the constraint beside the writer, as that reads the table; wait for it if
        urgent. Return whether it is known to be validated."""
        self._begin(table, "indexer/partitions_validate_bound")
        if not is_urgent:
            return False
        self._tasks[table].join()
        if not self._state(table).is_validated:
            self._database.rows("indexer/partitions_validate_bound", table=table)
        return True

    def _convert(self, table: str, bound: int) -> None:
        started = time.monotonic()
        with locked(self._database) as tx:
            obstacle = _make(tx, table, bound)
        if obstacle is not None:
            raise CannotPartition(obstacle)
        elapsed_ms = (time.monotonic() - started) * 1000
        log.info("%s is partitioned from ordinal %d on; %.0f ms", table, bound, elapsed_ms)
        self._analyze(table)

    def _add(self, table: str, bound: int, needed: int, rows: int) -> int:
        """Add partitions from `bound` on, and return up to how many rows they are enough."""
        is_new = False
        while bound < needed + _ahead(rows):
            end = (bound // rows + 1) * rows
            with locked(self._database) as tx:
                tx.execute("indexer/partitions_add", table=table, first=bound, bound=end)
            bound, is_new = end, True
        if is_new:
            log.info("%s has partitions for the ordinals below %d", table, bound)
            self._analyze(table)
        return bound - _ahead(rows)

    def _analyze(self, table: str) -> None:
        """Analyze the partitioned table beside the writer: autovacuum only analyzes partitions."""
        self._begin(table, "indexer/partitions_analyze")

    def _begin(self, table: str, statement: str) -> None:
        """Run a statement beside the writer, unless one for the table still runs."""
        running = self._tasks.get(table)
        if running is None or not running.is_alive():
            task = threading.Thread(
                target=self._run, args=(table, statement), name=f"partitions-{table}", daemon=True
            )
            self._tasks[table] = task
            task.start()

    def _run(self, table: str, statement: str) -> None:
        started = time.monotonic()
        try:
            with suppress(ScanError):  # the next partition, or the next start, does it again
                self._database.rows(statement, table=table)
                log.info("%s of %s: %.1f s", statement, table, time.monotonic() - started)
        finally:
            self._database.close()  # this thread's connection
