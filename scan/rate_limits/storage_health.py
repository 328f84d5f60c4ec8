"""The health of the storage of rate limits: while it does not respond, requests do not wait."""

import logging
import time
from collections.abc import Callable
from threading import Lock, Thread

from scan.observability import metrics

log = logging.getLogger(__name__)

PROBE_EVERY_S = 0.1  # while the storage does not respond


class StorageHealth:
    def __init__(self, check: Callable[[], bool]) -> None:
        """`check` returns whether the storage responds. It may wait, and must not raise."""
        self.is_lost = False
        self._check = check
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
        while not self._check():
            time.sleep(PROBE_EVERY_S)
        log.info("rate limit storage is up again")
        metrics.RATE_LIMIT_STORAGE_UP.set(1)
        self.is_lost = False
