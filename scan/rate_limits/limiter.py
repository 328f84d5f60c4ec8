"""Moving-window rate limits that hold exactly, whichever thread serves the request."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from threading import RLock
from typing import Any, NamedTuple, cast

from limits import RateLimitItem, RateLimitItemPerMinute, parse
from limits.errors import ConfigurationError, StorageError
from limits.storage import RedisClusterStorage, RedisStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from scan.errors import SettingError, Unavailable
from scan.rate_limits.memory_storage import MemoryWindowStorage
from scan.settings import Settings

_STORAGE_TIMEOUT_S = 1.0

# Redis runs a script as one step: every window gets the request, or none does.
# KEYS: the windows. ARGV: the time in Unix seconds, then limit and length in seconds of each.
# Returns whether there was room in all of them.
_CHARGE_ALL = """
local now = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
    local oldest = redis.call('lindex', key, ARGV[2 * i] - 1)
    if oldest and tonumber(oldest) >= now - ARGV[2 * i + 1] then
        return 0
    end
end
for i, key in ipairs(KEYS) do
    redis.call('lpush', key, ARGV[1])
    redis.call('ltrim', key, 0, ARGV[2 * i] - 1)
    redis.call('expire', key, ARGV[2 * i + 1])
end
return 1
"""


class RateLimitResult(NamedTuple):
    """Whether a request may pass, and what its client's window holds with it."""

    allowed: bool
    limit: int
    remaining: int
    reset_in_s: float  # until the oldest counted request leaves the window

    @property
    def retry_after_s(self) -> int:
        """Rounded up, so that a request after that many seconds passes."""
        return max(1, int(self.reset_in_s) + 1)


class WindowCounter(NamedTuple):
    """One storage with its clock; counting and reading back are one step where it has a lock."""

    strategy: MovingWindowRateLimiter
    lock: AbstractContextManager[object]
    clock: Callable[[], float]

    def charge(self, rate: RateLimitItem, client: str) -> RateLimitResult:
        """Raises Unavailable where the storage does not answer."""
        storage = self.strategy.storage
        if isinstance(storage, MemoryWindowStorage):  # in one step: 3 us instead of 12
            found = storage.charge(rate.key_for(client), rate.amount, rate.get_expiry())
            left = max(0, rate.amount - found.counted)
            return RateLimitResult(found.allowed, rate.amount, left, found.reset_in_s)
        with self._answering():
            return self._result(self.strategy.hit(rate, client), rate, client)

    def peek(self, rate: RateLimitItem, client: str) -> RateLimitResult:
        """What is left; `allowed` where the next request would pass."""
        with self._answering():
            result = self._result(True, rate, client)
            return result._replace(allowed=result.remaining > 0)

    def _result(self, allowed: bool, rate: RateLimitItem, client: str) -> RateLimitResult:
        reset, remaining = self.strategy.get_window_stats(rate, client)
        return RateLimitResult(allowed, rate.amount, max(0, remaining), reset - self.clock())

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with self.lock:
                yield
        except StorageError:
            raise Unavailable("The rate limit cannot be counted now; try again soon.") from None


class Window(NamedTuple):
    """One client's window, and the counter that keeps it."""

    counter: WindowCounter
    rate: RateLimitItem
    client: str

    def charge(self) -> RateLimitResult:
        return self.counter.charge(self.rate, self.client)

    def peek(self) -> RateLimitResult:
        return self.counter.peek(self.rate, self.client)

    def take_back(self) -> None:
        """Undo the last charge, of a storage in process whose lock is still held."""
        cast(MemoryWindowStorage, self.counter.strategy.storage).release_entry(
            self.rate.key_for(self.client)
        )


ChargeBoth = Callable[[Window, Window], RateLimitResult]


class Limiter(NamedTuple):
    """`keys` and `addresses` are charged together; a request refused by one costs the other
    nothing."""

    anonymous: WindowCounter
    keys: WindowCounter
    addresses: WindowCounter
    new_keys: WindowCounter
    pages: WindowCounter
    anonymous_rate: RateLimitItem
    address_rate: RateLimitItem
    new_key_rate: RateLimitItem
    page_rate: RateLimitItem
    charge_both: ChargeBoth

    def charge_address(self, address: str) -> RateLimitResult:
        """A request without a key."""
        return self.anonymous.charge(self.anonymous_rate, address)

    def peek_address(self, address: str) -> RateLimitResult:
        return self.anonymous.peek(self.anonymous_rate, address)

    def charge_key(self, key_id: int, requests_per_minute: int, address: str) -> RateLimitResult:
        """A request with a key: against the key's limit, and the ceiling of the client's address
        above all its keys. The result is of the window that has less left."""
        return self.charge_both(
            Window(self.keys, _per_minute(requests_per_minute), str(key_id)),
            Window(self.addresses, self.address_rate, address),
        )

    def charge_page(self, address: str) -> RateLimitResult:
        """A page for people, whose limit is apart from the API's."""
        return self.pages.charge(self.page_rate, address)

    def charge_new_key(self, address: str) -> RateLimitResult:
        """An API key created for somebody at this address."""
        return self.new_keys.charge(self.new_key_rate, address)


def make_limiter(settings: Settings) -> Limiter:
    """Raises SettingError where the storage cannot hold a moving window."""
    counter, charge_both = _in_process() if counts_in_process(settings) else _shared(settings)
    return Limiter(
        *(counter(), counter(), counter(), counter(), counter()),
        anonymous_rate=parse(settings.rate_limit_anonymous),
        address_rate=_named("ADDRESS", settings.rate_limit_address),
        new_key_rate=_named("NEW_KEYS", settings.rate_limit_new_keys),
        page_rate=_named("PAGES", settings.rate_limit_pages),
        charge_both=charge_both,
    )


def counts_in_process(settings: Settings) -> bool:
    """Whether the limits are exact in one process only."""
    return settings.rate_limit_storage.startswith("memory:")


def requests_per_minute(rate: str) -> int:
    """A rate in `limits` notation as whole requests a minute, at least one."""
    item = parse(rate)
    return max(1, item.amount * 60 // item.get_expiry())


def _in_process() -> tuple[Callable[[], WindowCounter], ChargeBoth]:
    lock = RLock()

    def counter() -> WindowCounter:
        storage = MemoryWindowStorage(lock=lock)
        return WindowCounter(MovingWindowRateLimiter(storage), lock, storage.clock)

    def charge_both(first: Window, second: Window) -> RateLimitResult:
        with lock:
            results = first.charge(), second.charge()
            if results[0].allowed != results[1].allowed:
                (first if results[0].allowed else second).take_back()
        return _tighter(*results)

    return counter, charge_both


def _shared(settings: Settings) -> tuple[Callable[[], WindowCounter], ChargeBoth]:
    storage, strategy = _shared_storage(settings.rate_limit_storage)
    # A cluster may keep two windows on two servers, which no script reaches at once.
    is_one_server = isinstance(storage, RedisStorage) and not isinstance(
        storage, RedisClusterStorage
    )
    charge_both = _scripted(storage) if is_one_server else _charge_in_turn
    return lambda: WindowCounter(strategy, nullcontext(), time.time), charge_both


def _charge_in_turn(first: Window, second: Window) -> RateLimitResult:
    """For storages that charge one window at a time.

    A request that others overtake between these steps is refused by one window though the other
    has counted it; none passes that should not.
    """
    left = _tighter(first.peek(), second.peek())
    return _tighter(first.charge(), second.charge()) if left.allowed else left


def _scripted(storage: RedisStorage) -> ChargeBoth:
    script = storage.get_connection().register_script(_CHARGE_ALL.encode())

    def charge_both(first: Window, second: Window) -> RateLimitResult:
        windows = (first, second)
        keys = [storage.prefixed_key(w.rate.key_for(w.client)) for w in windows]
        limits = [n for w in windows for n in (w.rate.amount, w.rate.get_expiry())]
        try:
            charged = bool(script(keys, [time.time(), *limits]))
        except storage.base_exceptions:
            raise Unavailable("The rate limit cannot be counted now; try again soon.") from None
        result = _tighter(*(window.peek() for window in windows))
        return result._replace(allowed=charged)

    return charge_both


def _tighter(*results: RateLimitResult) -> RateLimitResult:
    """A refusal before all else, then what has the least left; of two such, the later reset."""
    return min(results, key=_room)


def _room(result: RateLimitResult) -> tuple[bool, int, float]:
    return result.allowed, result.remaining, -result.reset_in_s


def _named(namespace: str, rate: str) -> RateLimitItem:
    """A rate whose windows share no name with those of another rate in the same storage."""
    item = parse(rate)
    return type(item)(item.amount, item.multiples, namespace=namespace)


def _shared_storage(uri: str) -> tuple[Any, MovingWindowRateLimiter]:
    timeouts = {}
    if uri.startswith(("redis", "valkey")):
        # Without these a silent server would hold every thread for ever.
        timeouts = {
            "socket_timeout": _STORAGE_TIMEOUT_S,
            "socket_connect_timeout": _STORAGE_TIMEOUT_S,
        }
    try:
        storage = storage_from_string(uri, wrap_exceptions=True, **timeouts)
        return storage, MovingWindowRateLimiter(storage)
    except (ConfigurationError, NotImplementedError, AssertionError, ValueError) as error:
        scheme = uri.partition("://")[0]  # the rest may hold a password
        raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return RateLimitItemPerMinute(amount, namespace="KEY")
