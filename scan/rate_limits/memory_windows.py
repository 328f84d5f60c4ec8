"""Windows in the memory of a process: one lock, a bounded number of clients, no sweep."""

import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from scan.rate_limits.windows import RateLimitResult, Window, tightest

# Measured at 10 requests a client: 430 bytes each, so 86 MB for a full table.
MAX_CLIENTS = 200_000


class WindowTable:
    """The windows of one kind and length: by client, the times of its requests, the oldest first.

    Clients are ordered by their last counted request, so that expired ones are in front, and each
    request removes at most two of them. The memory storage of the package `limits` sweeps all
    clients every 10 ms, which took 34 to 40 % of a core with 100,000 clients at 500 requests/s, and
    deletes a client's lock while other threads may wait for it, so that two could hold it.
    """

    def __init__(self, length_s: int, max_clients: int) -> None:
        self.length_s = length_s
        self._max_clients = max_clients
        self._windows: OrderedDict[str, array[float]] = OrderedDict()
        self._overflow: array[float] = array("d")

    def __len__(self) -> int:
        return len(self._windows)

    def times(self, client: str, now: float) -> "tuple[array[float], int]":
        """Return the times of a client's requests, and the index of the first one in the window.

        In a full table all new clients share one window: a flood of addresses then shares one
        limit, and evicts no other client's window.
        """
        edge = now - self.length_s
        for _ in range(2):
            oldest = next(iter(self._windows), None)
            if oldest is None or self._windows[oldest][-1] >= edge:
                break
            del self._windows[oldest]
        times = self._windows.get(client)
        if times is None:
            is_full = len(self._windows) >= self._max_clients
            times = self._overflow if is_full else array("d")
        return times, bisect_left(times, edge)

    def count(self, client: str, times: "array[float]", first: int, now: float) -> int:
        """Count a request, where times() has returned `times` and `first`. Return the new index."""
        if first > len(times) // 2:
            del times[:first]
            first = 0
        times.append(now)
        if times is not self._overflow:
            self._windows[client] = times
            self._windows.move_to_end(client)
        return first


class ProcessWindows:
    """Windows in memory, exact within one process."""

    waits = False

    def __init__(
        self, max_clients: int = MAX_CLIENTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` has no jumps: setting the machine's clock must not extend or empty a window."""
        self._max_clients = max_clients
        self._clock = clock
        self._lock = Lock()
        self._tables: dict[tuple[str, int], WindowTable] = {}  # by kind and length in seconds

    def submit(self, *windows: Window) -> Future[RateLimitResult]:
        raise NotImplementedError("windows in memory never wait")

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        """Return the tightest state of the windows. The request `is_counted` in all of them, unless
        one of them rejects it."""
        with self._lock:
            now = self._clock()
            states = []
            for window in windows:
                kind = window.rate.namespace, window.rate.get_expiry()
                table = self._tables.get(kind)
                if table is None:
                    table = self._tables[kind] = WindowTable(kind[1], self._max_clients)
                times, first = table.times(window.client, now)
                states.append((window, table, times, first))
                is_counted = is_counted and len(times) - first < window.rate.amount
            results = []
            for window, table, times, first in states:
                is_free = len(times) - first < window.rate.amount
                if is_counted:
                    first = table.count(window.client, times, first, now)
                counted = len(times) - first
                reset_in_s = times[first] + table.length_s - now if counted else 0.0
                results.append(window.result(is_free, counted, reset_in_s))
        return results[0] if len(results) == 1 else tightest(results)
