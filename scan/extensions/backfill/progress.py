"""Progress of a backfill: of each stage in the log, of the whole in the database for /readyz."""

import logging
import threading
import time

from scan.database.connection import Database
from scan.errors import ScanError

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
        self.node_head: int | None = None

    def __enter__(self) -> "Progress":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def part(self, name: str, unit: str, total: int, done: int = 0) -> "PartProgress":
        """Begin a part of PARTS with `total` units, of which earlier runs have done `done`."""
        part = PartProgress(self, name, unit, total, done)
        part.show()
        return part

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
                    node_head=self.node_head,
                    problem=self.problem,
                    by_hash=None,
                )
            except ScanError as error:
                log.debug("the progress cannot be recorded: %s", error)
        self._database.close()  # this thread's connection


class PartLog:
    """The log of a part's progress. Units of an earlier run do not count for its speed."""

    def __init__(self, name: str, unit: str, total: int, done: int = 0) -> None:
        self._name, self._unit = name, unit
        self._total, self._done, self._done_before = total, done, done
        self._transactions = 0
        self._began = self._logged_at = time.monotonic()

    def advance(self, units: int, transactions: int = 0) -> None:
        self._done += units
        self._transactions += transactions
        now = time.monotonic()
        if now - self._logged_at < EVERY_S and self._done < self._total:
            return
        self._logged_at = now
        elapsed_s = max(now - self._began, 1e-6)
        left_s = (self._total - self._done) * elapsed_s / max(self._done - self._done_before, 1)
        speed = self._transactions / elapsed_s
        log.info(
            "%s: %d of %d %s (%.0f %%)%s, %s left",
            self._name,
            self._done,
            self._total,
            self._unit,
            100 * self._done / max(self._total, 1),
            f", {speed:.0f} transactions/s" if self._transactions else "",
            f"{left_s / 60:.0f} min" if left_s > 120 else f"{left_s:.0f} s",
        )


class PartProgress(PartLog):
    """The progress of a part, with its share of the whole."""

    def __init__(self, whole: Progress, name: str, unit: str, total: int, done: int) -> None:
        super().__init__(name, unit, total, done)
        self._whole = whole

    def advance(self, units: int, transactions: int = 0) -> None:
        super().advance(units, transactions)
        self.show()

    def show(self) -> None:
        first, last = PARTS[self._name]
        self._whole.set_share(first + (last - first) * self._done / max(self._total, 1))
