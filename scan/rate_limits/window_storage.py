"""Moving windows of requests: in the memory of a process, or by the package `limits` in a storage
that processes and hosts share, such as Redis or a cluster of it."""

import logging
import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.errors import ConfigurationError, StorageError
from limits.storage import RedisStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from scan.errors import SettingError, Unavailable
from scan.observability import metrics

log = logging.getLogger(__name__)

# Measured at 10 requests a client: 430 bytes each, so 86 MB for a full table.
MAX_CLIENTS = 200_000
MAX_THREADS = 8  # requests that are counted at the same time in a shared storage
# A shared storage that does not respond within this time counts as down: without time-outs, it
# would hold every thread for ever.
TIMEOUT_S = 1.0
UNUSABLE = (ConfigurationError, NotImplementedError, AssertionError, ValueError)
CHARGE = Path(__file__).with_name("charge.lua")  # counts a request in all of its windows
PROBE_EVERY_S = 0.1  # while a shared storage does not count
PROBE_RATE = RateLimitItemPerSecond(1, namespace="PROBE")


class RateLimitResult(NamedTuple):
    """Whether a request is allowed, and the state of its client's window after it."""

    allowed: bool
    limit: int
    remaining: int
    reset_in_s: float  # until the oldest counted request leaves the window
    window_s: int = 60

    @property
    def retry_after_s(self) -> int:
        """The seconds to wait, rounded up, so that a request after them is allowed."""
        return max(1, int(self.reset_in_s) + 1)


class Window(NamedTuple):
    """The window of one client, which is an address or the id of a key."""

    rate: RateLimitItem
    client: str


def probe_window() -> Window:
    """Return a window of its own, which only counting a request in it writes: a storage that is
    full, or a read-only replica, still answers whatever only reads."""
    return Window(PROBE_RATE, token_hex(8))


def refuse(charged: Sequence[Window]) -> RateLimitResult:
    raise Unavailable("The rate limit cannot be checked now; try again shortly.")


class WindowTable:
    """The windows of one kind, by client.

    Clients are ordered by their last counted request, so that expired ones are in front, and each
    request removes at most two of them.
    """

    def __init__(self, length_s: int, max_clients: int) -> None:
        self._length_s = length_s
        self._max_clients = max_clients
        self._windows: OrderedDict[str, array[float]] = OrderedDict()
        self._overflow: array[float] = array("d")

    def __len__(self) -> int:
        return len(self._windows)

    def find(self, client: str, now: float) -> "tuple[array[float], int]":
        """Return the times of a client's requests, the oldest first, and the index of the first one
        in the window.

        In a full table all new clients share one window: a flood of addresses then shares one
        limit, and evicts no other client's window.
        """
        edge = now - self._length_s
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

    def count(self, client: str, times: "array[float]", first: int, now: float) -> None:
        """Count a request in the window that was found at this moment."""
        if first > len(times) // 2:
            del times[:first]
        times.append(now)
        if times is not self._overflow:
            self._windows[client] = times
            self._windows.move_to_end(client)


class ProcessWindows:
    """Windows in memory, exact within one process: one lock, a bounded number of clients, no sweep.

    The memory storage of `limits` sweeps all clients every 10 ms, which took 34 to 40 % of a core
    with 100,000 clients at 500 requests/s, and deletes a client's lock while other threads may wait
    for it, so that two could hold it.
    """

    def __init__(
        self, max_clients: int = MAX_CLIENTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` has no jumps: setting the machine's clock must not extend or empty a window."""
        self._max_clients = max_clients
        self._clock = clock
        self._lock = Lock()
        self._tables: dict[tuple[str, int], WindowTable] = {}  # by namespace and length in seconds

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        """Count a request in all windows or, where one is full, in none, and return the tightest
        state of them; if not `is_counted` return it as it is, which is `allowed` if the next
        request would be."""
        with self._lock:
            now, allowed, states, results = self._clock(), True, [], []
            for rate, client in windows:
                table = self._table(rate)
                times, first = table.find(client, now)
                allowed = allowed and len(times) - first < rate.amount
                states.append((rate, client, table, times, first))
            for rate, client, table, times, first in states:
                count = len(times) - first
                oldest = times[first] if count else now
                if allowed and is_counted:
                    table.count(client, times, first, now)
                    count += 1
                results.append(_state(rate, allowed, count, oldest, now))
        return results[0] if len(results) == 1 else tightest(results)

    def _table(self, rate: RateLimitItem) -> WindowTable:
        kind = rate.namespace, rate.get_expiry()
        table = self._tables.get(kind)
        if table is None:
            table = self._tables[kind] = WindowTable(kind[1], self._max_clients)
        return table


class SharedWindows:
    """Windows in a storage that others share, by their clocks. While it does not count, `when_lost`
    returns the results, and requests do not wait: one to an unreachable cluster takes twice the
    time-out.

    No request is allowed beyond a limit. Redis charges windows together: a window at a time, by the
    scripts of `limits`, a cached response to a key took 630 us of the worker's processor, not 400,
    and half as many were sent in a second. Elsewhere one may refuse a request because of another
    that a further window refuses at the same moment, until that is given back; in MongoDB it stays
    counted.
    """

    def __init__(self, uri: str, when_lost: Callable[[Sequence[Window]], RateLimitResult]) -> None:
        """Raises SettingError where the storage cannot be used or has no moving windows."""
        lost: tuple[type[Exception], ...] = (StorageError, *_cluster_errors(uri))
        unusable: tuple[type[Exception], ...] = (*UNUSABLE, *lost)
        timeouts = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
        options = timeouts if uri.startswith(("redis", "valkey")) else {}
        try:
            storage: Any = storage_from_string(uri, wrap_exceptions=True, **options)
            self._strategy = MovingWindowRateLimiter(storage)
        except unusable as error:
            scheme = uri.partition("://")[0]  # the rest may contain a password
            raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None
        self._storage = storage
        self._errors: tuple[type[Exception], ...] = (*lost, storage.base_exceptions)
        self._script: Any = None
        if isinstance(storage, RedisStorage) and "+cluster" not in uri.partition("://")[0]:
            self._script = storage.get_connection().register_script(CHARGE.read_bytes())
        self._when_lost = when_lost
        self.is_lost = False
        self._losing = Lock()
        # Its threads start with the first request, after the worker was forked.
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="rate-limits")

    def submit(self, *windows: Window, is_counted: bool = True) -> Future[RateLimitResult]:
        """Charge in another thread, as charge() does."""
        return self._threads.submit(self.charge, *windows, is_counted=is_counted)

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        """Charge as ProcessWindows does, the narrower window first. Raises Unavailable if the
        request cannot be counted."""
        if not self.is_lost:
            try:
                return self._charge(windows, is_counted)
            except self._errors as error:
                self._lose(error)
        return self._when_lost(windows)

    def failure(self) -> Exception | None:
        """Return why requests cannot be counted now, or None."""
        try:
            self._charge([probe_window()], is_counted=True)
        except self._errors as error:
            return error
        return None

    def _charge(self, windows: Sequence[Window], is_counted: bool) -> RateLimitResult:
        if self._script is not None:
            return self._run_script(windows, is_counted)
        counted: list[Window] = []
        for window in windows:
            if is_counted and not self._strategy.hit(window.rate, window.client):
                for charged in counted:
                    self._give_back(charged)
                return tightest([*map(self._result, windows)])._replace(allowed=False)
            counted.append(window)
        result = tightest([*map(self._result, windows)])
        return result._replace(allowed=True) if is_counted else result

    def _run_script(self, windows: Sequence[Window], is_counted: bool) -> RateLimitResult:
        now = time.time()
        keys = [self._storage.prefixed_key(rate.key_for(client)) for rate, client in windows]
        bounds = [number for rate, _ in windows for number in (rate.amount, rate.get_expiry())]
        allowed, *states = self._script(keys, [now, int(is_counted), *bounds])
        return tightest(
            [
                _state(rate, allowed == 1, count, float(oldest), now)
                for (rate, _), count, oldest in zip(windows, states[::2], states[1::2], strict=True)
            ]
        )

    def _result(self, window: Window) -> RateLimitResult:
        rate, now = window.rate, time.time()
        reset, remaining = self._strategy.get_window_stats(rate, window.client)
        return _state(rate, remaining > 0, rate.amount - remaining, reset - rate.get_expiry(), now)

    def _give_back(self, window: Window) -> None:
        """Take back what a further window refused."""
        if isinstance(self._storage, RedisStorage):
            key = self._storage.prefixed_key(window.rate.key_for(window.client))
            connection: Any = self._storage.get_connection()
            connection.lpop(key)

    def _lose(self, error: Exception) -> None:
        with self._losing:
            if self.is_lost:
                return
            Thread(target=self._probe, name="rate-limits-probe", daemon=True).start()
            self.is_lost = True
        log.warning("rate limit storage is down: %s", type(error).__name__)
        metrics.RATE_LIMIT_STORAGE_UP.set(0)

    def _probe(self) -> None:
        time.sleep(PROBE_EVERY_S)
        while self.failure() is not None:
            time.sleep(PROBE_EVERY_S)
        log.info("rate limit storage is up again")
        metrics.RATE_LIMIT_STORAGE_UP.set(1)
        self.is_lost = False


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


def _state(
    rate: RateLimitItem, allowed: bool, count: int, oldest: float, now: float
) -> RateLimitResult:
    """Return the state of a window with the number of its requests and the time of the oldest."""
    window_s = rate.get_expiry()
    reset_in_s = oldest + window_s - now if count else 0.0
    return RateLimitResult(allowed, rate.amount, max(0, rate.amount - count), reset_in_s, window_s)


def tightest(results: Sequence[RateLimitResult]) -> RateLimitResult:
    """Return a rejection if there is one, else the result with the fewest requests left."""
    return min(results, key=lambda result: (result.allowed, result.remaining, -result.reset_in_s))
