"""Moving windows of requests, counted by the package `limits`: in the memory of a process, or in a
storage that processes and hosts share, such as Redis or a cluster of it."""

import logging
import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from threading import Lock, RLock, Thread
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.errors import ConfigurationError, StorageError
from limits.storage import MovingWindowSupport, RedisStorage, Storage, storage_from_string
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
    """The windows of one namespace and length: by client, the times of its requests, the oldest
    first.

    Clients are ordered by their last counted request, so that expired ones are in front, and each
    request removes at most two of them.
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

    def forget(self, client: str) -> None:
        self._windows.pop(client, None)

    def give_back(self, client: str, now: float) -> None:
        """Remove the newest request of a client, which was just counted. No window is empty."""
        times, _ = self.times(client, now)
        times.pop()
        if not times:
            self.forget(client)

    def count(self, client: str, limit: int, amount: int, now: float) -> tuple[float, int] | None:
        """Count `amount` requests, unless they are more than the window has left; return the time
        of its oldest request and how many it has then."""
        times, first = self.times(client, now)
        if len(times) - first + amount > limit:
            return None
        if first > len(times) // 2:
            del times[:first]
            first = 0
        times.extend([now] * amount)
        if times is not self._overflow:
            self._windows[client] = times
            self._windows.move_to_end(client)
        return times[first], len(times) - first


class ProcessStorage(Storage, MovingWindowSupport):
    """A storage of `limits` in memory, of moving windows alone: one lock, a bounded number of
    clients, no sweep.

    The package's own sweeps all clients every 10 ms, which took 34 to 40 % of a core with 100,000
    clients at 500 requests/s, and deletes a client's lock while other threads may wait for it, so
    that two could hold it. Keys are those of RateLimitItem.key_for().
    """

    base_exceptions = ()

    def __init__(self, max_clients: int, clock: Callable[[], float]) -> None:
        super().__init__()
        self.lock = RLock()
        # The state of the window that was charged last, for its lock's holder: to look it up again
        # takes as long as to charge it.
        self.charged = 0.0, 0
        self._max_clients = max_clients
        self._clock = clock
        self._tables: dict[tuple[str, int], WindowTable] = {}  # by namespace and length in seconds

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self.lock:
            charged = self._table(key, expiry).count(key, limit, amount, self._clock())
            if charged is None:
                return False
            self.charged = charged
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        with self.lock:
            now = self._clock()
            times, first = self._table(key, expiry).times(key, now)
            counted = len(times) - first
            return (times[first] if counted else now), counted

    def give_back(self, key: str, expiry: int) -> None:
        """Remove the newest entry of a window, which was just charged."""
        with self.lock:
            self._table(key, expiry).give_back(key, self._clock())

    def _table(self, key: str, expiry: int) -> WindowTable:
        kind = key.partition("/")[0], expiry
        if kind not in self._tables:
            self._tables[kind] = WindowTable(expiry, self._max_clients)
        return self._tables[kind]

    def clear(self, key: str) -> None:
        for table in self._tables.values():
            table.forget(key)

    def reset(self) -> None:
        self._tables.clear()

    def check(self) -> bool:
        return True

    def incr(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("fixed windows")

    get = get_expiry = incr


class MovingWindows:
    """Windows in a storage, which counts a request in all of its windows or in none."""

    waits = False  # charge() waits for another process

    def __init__(
        self,
        storage: Any,
        clock: Callable[[], float],
        lock: AbstractContextManager[Any] = nullcontext(),  # noqa: B008
    ) -> None:
        """`clock` is that of the storage's times."""
        self._storage = storage
        self._clock = clock
        self._lock = lock
        self._strategy = MovingWindowRateLimiter(storage)

    def submit(self, *windows: Window) -> Future[RateLimitResult]:
        """Charge in another thread, as charge() does, in a store that `waits`."""
        raise NotImplementedError("windows in memory never wait")

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        """Count a request in windows, the narrower first, and return the tightest state of them; or
        if not `is_counted` return the current state, which is `allowed` if the next request would
        be. Raises Unavailable if it cannot be counted."""
        with self._lock:
            if not is_counted:
                return tightest([self._state(window) for window in windows])
            results: list[RateLimitResult] = []
            for window in windows:
                if not self._strategy.hit(window.rate, window.client):
                    for charged in windows[: len(results)]:
                        self._give_back(charged)
                    return tightest([*map(self._state, windows)])._replace(allowed=False)
                results.append(self._state_after_hit(window))
        return results[0] if len(results) == 1 else tightest(results)

    def _state(self, window: Window) -> RateLimitResult:
        reset, left = self._strategy.get_window_stats(window.rate, window.client)
        amount = window.rate.amount
        reset_in_s = reset - self._clock() if left < amount else 0.0
        window_s = window.rate.get_expiry()
        return RateLimitResult(left > 0, amount, max(0, left), reset_in_s, window_s)

    def _state_after_hit(self, window: Window) -> RateLimitResult:
        return self._state(window)._replace(allowed=True)

    def _give_back(self, window: Window) -> None:
        """Take back what a further window refused."""
        raise NotImplementedError


class ProcessWindows(MovingWindows):
    """Windows in memory, exact within one process."""

    def __init__(
        self, max_clients: int = MAX_CLIENTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` has no jumps: setting the machine's clock must not extend or empty a window."""
        storage = ProcessStorage(max_clients, clock)
        super().__init__(storage, clock, storage.lock)

    def _state_after_hit(self, window: Window) -> RateLimitResult:
        oldest, counted = self._storage.charged
        amount = window.rate.amount
        window_s = window.rate.get_expiry()
        reset_in_s = oldest + window_s - self._clock()
        return RateLimitResult(True, amount, amount - counted, reset_in_s, window_s)

    def _give_back(self, window: Window) -> None:
        self._storage.give_back(window.rate.key_for(window.client), window.rate.get_expiry())


class SharedWindows(MovingWindows):
    """Windows in a storage that others share, by their clocks. While it does not count, `when_lost`
    returns the results, and requests do not wait: one to an unreachable cluster takes twice the
    time-out.

    No request is allowed beyond a limit. Redis charges windows together: a window at a time, by the
    scripts of `limits`, a key's two took 137 us of processor, not 42. Elsewhere one may refuse a
    request because of another that a further window refuses at the same moment, until that is given
    back; in MongoDB it stays counted.
    """

    waits = True

    def __init__(self, uri: str, when_lost: Callable[[Sequence[Window]], RateLimitResult]) -> None:
        """Raises SettingError where the storage cannot be used or has no moving windows."""
        lost: tuple[type[Exception], ...] = (StorageError, *_cluster_errors(uri))
        unusable: tuple[type[Exception], ...] = (*UNUSABLE, *lost)
        timeouts = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
        options = timeouts if uri.startswith(("redis", "valkey")) else {}
        try:
            storage: Any = storage_from_string(uri, wrap_exceptions=True, **options)
            super().__init__(storage, time.time)
        except unusable as error:
            scheme = uri.partition("://")[0]  # the rest may contain a password
            raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None
        self._errors: tuple[type[Exception], ...] = (*lost, storage.base_exceptions)
        self._script: Any = None
        if isinstance(storage, RedisStorage) and "+cluster" not in uri.partition("://")[0]:
            self._script = storage.get_connection().register_script(CHARGE.read_bytes())
        self._when_lost = when_lost
        self.is_lost = False
        self._losing = Lock()
        # Its threads start with the first request, after the worker was forked.
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="rate-limits")

    def submit(self, *windows: Window) -> Future[RateLimitResult]:
        return self._threads.submit(self.charge, *windows)

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
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
        if self._script is None:
            return super().charge(*windows, is_counted=is_counted)
        return self._run_script(windows, is_counted)

    def _run_script(self, windows: Sequence[Window], is_counted: bool) -> RateLimitResult:
        now = self._clock()
        keys = [self._storage.prefixed_key(rate.key_for(client)) for rate, client in windows]
        bounds = [number for rate, _ in windows for number in (rate.amount, rate.get_expiry())]
        allowed, *states = self._script(keys, [now, int(is_counted), *bounds])
        results = []
        for (rate, _), counted, oldest in zip(windows, states[::2], states[1::2], strict=True):
            reset_in_s = float(oldest) + rate.get_expiry() - now if counted else 0.0
            left = max(0, rate.amount - counted)
            results.append(
                RateLimitResult(allowed == 1, rate.amount, left, reset_in_s, rate.get_expiry())
            )
        return tightest(results)

    def _give_back(self, window: Window) -> None:
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


def tightest(results: Sequence[RateLimitResult]) -> RateLimitResult:
    """Return a rejection if there is one, else the result with the fewest requests left."""
    return min(results, key=lambda result: (result.allowed, result.remaining, -result.reset_in_s))
