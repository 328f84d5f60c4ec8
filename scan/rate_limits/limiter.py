"""Moving-window rate limits that hold exactly, whichever thread serves the request."""

from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerMinute, parse
from limits.errors import ConfigurationError
from limits.storage import RedisClusterStorage, RedisStorage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from scan.errors import SettingError
from scan.rate_limits.redis_windows import RedisWindows
from scan.rate_limits.storage_health import StorageHealth
from scan.rate_limits.window_stores import ProcessWindows, WindowsInTurn
from scan.rate_limits.windows import (
    RateLimitResult,
    WhenLost,
    Window,
    WindowStore,
    refuse,
)
from scan.settings import Settings

# A server that is silent for longer counts as lost.
_STORAGE_TIMEOUT_S = 1.0


class Limiter(NamedTuple):
    """What a request is charged to. A key and its client's address are charged together; a request
    refused by one costs the other nothing."""

    store: WindowStore
    anonymous_rate: RateLimitItem
    address_rate: RateLimitItem
    new_key_rate: RateLimitItem
    page_rate: RateLimitItem
    file_rate: RateLimitItem

    def of_address(self, address: str) -> tuple[Window, ...]:
        """A request without a key."""
        return (Window(self.anonymous_rate, address),)

    def of_key(self, key_id: int, requests_per_minute: int, address: str) -> tuple[Window, ...]:
        """A request with a key: against the key's limit, and the ceiling of the client's address
        above all its keys. The result is of the window that has less left."""
        return (
            Window(_per_minute(requests_per_minute), str(key_id)),
            Window(self.address_rate, address),
        )

    def of_form(self, address: str) -> tuple[Window, ...]:
        """A form that may hold a key: against the ceiling of the client's address."""
        return (Window(self.address_rate, address),)

    def of_page(self, address: str) -> tuple[Window, ...]:
        """A page for people, whose limit is apart from the API's."""
        return (Window(self.page_rate, address),)

    def peek_address(self, address: str) -> RateLimitResult:
        return self.store.peek(Window(self.anonymous_rate, address))

    def charge_new_key(self, address: str) -> RateLimitResult:
        """An API key created for somebody at this address."""
        return self.store.charge(Window(self.new_key_rate, address))

    def charge_file(self, address: str) -> RateLimitResult:
        """A list as a file, beside the request for it, whichever key that has."""
        return self.store.charge(Window(self.file_rate, address))


def make_limiter(settings: Settings) -> Limiter:
    """Raises SettingError where the storage cannot hold a moving window."""
    return Limiter(
        ProcessWindows() if counts_in_process(settings) else _shared(settings),
        anonymous_rate=parse(settings.rate_limit_anonymous),
        address_rate=_named("ADDRESS", settings.rate_limit_address),
        new_key_rate=_named("NEW_KEYS", settings.rate_limit_new_keys),
        page_rate=_named("PAGES", settings.rate_limit_pages),
        file_rate=_named("FILES", settings.rate_limit_files),
    )


def counts_in_process(settings: Settings) -> bool:
    """Whether the limits are exact in one process only."""
    return settings.rate_limit_storage.startswith("memory:")


def requests_per_minute(rate: str) -> int:
    """A rate in `limits` notation as whole requests a minute, at least one."""
    item = parse(rate)
    return max(1, item.amount * 60 // item.get_expiry())


def _shared(settings: Settings) -> WindowStore:
    when_lost: WhenLost = refuse
    if settings.rate_limit_when_storage_is_lost == "local":
        local = ProcessWindows()
        when_lost = lambda windows: local.charge(*windows)  # noqa: E731
    uri = settings.rate_limit_storage
    storage, strategy = _shared_storage(uri)
    health = StorageHealth(storage.check)
    # A cluster may keep two windows on two servers, which no script reaches at once.
    if isinstance(storage, RedisStorage) and not isinstance(storage, RedisClusterStorage):
        return RedisWindows(storage.get_connection(), storage.base_exceptions, health, when_lost)
    return WindowsInTurn(strategy, _cluster_errors(uri), health, when_lost)


def _cluster_errors(uri: str) -> tuple[type[Exception], ...]:
    """A cluster that cannot be reached raises what is no error of a Redis server."""
    scheme = uri.partition("://")[0]
    if "+cluster" not in scheme:
        return ()
    package = "valkey" if scheme.startswith("valkey") else "redis"
    try:  # only who counts there needs the package
        exceptions = import_module(f"{package}.exceptions")
    except ImportError:
        return ()  # `limits` says what is missing
    return (getattr(exceptions, f"{package.capitalize()}ClusterException"),)


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
    refusals: tuple[type[Exception], ...] = (
        *(ConfigurationError, NotImplementedError, AssertionError, ValueError),
        *_cluster_errors(uri),
    )
    try:
        storage = storage_from_string(uri, wrap_exceptions=True, **timeouts)
        return storage, MovingWindowRateLimiter(storage)
    except refusals as error:
        scheme = uri.partition("://")[0]  # the rest may hold a password
        raise SettingError("SCAN_RATE_LIMIT_STORAGE", f"{scheme}://", str(error)) from None


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return RateLimitItemPerMinute(amount, namespace="KEY")
