"""The rates by which requests are limited, exactly, whichever thread serves them."""

from functools import lru_cache
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerMinute, parse

from scan.rate_limits import window_storage
from scan.rate_limits.window_storage import ProcessWindows, SharedWindows, Window
from scan.settings import Settings

SIGN_IN_RATE = "10/minute"  # attempts by a client address


class Limiter(NamedTuple):
    """The windows that a request is charged to, by rate. A key and its client address are charged
    together: a request rejected by one window is not counted in the other."""

    store: ProcessWindows | SharedWindows
    anonymous_rate: RateLimitItem  # of a client address without a key
    address_rate: RateLimitItem  # of a client address over all keys, known and unknown
    new_key_rate: RateLimitItem
    page_rate: RateLimitItem
    sign_in_rate: RateLimitItem
    file_rate: RateLimitItem  # of lists as files, besides the request, with or without a key

    def key_windows(
        self, key_id: int, requests_per_minute: int, address: str
    ) -> tuple[Window, ...]:
        """Return the windows of a request with a key: the key's own, and the client address's over
        all keys."""
        return (
            Window(_per_minute(requests_per_minute), str(key_id)),
            Window(self.address_rate, address),
        )


def make_limiter(settings: Settings) -> Limiter:
    """Return the limiter. Raises SettingError if the storage does not support moving windows."""
    local = ProcessWindows()
    store: ProcessWindows | SharedWindows = local
    if not counts_in_process(settings):
        when_lost = window_storage.refuse
        if settings.rate_limit_when_storage_is_lost == "local":
            when_lost = lambda charged: local.charge(*charged)  # noqa: E731
        store = SharedWindows(settings.rate_limit_storage, when_lost)
    return Limiter(
        store,
        anonymous_rate=parse(settings.rate_limit_anonymous),
        address_rate=_named("ADDRESS", settings.rate_limit_address),
        new_key_rate=_named("NEW_KEYS", settings.rate_limit_new_keys),
        page_rate=_named("PAGES", settings.rate_limit_pages),
        sign_in_rate=_named("SIGN_IN", SIGN_IN_RATE),
        file_rate=_named("FILES", settings.rate_limit_files),
    )


def counts_in_process(settings: Settings) -> bool:
    """Return whether requests are counted in this process only."""
    return settings.rate_limit_storage.startswith("memory:")


def requests_per_minute(rate: str) -> int:
    """Return a rate in `limits` notation as whole requests a minute, at least one."""
    item = parse(rate)
    return max(1, item.amount * 60 // item.get_expiry())


def _named(namespace: str, rate: str) -> RateLimitItem:
    """Parse a rate into a namespace, so that it shares no windows with other rates."""
    item = parse(rate)
    return type(item)(item.amount, item.multiples, namespace=namespace)


class _KeyRate(RateLimitItemPerMinute):
    def key_for(self, *identifiers: Any) -> str:
        """Return the name of a key's window, without its limit: another one empties no window."""
        return "/".join((self.namespace, *identifiers))


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return _KeyRate(amount, namespace="KEY")
