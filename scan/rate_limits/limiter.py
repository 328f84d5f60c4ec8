"""Moving-window rate limits that hold exactly, whichever thread serves the request, and the client
address that a request without a key is charged to.
"""

import ipaddress
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from limits import RateLimitItem, RateLimitItemPerMinute, parse

from scan.rate_limits import windows
from scan.settings import Settings


class Limiter(NamedTuple):
    """The windows that a request is charged to, by rate. A key and its client address are charged
    together: a request rejected by one window is not counted in the other."""

    store: windows.MovingWindows
    anonymous_rate: RateLimitItem  # of a client address without a key
    address_rate: RateLimitItem  # of a client address over all keys, known and unknown
    new_key_rate: RateLimitItem
    page_rate: RateLimitItem
    file_rate: RateLimitItem  # of lists as files, besides the request, with or without a key

    def key_windows(
        self, key_id: int, requests_per_minute: int, address: str
    ) -> tuple[windows.Window, ...]:
        """Return the windows of a request with a key: the key's own, and the client address's over
        all keys."""
        return (
            windows.Window(_per_minute(requests_per_minute), str(key_id)),
            windows.Window(self.address_rate, address),
        )

    def peek_address(self, address: str) -> windows.RateLimitResult:
        """Return what a client without a key has left."""
        return self.store.charge(windows.Window(self.anonymous_rate, address), is_counted=False)


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


def _store(settings: Settings) -> windows.MovingWindows:
    if counts_in_process(settings):
        return windows.ProcessWindows()
    when_lost = windows.refuse
    if settings.rate_limit_when_storage_is_lost == "local":
        local = windows.ProcessWindows()
        when_lost = lambda charged: local.charge(*charged)  # noqa: E731
    return windows.SharedWindows(settings.rate_limit_storage, when_lost)


def _named(namespace: str, rate: str) -> RateLimitItem:
    """Parse a rate into a namespace, so that it shares no windows with other rates."""
    item = parse(rate)
    return type(item)(item.amount, item.multiples, namespace=namespace)


@lru_cache(maxsize=256)
def _per_minute(amount: int) -> RateLimitItem:
    return RateLimitItemPerMinute(amount, namespace="KEY")


# Some load balancers include the port: 192.0.2.1:4711, [2001:db8::1]:4711.
_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")
# Headers of requests that came through a proxy.
OF_PROXIES = tuple(
    """
    HTTP_FORWARDED HTTP_VIA HTTP_X_FORWARDED_FOR HTTP_X_FORWARDED_HOST HTTP_X_FORWARDED_PROTO
    HTTP_X_REAL_IP HTTP_X_SCAN_LIMIT_KEY
    """.split()
)
_TOO_LONG = len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535") + 1


def client_address(environ: Mapping[str, Any], trusted_proxies: int) -> str:
    """Return an IPv4 address, or the /64 of an IPv6 address, that a client cannot forge, by the
    environ of its request.

    Each proxy appends the address of its peer, so the outermost of N trusted proxies wrote the Nth
    entry from the right; entries to the left of it come from outside. With fewer or malformed
    entries a proxy was bypassed, and the peer is charged.
    """
    if trusted_proxies > 0:
        forwarded_for: str = environ.get("HTTP_X_FORWARDED_FOR", "")
        entries = forwarded_for.rsplit(",", trusted_proxies)[-trusted_proxies:]
        if len(entries) == trusted_proxies and (
            address := _network(entries[0].strip()[:_TOO_LONG])
        ):
            return address
    return _network((environ.get("REMOTE_ADDR") or "")[:_TOO_LONG]) or "unknown"


def is_of_one_client(environ: Mapping[str, Any], trusted_proxies: int) -> bool:
    """Return whether client_address() is no proxy's: it is that of a trusted proxy's peer, or the
    peer's own, which sent no header of a proxy."""
    peer = client_address(environ, 0)
    if trusted_proxies > 0:
        return client_address(environ, trusted_proxies) != peer
    return peer != "unknown" and not any(name in environ for name in OF_PROXIES)


def network_around(client: str) -> str:
    """Return the network of a client_address() that one subscriber may have whole: an IPv4 /24, or
    an IPv6 /48."""
    try:
        network = ipaddress.ip_network(client)
    except ValueError:
        return client
    return str(network.supernet(new_prefix=24 if network.version == 4 else 48))


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is the machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Parsing an address takes 3 us, the cache 0.1 us; hostile headers fill at most 0.5 MB of it, since
# they are cut to a length that no address has.
@lru_cache(maxsize=2048)
def _network(text: str) -> str | None:
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ipaddress.ip_address(match[1] or match[2] if match else text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address.packed[:8] + bytes(8), 64)))
