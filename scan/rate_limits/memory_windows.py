"""Windows in the memory of a process: one lock, a bounded number of clients, no sweep."""

import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from threading import RLock
from typing import NamedTuple

from limits.storage import MemoryStorage

from scan.rate_limits.windows import RateLimitResult, Window, tightest

# Measured at 10 requests a client: 430 bytes each, so 86 MB for a full table.
MAX_CLIENTS = 200_000


def steady_clock() -> Callable[[], float]:
    """Return a clock of wall time without jumps: setting the machine's clock must not extend or
    empty a window."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()


class ChargedWindow(NamedTuple):
    """The result of charging a window: whether the request was counted, and the state after it."""

    allowed: bool
    counted: int
    reset_in_s: float  # until the oldest counted request leaves the window


class MemoryWindowStorage(MemoryStorage):
    """A storage of the package `limits` in process memory, with one lock, bounded, without a sweep.

    The package's own storage deletes a client's lock while other threads may wait for it, so that
    two threads could hold it. It never removes a client, and sweeps all of them every 10 ms, which
    took 34 to 40 % of a core with 100,000 clients at 500 requests/s. Here clients are ordered by
    their last counted request. A storage has one window length, so expired clients are in front,
    and each request removes at most two of them.
    """

    def __init__(
        self,
        max_clients: int = MAX_CLIENTS,
        clock: Callable[[], float] | None = None,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        """Storages that are charged together share a `lock`, which is an RLock."""
        super().__init__()
        self.lock = lock or RLock()
        self.clock = clock or steady_clock()
        self._max_clients = max_clients
        self._windows: OrderedDict[str, array[float]] = OrderedDict()
        self._overflow: array[float] = array("d")

    def __len__(self) -> int:
        return len(self._windows)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self.charge(key, limit, expiry, amount).allowed

    def charge(self, key: str, limit: int, expiry: int, amount: int = 1) -> ChargedWindow:
        """Do acquire_entry() and get_moving_window() in one step."""
        with self.lock:
            now = self.clock()
            for _ in range(2):
                oldest = next(iter(self._windows), None)
                if oldest is None or self._windows[oldest][-1] >= now - expiry:
                    break
                del self._windows[oldest]
            window = self._window(key)
            expired = bisect_left(window, now - expiry)
            allowed = len(window) - expired + amount <= limit
            if allowed:
                if expired > len(window) // 2:
                    del window[:expired]
                    expired = 0
                window.extend([now] * amount)
                if window is not self._overflow:
                    self._windows[key] = window
                    self._windows.move_to_end(key)
            count = len(window) - expired
            return ChargedWindow(allowed, count, window[expired] + expiry - now if count else 0.0)

    def release_entry(self, key: str) -> None:
        """Undo the last acquire_entry(). The caller must have held the lock since."""
        window = self._window(key)
        del window[-1]
        if not window:
            self._windows.pop(key, None)

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        with self.lock:
            now = self.clock()
            window = self._window(key)
            expired = bisect_left(window, now - expiry)
            return (window[expired] if expired < len(window) else now), len(window) - expired

    def clear(self, key: str) -> None:
        with self.lock:
            self._windows.pop(key, None)

    def reset(self) -> int | None:
        with self.lock:
            count = len(self._windows)
            self._windows.clear()
            del self._overflow[:]
            return count

    def _window(self, key: str) -> "array[float]":
        """Return the window of a client. In a full table all new clients share one: a flood of
        addresses then shares one limit, and evicts no other client's window."""
        window = self._windows.get(key)
        if window is not None:
            return window
        return array("d") if len(self._windows) < self._max_clients else self._overflow


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
        """Return the storage of all windows of this one's kind and length."""
        kind = window.rate.namespace, window.rate.get_expiry()
        storage = self._storages.get(kind)
        if storage is None:
            with self._lock:
                storage = self._storages.setdefault(kind, self._make_storage(self._lock))
        return storage
