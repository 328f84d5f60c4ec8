"""Partitions of the long tables, made ahead of the rows, so that every write has its partition.

Each is made in a short transaction, which waits at most LOCK_WAIT_MS for a lock, beside readers. If
that was too short, the next batch tries again.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from scan.database import connection, errors, migrations, transaction
from scan.errors import ScanError
from scan.indexer.block_rows import BODIES
from scan.settings import Keep

log = logging.getLogger(__name__)

TABLES = ("transactions", "token_transfers", "dex_trades", "internal_transfers", "logs", BODIES)
DEFAULT_ROWS = 100_000_000  # as that of SCAN_PARTITION_ROWS
ROWS_OF_BODY = 100  # of other tables, that take as much room; the ordinal of a body is its block
PATIENCE_S = 10.0  # for a lock without which the next batch cannot be written
PAUSE_S = 0.5
LEAST_KEPT_ROWS = 100_000  # of a partition, where old ones are dropped
LEAST_ANALYZED_ROWS = 100_000
GROWTH = 4  # after which a table is analyzed again


def make_empty(tx: transaction.Transaction, table: str, rows: int, needed: int) -> None:
    """Make partitions of `rows` rows, enough for `needed` rows."""
    bound: int = tx.value("indexer/partitions_get_bound", table=table)
    while bound < needed + _ahead(rows):
        bound = _add(tx, table, bound, rows)


def _add(tx: transaction.Transaction, table: str, bound: int, rows: int) -> int:
    """Add the next partition, which begins at `bound`, and return where it ends."""
    end = (bound // rows + 1) * rows
    tx.execute("indexer/partitions_add", table=table, first=bound, bound=end)
    return end


def rows_of(table: str, rows: int) -> int:
    """Return how many rows of a table take as much room as so many of the other tables."""
    return max(rows // ROWS_OF_BODY, 1) if table == BODIES else rows


def _ahead(rows: int) -> int:
    """Return how many rows before the end of a partition the next one is made."""
    return rows // 10


@contextmanager
def locked(database: connection.Database) -> Iterator[transaction.Transaction]:
    """Begin a transaction of the only writer, for whose locks readers do not wait long. Raises
    LockNotGranted."""
    with database.transaction() as tx:
        tx.execute("database/lock_timeout_set", milliseconds=str(migrations.LOCK_WAIT_MS))
        if not tx.value("indexer/writer_lock_transaction"):
            raise errors.LockNotGranted("Another indexer writes to this database.")
        yield tx


class Partitions:
    """The partitions of one database, made for its only writer."""

    def __init__(self, database: connection.Database, rows: int, keep: Keep | None = None) -> None:
        """A new partition takes `rows` rows; with `keep` fewer, as partitions are dropped whole."""
        self._database = database
        self._most_rows = rows
        self._keep = keep
        self._enough: dict[str, int] = {}  # by table, the rows up to which nothing is to be done
        self._analyses: dict[str, threading.Thread] = {}

    def forget(self) -> None:
        """Forget the state of the tables, which another indexer may have changed."""
        self._enough.clear()

    def are_made(self, table: str, needed: int) -> bool:
        """Return whether prepare() has made all partitions that `needed` rows take."""
        return needed <= self._enough.get(table, 0)

    def prepare_first(self) -> None:
        """Make the partition of the first blocks of an empty index, which begins before those that
        are there where a development node forks an older block than before. Raises
        LockNotGranted."""
        with locked(self._database) as tx:
            tx.execute("indexer/partitions_add_first")

    def prepare(self, table: str, needed: int) -> None:
        """Make the partitions that a table needs to have `needed` rows.

        Raises LockNotGranted where another session holds a lock and rows would find no partition.
        """
        if needed <= self._enough.get(table, 0):
            return
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                bound = self._make(table, needed)
            except errors.LockNotGranted:
                bound = self._bound(table)
                if needed > bound:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(PAUSE_S)
                    continue
                self._enough[table] = needed
            else:
                grown = LEAST_ANALYZED_ROWS
                if needed >= LEAST_ANALYZED_ROWS:
                    grown = GROWTH * needed
                    self._analyze(table)  # autovacuum analyzes partitions alone
                self._enough[table] = max(min(bound, grown), needed)
            return

    def _bound(self, table: str) -> int:
        bound: int = self._database.value("indexer/partitions_get_bound", table=table)
        return bound

    def _make(self, table: str, needed: int) -> int:
        """Make the partitions, and return up to how many rows they are enough."""
        bound, rows = self._bound(table), self._rows_of(table)
        while bound < needed + _ahead(rows):
            with locked(self._database) as tx:
                bound = _add(tx, table, bound, rows)
            log.info("%s has partitions for the ordinals below %d", table, bound)
        return bound - _ahead(rows)

    def _rows_of(self, table: str) -> int:
        """Return how many rows a new partition takes: all at most, or a sixteenth of those that
        SCAN_KEEP_DAYS keeps."""
        most = rows_of(table, self._most_rows)
        if self._keep is None:
            return most
        steps = self._database.row("indexer/retention_get_step", **self._keep._asdict())
        rows: int = steps[TABLES.index(table)] if steps else 0
        return min(max(rows, rows_of(table, LEAST_KEPT_ROWS)), most)

    def _analyze(self, table: str) -> None:
        """Analyze the whole table beside the writer, unless that still runs."""
        running = self._analyses.get(table)
        if running is None or not running.is_alive():
            analysis = threading.Thread(
                target=self._run_analysis, args=(table,), name=f"analyze-{table}", daemon=True
            )
            self._analyses[table] = analysis
            analysis.start()

    def _run_analysis(self, table: str) -> None:
        started = time.monotonic()
        try:
            with suppress(ScanError):  # the next partition, or the next start, does it again
                self._database.rows("indexer/partitions_analyze", table=table)
                log.info("statistics of %s: %.1f s", table, time.monotonic() - started)
        finally:
            self._database.close()  # this thread's connection
