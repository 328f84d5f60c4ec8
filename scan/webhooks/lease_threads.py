"""Threads that serve one lease each, some of them reserved for healthy receivers."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from scan.webhooks.queues import Lease


class LeaseThreads:
    """Slow, failing and new receivers can use only the threads that are not reserved."""

    def __init__(self, threads: int, for_healthy: int, on_free: Callable[[], None]) -> None:
        self._executor = ThreadPoolExecutor(threads, "deliver")
        self._threads = threads
        self._max_unhealthy = threads - for_healthy
        self._on_free = on_free
        self._lock = threading.Lock()
        self._busy = 0
        self.unhealthy = 0

    @property
    def has_free(self) -> bool:
        return self._busy < self._threads

    @property
    def may_serve_unhealthy(self) -> bool:
        return self.unhealthy < self._max_unhealthy

    def submit(self, serve: Callable[[Lease], None], lease: Lease) -> None:
        self._count(lease, 1)
        self._executor.submit(self._run, serve, lease)

    def wait_until_idle(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while self._busy and time.monotonic() < deadline:
            time.sleep(0.02)

    def shutdown(self) -> None:
        self._executor.shutdown(wait=True)

    def _run(self, serve: Callable[[Lease], None], lease: Lease) -> None:
        try:
            serve(lease)
        finally:
            self._count(lease, -1)
            self._on_free()

    def _count(self, lease: Lease, change: int) -> None:
        with self._lock:
            self._busy += change
            if not lease.is_healthy:
                self.unhealthy += change
