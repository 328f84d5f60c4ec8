"""Whether a storage of rate limits answers: nobody waits for one that does not, until it does."""

import logging
import time
from collections.abc import Callable
from threading import Lock, Thread

from scan.observability import metrics

log = logging.getLogger(__name__)

PROBE_EVERY_S = 0.1  # while the storage does not answer


class StorageHealth:
    def __init__(self, answers: Callable[[], bool]) -> None:
        """`answers` may wait, and raises nothing."""
        self.is_lost = False
        self._answers = answers
        self._lock = Lock()

    def lose(self, error: Exception) -> None:
        with self._lock:
            if self.is_lost:
                return
            self.is_lost = True
        log.warning("rate limit storage is down: %s", type(error).__name__)
        metrics.RATE_LIMIT_STORAGE_UP.set(0)
        Thread(target=self._probe, name="rate-limits-probe", daemon=True).start()

    def _probe(self) -> None:
        time.sleep(PROBE_EVERY_S)
        while not self._answers():
            time.sleep(PROBE_EVERY_S)
        log.info("rate limit storage is up again")
        metrics.RATE_LIMIT_STORAGE_UP.set(1)
        self.is_lost = False
