"""Windows in any storage of the package `limits` that other processes share, such as Redis."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import Any

from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter

from scan.errors import SettingError
from scan.rate_limits.windows import RateLimitResult, Window, refuse, tightest

MAX_THREADS = 8  # requests that are counted at the same time in a shared storage
# A storage that does not respond within this time counts as down: without time-outs, it would hold
# every thread for ever.
_TIMEOUT_S = 1.0


class LibraryWindows:
    """Windows in a storage that charges one window at a time, such as a Redis cluster.

    With concurrent requests, one window may reject a request that another has counted already. No
    request is allowed beyond a limit.
    """

    waits = True

    def __init__(self, uri: str) -> None:
        """Raises SettingError where the storage cannot be used or has no moving windows."""
        self._errors: tuple[type[Exception], ...] = (StorageError, *_cluster_errors(uri))
        configuration: tuple[type[Exception], ...] = (
            ConfigurationError,
            NotImplementedError,
            AssertionError,
            ValueError,
            *self._errors,
        )
        timeouts = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}
        options = timeouts if uri.startswith(("redis", "valkey")) else {}
        try:
            self.storage: Any = storage_from_string(uri, wrap_exceptions=True, **options)
            self._strategy = MovingWindowRateLimiter(self.storage)
        except configuration as error:
            scheme = uri.partition("://")[0]  # the rest may contain a password
            raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None
        # Its threads start with the first request, after the worker was forked.
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="rate-limits")

    def submit(self, *windows: Window) -> Future[RateLimitResult]:
        return self._threads.submit(self.charge, *windows)

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        try:
            return self._charge_all(windows, is_counted)
        except self._errors:
            return refuse(windows)

    def _charge_all(self, windows: Sequence[Window], is_counted: bool) -> RateLimitResult:
        if len(windows) > 1 or not is_counted:
            left = tightest([self._stats(window) for window in windows])
            if not left.allowed or not is_counted:
                return left
        return tightest([self._charge(window) for window in windows])

    def _charge(self, window: Window) -> RateLimitResult:
        allowed = self._strategy.hit(window.rate, window.client)
        return self._stats(window)._replace(allowed=allowed)

    def _stats(self, window: Window) -> RateLimitResult:
        reset, remaining = self._strategy.get_window_stats(window.rate, window.client)
        counted = window.rate.amount - remaining
        return window.result(remaining > 0, counted, reset - time.time())


def _cluster_errors(uri: str) -> tuple[type[Exception], ...]:
    """Return the errors of an unreachable cluster that are not RedisError."""
    scheme = uri.partition("://")[0]
    if "+cluster" not in scheme:
        return ()
    package = "valkey" if scheme.startswith("valkey") else "redis"
    try:  # the package is an optional dependency
        exceptions = import_module(f"{package}.exceptions")
    except ImportError:
        return ()  # `limits` reports that the package is missing
    return (getattr(exceptions, f"{package.capitalize()}ClusterException"),)
