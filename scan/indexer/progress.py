"""Long catch-up, told: a bar on a terminal, else a line every few seconds."""

import logging
import sys
import time
from typing import Never

from tqdm import tqdm

log = logging.getLogger(__name__)

EVERY_S = 5.0
WORTH_TELLING = 50  # blocks


class Progress:
    """Blocks/s, share done and time left of one catch-up from `first` to `last`."""

    def __init__(self, first: int, last: int) -> None:
        self._first = first
        self._last = last
        self._began = self._told = time.monotonic()
        self._transactions = 0
        self._is_long = last - first >= WORTH_TELLING
        self._bar: tqdm[Never] | None = None
        if self._is_long and sys.stderr.isatty():
            self._bar = tqdm(total=last - first + 1, desc="indexing", unit=" blocks", leave=False)

    def advance(self, number: int, transactions: int) -> None:
        self._transactions += transactions
        if self._bar is not None:
            self._bar.update(number - self._first + 1 - self._bar.n)
        now = time.monotonic()
        is_end = number == self._last
        if not self._is_long or (now - self._told < EVERY_S and not is_end):
            return
        self._told = now
        if self._bar is None or is_end:
            self._tell(number, now)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def _tell(self, number: int, now: float) -> None:
        done = number - self._first + 1
        elapsed = max(now - self._began, 1e-6)
        left = (self._last - number) * elapsed / done
        log.info(
            "block %d of %d (%.0f %%), %.0f blocks/s, %.0f transactions/s, %s left",
            number,
            self._last,
            100 * done / (self._last - self._first + 1),
            done / elapsed,
            self._transactions / elapsed,
            f"{left / 60:.0f} min" if left > 120 else f"{left:.0f} s",
        )
