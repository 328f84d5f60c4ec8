"""Windows in the process's memory, and in storages of `limits` without our own script."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import RLock

from limits.errors import StorageError
from limits.strategies import MovingWindowRateLimiter

from scan.rate_limits.memory_storage import MemoryWindowStorage
from scan.rate_limits.storage_health import StorageHealth
from scan.rate_limits.windows import RateLimitResult, WhenLost, Window, tightest

MAX_THREADS = 8  # requests counted at the same time in a shared storage

MakeStorage = Callable[[AbstractContextManager[object]], MemoryWindowStorage]


class ProcessWindows:
    """Windows in memory, exact within one process."""

    waits = False

    def __init__(
        self, make_storage: MakeStorage = lambda lock: MemoryWindowStorage(lock=lock)
    ) -> None:
        self._lock = RLock()
        self._make_storage = make_storage
        self._storages: dict[tuple[str, int], MemoryWindowStorage] = {}  # by kind and length in s

    def charge(self, *windows: Window) -> RateLimitResult:
        if len(windows) == 1:
            return self._charge(windows[0])
        with self._lock:
            results = [self._charge(window) for window in windows]
            # A request that one window rejects must not be counted in the others.
            if any(result.allowed != results[0].allowed for result in results):
                for window, result in zip(windows, results, strict=True):
                    if result.allowed:
                        self._storage(window).release_entry(window.client)
        return tightest(results)

    def submit(self, *windows: Window) -> "Future[RateLimitResult] | None":
        return None

    def peek(self, window: Window) -> RateLimitResult:
        rate = window.rate
        storage = self._storage(window)
        with self._lock:
            oldest, counted = storage.get_moving_window(
                window.client, rate.amount, rate.get_expiry()
            )
            reset_in_s = oldest + rate.get_expiry() - storage.clock() if counted else 0.0
        return window.result(counted < rate.amount, counted, reset_in_s)

    def _charge(self, window: Window) -> RateLimitResult:
        rate = window.rate
        storage = self._storage(window)
        allowed, counted, reset_in_s = storage.charge(window.client, rate.amount, rate.get_expiry())
        return window.result(allowed, counted, reset_in_s)

    def _storage(self, window: Window) -> MemoryWindowStorage:
        """Return the storage of the windows of one kind and length, which has each client once."""
        kind = window.rate.namespace, window.rate.get_expiry()
        storage = self._storages.get(kind)
        if storage is None:
            with self._lock:
                storage = self._storages.setdefault(kind, self._make_storage(self._lock))
        return storage


class WindowsInTurn:
    """For storages that charge one window at a time, such as a Redis cluster.

    With concurrent requests a request may be rejected by one window although another has counted
    it; none is allowed beyond a limit.
    """

    waits = True

    def __init__(
        self,
        strategy: MovingWindowRateLimiter,
        errors: tuple[type[Exception], ...],
        health: StorageHealth,
        when_lost: WhenLost,
    ) -> None:
        """`errors`: what the storage raises besides StorageError when it is unreachable."""
        self._strategy = strategy
        self._errors: tuple[type[Exception], ...] = (StorageError, *errors)
        self._health = health
        self._when_lost = when_lost
        # Its threads start with the first request, after the worker was forked.
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="rate-limits")

    def charge(self, *windows: Window) -> RateLimitResult:
        return self._unless_lost(lambda: self._charge_all(windows), windows)

    def submit(self, *windows: Window) -> "Future[RateLimitResult] | None":
        return self._threads.submit(self.charge, *windows)

    def peek(self, window: Window) -> RateLimitResult:
        return self._unless_lost(lambda: self._stats(window), [window])

    def _unless_lost(
        self, count: Callable[[], RateLimitResult], windows: Sequence[Window]
    ) -> RateLimitResult:
        """A request to an unreachable cluster takes twice the time-out, so not all are sent."""
        if not self._health.is_lost:
            try:
                return count()
            except self._errors as error:
                self._health.lose(error)
        return self._when_lost(windows)

    def _charge_all(self, windows: Sequence[Window]) -> RateLimitResult:
        if len(windows) > 1:
            left = tightest([self._stats(window) for window in windows])
            if not left.allowed:
                return left
        return tightest([self._charge(window) for window in windows])

    def _charge(self, window: Window) -> RateLimitResult:
        allowed = self._strategy.hit(window.rate, window.client)
        return self._stats(window)._replace(allowed=allowed)

    def _stats(self, window: Window) -> RateLimitResult:
        reset, remaining = self._strategy.get_window_stats(window.rate, window.client)
        counted = window.rate.amount - remaining
        return window.result(remaining > 0, counted, reset - time.time())
