"""Moving-window rate limits that hold exactly, whichever thread serves the request."""

from functools import lru_cache
from typing import NamedTuple

from limits import RateLimitItem, RateLimitItemPerMinute, parse

from scan.rate_limits.windows import (
    MovingWindows,
    ProcessWindows,
    RateLimitResult,
    SharedWindows,
    Window,
    refuse,
)
from scan.settings import Settings


class Limiter(NamedTuple):
    """The windows that a request is charged to, by rate. A key and its client address are charged
    together: a request rejected by one window is not counted in the other."""

    store: MovingWindows
    anonymous_rate: RateLimitItem  # of a client address without a key
    address_rate: RateLimitItem  # of a client address over all keys, known and unknown
    new_key_rate: RateLimitItem
    page_rate: RateLimitItem
    file_rate: RateLimitItem

    def of_key(self, key_id: int, requests_per_minute: int, address: str) -> tuple[Window, ...]:
        """Return the windows of a request with a key: the key's own, and the client address's over
        all keys."""
        return (
            Window(_per_minute(requests_per_minute), str(key_id)),
            Window(self.address_rate, address),
        )

    def peek_address(self, address: str) -> RateLimitResult:
        """Return what a client without a key has left."""
        return self.store.charge(Window(self.anonymous_rate, address), is_counted=False)

    def charge_new_key(self, address: str) -> RateLimitResult:
        """Charge the creation of an API key to an address."""
        return self.store.charge(Window(self.new_key_rate, address))

    def charge_file(self, address: str) -> RateLimitResult:
        """Charge a list as a file to an address, besides the request for it, with or without
        a key."""
        return self.store.charge(Window(self.file_rate, address))


def make_limiter(settings: Settings) -> Limiter:
    """Return the limiter. Raises SettingError if the storage does not support moving windows."""
    return Limiter(
        _store(settings),
        anonymous_rate=parse(settings.rate_limit_anonymous),
        address_rate=_named("ADDRESS", settings.rate_limit_address),
        new_key_rate=_named("NEW_KEYS", settings.rate_limit_new_keys),
        page_rate=_named("PAGES", settings.rate_limit_pages),
        file_rate=_named("FILES", settings.rate_limit_files),
    )


def counts_in_process(settings: Settings) -> bool:
    """Return whether requests are counted in this process only."""
    return settings.rate_limit_storage.startswith("memory:")


def requests_per_minute(rate: str) -> int:
    """Return a rate in `limits` notation as whole requests a minute, at least one."""
    item = parse(rate)
    return max(1, item.amount * 60 // item.get_expiry())


def _store(settings: Settings) -> MovingWindows:
    if counts_in_process(settings):
        return ProcessWindows()
    when_lost = refuse
    if settings.rate_limit_when_storage_is_lost == "local":
        local = ProcessWindows()
        when_lost = lambda windows: local.charge(*windows)  # noqa: E731
    return SharedWindows(settings.rate_limit_storage, when_lost)


def _named(namespace: str, rate: str) -> RateLimitItem:
    """Parse a rate into a namespace, so that it shares no windows with other rates."""
    item = parse(rate)
    return type(item)(item.amount, item.multiples, namespace=namespace)


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return RateLimitItemPerMinute(amount, namespace="KEY")
