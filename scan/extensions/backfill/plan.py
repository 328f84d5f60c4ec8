"""The plan of a backfill, which the database keeps, its progress, and the errors that stop it.

Progress is that of each stage in the log, and of the whole in the database for /readyz. A step is
tried again after errors of node and database, which are logged once.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from scan.database.connection import Database
from scan.errors import ScanError
from scan.ethereum.node_errors import RETRIED, Retries
from scan.indexer.block_rows import FetchedBlock

BLOCKS_OF_FILE = 8_192  # of an era1 or ere file
MAX_SHOWN = 5  # differences


class Range(NamedTuple):
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of its files, by which they sort along the chain."""
        return f"{self.first:012d}-{self.last:012d}.parquet"


def split(first: int, last: int, blocks: int) -> list[Range]:
    return [Range(start, min(start + blocks - 1, last)) for start in range(first, last + 1, blocks)]


def whole_range(
    read: Callable[[int, int], list[FetchedBlock]], first: int, last: int
) -> Iterator[FetchedBlock]:
    """Yield the blocks of a range, of which `read` may return fewer than it is called for."""
    while first <= last:
        blocks = read(first, last)
        first = blocks[-1].block.number + 1
        yield from blocks


class CannotBackfill(Exception):
    """Blocks, their traces or their bodies cannot be filled in; the message says why, or what has
    to change first."""


class CannotBegin(CannotBackfill):
    """No backfill was begun: the indexer may index block after block."""


class SpoolFailed(CannotBackfill):
    """The files of a range cannot be written, for a reason that no other try may mend."""


class RangeFailed(SpoolFailed):
    """A range failed at one of the workers, of which another one may have a better node."""


class Forked(Exception):
    """The node has another chain than the files."""


class Differs(Exception):
    """Rows of these blocks differ from the node's blocks now."""

    def __init__(self, differences: Sequence[tuple[str, int, int]]) -> None:
        lines = (line for line, _, _ in differences[:MAX_SHOWN])
        super().__init__(f"not as the node has it: {'; '.join(lines)}")
        self.blocks = {(first, last) for _, first, last in differences}


class Plan(NamedTuple):
    """The options and the state of a backfill; the row of bulk_backfill."""

    folder: Path
    first_block: int
    last_block: int
    range_blocks: int
    stage: str
    inspected_to: int | None
    loaded: Sequence[str]

    @property
    def ranges(self) -> list[Range]:
        """The ranges of its files. None has blocks of two files of history, so that what links
        these files is between two ranges."""
        first, last = self.first_block, self.last_block
        of_files = split(first - first % BLOCKS_OF_FILE, last, BLOCKS_OF_FILE)
        spans = [(max(span.first, first), span.last) for span in of_files]
        return [blocks for span in spans for blocks in split(*span, self.range_blocks)]


def read_plan(database: Database) -> Plan | None:
    """Return the plan of the unfinished backfill; None where there is none."""
    row = database.row("bulk/state_get")
    return None if row is None else Plan(Path(row[0]), *row[1:])


def require_plan(database: Database) -> Plan:
    plan = read_plan(database)
    if plan is None:
        raise CannotBackfill("no bulk backfill was begun")
    return plan


log = logging.getLogger(__name__)

EVERY_S = 5.0
# Where each part begins and ends in the whole: shares of processor time at 1 M transactions.
PARTS = {
    "spool": (0.0, 0.38),
    "inspect": (0.38, 0.41),
    "select transfers and trades": (0.41, 0.43),
    "load": (0.43, 0.98),
}


class Progress:
    """The progress of a run, which a thread records, even while a statement takes an hour."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._record, name="progress", daemon=True)
        self._lock = threading.Lock()
        self.share = 0.0  # of the whole that is done
        self.problem: str | None = None  # because of which the backfill waits
        self._first: tuple[float, float] | None = None  # this run's first time and share

    def __enter__(self) -> "Progress":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def set_share(self, share: float) -> None:
        with self._lock:
            self.share, self.problem = share, None
            self._first = self._first or (time.monotonic(), share)

    def seconds_left(self) -> int | None:
        """Return the seconds left by the speed of this run; None before that is known."""
        with self._lock:
            if self._first is None or self.share - self._first[1] < 0.001:
                return None
            elapsed_s = time.monotonic() - self._first[0]
            return round(elapsed_s * (1 - self.share) / (self.share - self._first[1]))

    def _record(self) -> None:
        while not self._stop.wait(EVERY_S):
            try:
                self._database.rows(
                    "bulk/state_set_progress",
                    progress=round(self.share, 4),
                    seconds_left=self.seconds_left(),
                )
                self._database.rows(
                    "indexer/chain_record_status",
                    node_head=None,
                    problem=self.problem,
                    by_hash=None,
                )
            except ScanError as error:
                log.debug("the progress cannot be recorded: %s", error)
        self._database.close()  # this thread's connection


class PartProgress:
    """The progress of a part of PARTS, in the log and as a share of the whole. Of its `total` units
    an earlier run has done `done`, which do not count for its speed."""

    def __init__(self, whole: Progress, name: str, unit: str, total: int, done: int = 0) -> None:
        self._whole = whole
        self._name, self._unit = name, unit
        self.done = self._done_before = done
        self._total = total
        self._transactions = 0
        self._began = self._logged_at = time.monotonic()
        self.advance(0)

    def advance(self, units: int, transactions: int = 0) -> None:
        self.done += units
        self._transactions += transactions
        first, last = PARTS[self._name]
        self._whole.set_share(first + (last - first) * self.done / max(self._total, 1))
        now = time.monotonic()
        if not units or (now - self._logged_at < EVERY_S and self.done < self._total):
            return
        self._logged_at = now
        elapsed_s = max(now - self._began, 1e-6)
        left_s = (self._total - self.done) * elapsed_s / max(self.done - self._done_before, 1)
        speed = self._transactions / elapsed_s
        log.info(
            "%s: %d of %d %s (%.0f %%)%s, %s left",
            self._name,
            self.done,
            self._total,
            self._unit,
            100 * self.done / max(self._total, 1),
            f", {speed:.0f} transactions/s" if self._transactions else "",
            f"{left_s / 60:.0f} min" if left_s > 120 else f"{left_s:.0f} s",
        )


PATIENCE_S = 600.0  # with a node or database that fails while the backfill does not advance

_T = TypeVar("_T")


class Attempts:
    """The attempts of one backfill, which `stop` ends."""

    def __init__(self, progress: Progress, stop: threading.Event) -> None:
        self._progress = progress
        self._stop = stop
        self._retries = Retries(PATIENCE_S)
        self._logged = ("", 0.0)  # the kind of the last error, and the share that was done then

    def run(self, step: Callable[[], _T]) -> _T:
        """Return the result of a step. Repeat it after errors of node and database, until it has
        failed for PATIENCE_S without any progress in between, or `stop` is set."""
        while True:
            try:
                result = step()
            except RETRIED as error:
                pause_s = self._retries.pause_s(error, self._progress.share)
                kind = "database" if isinstance(error, ScanError) else str(error)
                if (kind, self._progress.share) != self._logged:  # since the last progress
                    self._logged = kind, self._progress.share
                    log.warning("%s; trying again for %.0f minutes", error, PATIENCE_S / 60)
                self._progress.problem = str(error)
                if self._stop.wait(pause_s):
                    raise
            else:
                self._retries.succeeded()
                return result
