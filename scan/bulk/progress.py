"""Progress of a stage, on the log: how much is done, how fast, and how long the rest takes."""

import logging
import time

log = logging.getLogger(__name__)

LOG_EVERY_S = 5.0


class StageProgress:
    """Counts units of a stage; `done` are of an earlier run and say nothing of the speed."""

    def __init__(self, stage: str, unit: str, total: int, done: int = 0) -> None:
        self._stage, self._unit = stage, unit
        self._total, self._done, self._done_before = total, done, done
        self._transactions = 0
        self._began = self._logged_at = time.monotonic()

    def advance(self, units: int, transactions: int = 0) -> None:
        self._done += units
        self._transactions += transactions
        now = time.monotonic()
        if now - self._logged_at < LOG_EVERY_S and self._done < self._total:
            return
        self._logged_at = now
        elapsed_s = max(now - self._began, 1e-6)
        left_s = (self._total - self._done) * elapsed_s / max(self._done - self._done_before, 1)
        speed = self._transactions / elapsed_s
        log.info(
            "%s: %d of %d %s (%.0f %%)%s, %s left",
            self._stage,
            self._done,
            self._total,
            self._unit,
            100 * self._done / max(self._total, 1),
            f", {speed:.0f} transactions/s" if self._transactions else "",
            f"{left_s / 60:.0f} min" if left_s > 120 else f"{left_s:.0f} s",
        )
