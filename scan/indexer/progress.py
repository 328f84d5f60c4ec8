"""Long catch-up, told: a line every few seconds."""

import logging
import time

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

    def advance(self, number: int, transactions: int) -> None:
        self._transactions += transactions
        now = time.monotonic()
        is_end = number == self._last
        if self._last - self._first < WORTH_TELLING or (now - self._told < EVERY_S and not is_end):
            return
        self._told = now
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
