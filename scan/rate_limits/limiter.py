"""Moving-window rate limits that hold exactly, whichever thread serves the request."""

import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from threading import RLock
from typing import NamedTuple

from limits import RateLimitItem, RateLimitItemPerMinute, parse
from limits.errors import ConfigurationError, StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from scan.errors import SettingError, Unavailable
from scan.settings import Settings

# Measured at 10 requests a client: 430 bytes each, so 86 MB for a full table.
MOST_CLIENTS = 200_000
_STORAGE_TIMEOUT_S = 1.0


class Verdict(NamedTuple):
    allowed: bool
    limit: int
    remaining: int
    reset_in_s: float  # until the oldest counted request leaves the window


def steady_clock() -> Callable[[], float]:
    """Wall time that never steps: a corrected clock must not freeze or free a window."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()


class MemoryWindows(MemoryStorage):
    """`limits` storage in process: one lock, bounded, without a sweep.

    The stock storage takes a client's lock away while other threads may wait for it, so that two
    could hold "the" lock; it never forgets a client, and sweeps all of them every 10 ms: 34 to
    40 % of a core with 100,000 clients at 500 requests/s. Here clients stand in the order of
    their last counted request. One storage serves one window length, so the expired ones are in
    front, and each request removes at most two: there is nothing to pause for.
    """

    def __init__(
        self, most_clients: int = MOST_CLIENTS, clock: Callable[[], float] | None = None
    ) -> None:
        super().__init__()
        self.lock = RLock()
        self.clock = clock or steady_clock()
        self._most_clients = most_clients
        self._windows: OrderedDict[str, array[float]] = OrderedDict()
        self._overflow: array[float] = array("d")

    def __len__(self) -> int:
        return len(self._windows)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        with self.lock:
            now = self.clock()
            self._forget_expired(now - expiry)
            window = self._window(key)
            expired = bisect_left(window, now - expiry)
            if len(window) - expired + amount > limit:
                return False
            if expired > len(window) // 2:
                del window[:expired]
            window.extend([now] * amount)
            if window is not self._overflow:
                self._windows[key] = window
                self._windows.move_to_end(key)
            return True

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
        """A full table gives every newcomer the same window: a flood of addresses then shares
        one limit, and nobody who is being counted is forgotten for it."""
        window = self._windows.get(key)
        if window is not None:
            return window
        return array("d") if len(self._windows) < self._most_clients else self._overflow

    def _forget_expired(self, before: float) -> None:
        for _ in range(2):
            oldest = next(iter(self._windows), None)
            if oldest is None or self._windows[oldest][-1] >= before:
                return
            del self._windows[oldest]


class Windows(NamedTuple):
    """One storage with its clock; counting and reading back are one step where it has a lock."""

    strategy: MovingWindowRateLimiter
    lock: AbstractContextManager[object]
    clock: Callable[[], float]

    def charge(self, rate: RateLimitItem, client: str) -> Verdict:
        """Raises Unavailable where the storage does not answer."""
        with self._answering():
            return self._verdict(self.strategy.hit(rate, client), rate, client)

    def peek(self, rate: RateLimitItem, client: str) -> Verdict:
        with self._answering():
            return self._verdict(True, rate, client)

    def _verdict(self, allowed: bool, rate: RateLimitItem, client: str) -> Verdict:
        reset, remaining = self.strategy.get_window_stats(rate, client)
        return Verdict(allowed, rate.amount, max(0, remaining), reset - self.clock())

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with self.lock:
                yield
        except StorageError:
            raise Unavailable("The rate limit cannot be counted now; try again soon.") from None


class Limiter(NamedTuple):
    addresses: Windows
    keys: Windows
    anonymous: RateLimitItem

    def charge_address(self, address: str) -> Verdict:
        return self.addresses.charge(self.anonymous, address)

    def peek_address(self, address: str) -> Verdict:
        return self.addresses.peek(self.anonymous, address)

    def charge_key(self, key_id: int, requests_per_minute: int) -> Verdict:
        return self.keys.charge(_per_minute(requests_per_minute), str(key_id))


def make_limiter(settings: Settings) -> Limiter:
    """Raises SettingError where the storage cannot hold a moving window."""
    anonymous = parse(settings.rate_limit_anonymous)
    if counts_in_process(settings):
        return Limiter(_in_memory(), _in_memory(), anonymous)
    shared = _shared(settings.rate_limit_storage)
    return Limiter(shared, shared, anonymous)


def counts_in_process(settings: Settings) -> bool:
    """Whether the limits are exact in one process only."""
    return settings.rate_limit_storage.startswith("memory:")


def requests_per_minute(rate: str) -> int:
    """A rate in `limits` notation as whole requests a minute, at least one."""
    item = parse(rate)
    return max(1, item.amount * 60 // item.get_expiry())


def _in_memory() -> Windows:
    storage = MemoryWindows()
    return Windows(MovingWindowRateLimiter(storage), storage.lock, storage.clock)


def _shared(uri: str) -> Windows:
    timeouts = {}
    if uri.startswith(("redis", "valkey")):
        # Without these a silent server would hold every thread for ever.
        timeouts = {
            "socket_timeout": _STORAGE_TIMEOUT_S,
            "socket_connect_timeout": _STORAGE_TIMEOUT_S,
        }
    try:
        storage = storage_from_string(uri, wrap_exceptions=True, **timeouts)
        return Windows(MovingWindowRateLimiter(storage), nullcontext(), time.time)
    except (ConfigurationError, NotImplementedError, AssertionError, ValueError) as error:
        scheme = uri.partition("://")[0]  # the rest may hold a password
        raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return RateLimitItemPerMinute(amount, namespace="KEY")
