"""Which URLs webhooks, and fetched documents, may have: https, on one of PORTS, of a name whose
addresses are all public; or in networks that the operator allows, a webhook's there of http, too.
The operator's own may have any address, and be of http.

A webhook's is checked at registration and again at every connection, since addresses can change.
"""

import ipaddress
import re
import socket
import threading
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.setting_kinds import Network

PORTS = (443, 8443)
MAX_URL_CHARACTERS = 2048
# Concurrent look-ups per purpose: a name server that hangs must not hold a thread for every
# attempt, nor prevent look-ups for other receivers.
MAX_LOOKUPS = 32

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_URL = re.compile(r"(https?)://[!-~]+\Z", re.IGNORECASE)
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_-]{1,63}\Z")
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_LOCAL_NAMES = ("localhost", "local", "internal")

# Networks of IANA's special-purpose registries, some of which pass Python's is_global.
_UNICAST_IPV6 = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
    224.0.0.0/4 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20
    """.split()
)
# Public ranges that are a cloud provider's internal services when used inside that cloud.
_CLOUD_INTERNAL = tuple(
    ipaddress.ip_network(text)
    for text in (
        "161.26.0.0/16",  # IBM Cloud: infrastructure services
        "166.8.0.0/14",  # IBM Cloud: service endpoints
        "168.63.129.16/32",  # Azure: wire server, which hands out a machine's configuration
        "192.80.8.124/32",  # Equinix Metal: instance metadata
    )
)

_LOOPBACK, _LOOPBACK_IPV6 = ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1")


class RefusedUrl(Exception):
    """The URL is not allowed; the message is the reason and contains no internal address."""


class NotResolved(Exception):
    """The name has no address, or the DNS server did not respond in time."""


class Purpose(Enum):
    """The purpose of a connection, for its share of concurrent DNS look-ups. Who wrote its URL:
    anybody, or the OPERATOR."""

    REGISTRATION = "registration"
    HEALTHY_RECEIVER = "healthy receiver"
    UNHEALTHY_RECEIVER = "unhealthy receiver"
    DOCUMENT = "document"
    OPERATOR = "operator"


_lookups = ConcurrencyLimit(
    len(Purpose) * MAX_LOOKUPS,
    places_per_client=MAX_LOOKUPS,
    busy="Too many DNS look-ups are running; try again shortly.",
)


class HttpUrl(NamedTuple):
    """The parts of a URL; `host` in lower case, without brackets and trailing dot. Only an
    operator's has `user`; it or a webhook's may be without TLS."""

    host: str
    port: int
    path: str
    is_tls: bool = True
    user: str = ""

    @property
    def literal(self) -> Address | None:
        """The host's IP address if it is a literal in any notation of inet_aton, else None. Raises
        RefusedUrl for a malformed one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            pass
        if not _NUMBER.match(self.host.rpartition(".")[2]):
            return None
        try:
            return ipaddress.IPv4Address(socket.inet_aton(self.host))
        except (OSError, ValueError):
            raise RefusedUrl("its host is neither a name nor an IP address") from None


def parse(url: str, purpose: Purpose = Purpose.DOCUMENT) -> HttpUrl:
    """Parse a URL. Raises RefusedUrl if it is not a plain https URL, or http where its purpose
    allows that: a webhook's only until its addresses are known, see require_allowed()."""
    is_operators, may_be_plain = purpose == Purpose.OPERATOR, purpose != Purpose.DOCUMENT
    if len(url) > MAX_URL_CHARACTERS and not is_operators:
        raise RefusedUrl(f"it is longer than {MAX_URL_CHARACTERS} characters")
    match = _URL.match(url)
    is_tls = match is not None and match[1].lower() == "https"
    if match is None or "\\" in url or not (is_tls or may_be_plain):
        schemes = "http:// or https://" if is_operators else "https://"
        raise RefusedUrl(
            f"it must start with {schemes} and contain no spaces, backslashes or non-ASCII letters"
        )
    try:
        split_url = urlsplit(url)
        host, port = (split_url.hostname or "").removesuffix("."), split_url.port
    except ValueError:
        raise RefusedUrl("its host or port is malformed") from None
    user, at, netloc = split_url.netloc.rpartition("@")
    if at and not is_operators:
        raise RefusedUrl("it must not contain a user name or a password")
    is_host = _is_ipv6(host) if netloc.startswith("[") else _NAME.match(host)
    if not is_host or len(host) > 253:
        raise RefusedUrl("its host is not a valid name; write international names as xn--…")
    path = (split_url.path or "/") + (f"?{split_url.query}" if split_url.query else "")
    port = (443 if is_tls else 80) if port is None else port
    return HttpUrl(host, port, path, is_tls, unquote(user))


def lookup(host: str, port: int) -> list[Address]:
    """Return the system resolver's addresses. Names are resolved only here."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]


def resolve(url: HttpUrl, timeout_s: float, purpose: Purpose) -> list[Address]:
    """Return every address of the host, in the resolver's order. Raises NotResolved.

    getaddrinfo has no time-out, so it runs in a thread that is abandoned when it takes too long.
    """
    if url.literal is not None:
        return [url.literal]
    if not _lookups.take(purpose):
        raise NotResolved("too many DNS look-ups are running")
    results: list[list[Address]] = []
    ended = threading.Event()

    def look_up() -> None:
        try:
            results.append(lookup(url.host, url.port))
        except (OSError, ValueError):  # UnicodeError is a ValueError
            pass
        finally:
            _lookups.give_back(purpose)
            ended.set()

    try:
        threading.Thread(target=look_up, name="lookup", daemon=True).start()
    except RuntimeError as error:
        _lookups.give_back(purpose)
        raise NotResolved(str(error)) from None
    if not ended.wait(timeout_s):
        raise NotResolved("the DNS server did not respond in time")
    if not results or not results[0]:
        raise NotResolved("the name has no address")
    return list(dict.fromkeys(results[0]))


def require_allowed(url: HttpUrl, addresses: Sequence[Address], allowed: Sequence[Network]) -> None:
    """Raise RefusedUrl unless every address is public or in an allowed network.

    If all are in allowed networks, the rules for schemes, names and ports do not apply.
    """
    outside = [address for address in addresses if not _is_in(address, allowed)]
    if addresses and not outside:
        return
    if not url.is_tls:
        raise RefusedUrl("it must start with https://, outside the networks that are allowed here")
    if url.literal is not None:
        raise RefusedUrl("its host must be a name, not an IP address")
    if "." not in url.host or url.host.rpartition(".")[2] in _LOCAL_NAMES:
        raise RefusedUrl("its host is not a public name")
    if url.port not in PORTS:
        raise RefusedUrl(f"its port must be one of {', '.join(map(str, PORTS))}")
    if any(not is_public(address) for address in outside):
        raise RefusedUrl("its host has an address that is not public")


def is_public(address: Address) -> bool:
    """Return whether an address is reachable from the whole Internet."""
    if address.version == 6 and address not in _UNICAST_IPV6:
        return False
    return not _is_in(address, _SPECIAL + _CLOUD_INTERNAL)


def _is_ipv6(host: str) -> bool:
    try:
        return ipaddress.IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    """Return whether an address is in a network. A network with 127.0.0.1 includes ::1, since
    localhost often has both addresses."""
    if address == _LOOPBACK_IPV6:
        address = _LOOPBACK
    return any(address in network for network in networks)
