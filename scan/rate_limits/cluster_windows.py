"""Windows in storages of the package `limits` that our script cannot use, such as a
Redis cluster."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from limits.errors import StorageError
from limits.strategies import MovingWindowRateLimiter

from scan.rate_limits.storage_health import StorageHealth
from scan.rate_limits.windows import RateLimitResult, WhenLost, Window, tightest

MAX_THREADS = 8  # requests that are counted at the same time in a shared storage


class WindowsInTurn:
    """Windows in a storage that charges one window at a time, such as a Redis cluster.

    With concurrent requests, one window may reject a request that another has counted already. No
    request is allowed beyond a limit.
    """

    waits = True

    def __init__(
        self,
        strategy: MovingWindowRateLimiter,
        errors: tuple[type[Exception], ...],
        health: StorageHealth,
        when_lost: WhenLost,
    ) -> None:
        """`errors` are those that an unreachable storage raises besides StorageError."""
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
        """Return the result of `count`, or that of a lost storage. A lost storage is not tried:
        a request to an unreachable cluster takes twice the time-out."""
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
