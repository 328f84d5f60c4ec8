"""Connections over TLS to checked addresses only, within a deadline."""

import socket
import ssl
import time
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import certifi
from urllib3.connection import HTTPSConnection

from scan.environment import Network
from scan.errors import SettingError
from scan.outbound import public_hosts
from scan.outbound.deadlines import Deadline, DeadlineTimer
from scan.outbound.public_hosts import Address, Purpose, RefusedUrl

TOTAL_S = 10.0
CONNECT_S = 3.0


class AttemptTimeouts(NamedTuple):
    """The time that one attempt, and its connection, may take."""

    total_s: float = TOTAL_S
    connect_s: float = CONNECT_S


class Outbound(NamedTuple):
    """What all connections of a process share."""

    deadlines: DeadlineTimer
    context: ssl.SSLContext
    allowed: Sequence[Network]
    timeouts: AttemptTimeouts = AttemptTimeouts()


def tls_context(ca_bundle: str) -> ssl.SSLContext:
    """Return a context that verifies by REQUESTS_CA_BUNDLE, a file or a directory, or else by
    certifi's CAs. Raises SettingError."""
    bundle = ca_bundle or certifi.where()
    try:
        if Path(bundle).is_dir():
            return ssl.create_default_context(capath=bundle)
        return ssl.create_default_context(cafile=bundle)
    except OSError as error:
        raise SettingError("REQUESTS_CA_BUNDLE", ca_bundle, str(error)) from None


class CheckedConnection(HTTPSConnection):
    """A connection that resolves the name once, and connects only to an address that was checked.

    urllib3's connection, used directly, uses no proxy and no netrc, and follows no redirect.
    """

    def __init__(self, outbound: Outbound, url: str, purpose: Purpose, deadline: Deadline) -> None:
        parsed = public_hosts.parse(url)
        super().__init__(
            parsed.host,
            parsed.port,
            timeout=outbound.timeouts.total_s,
            ssl_context=outbound.context,
        )
        self.path = parsed.path
        self._outbound = outbound
        self._parsed = parsed
        self._purpose = purpose
        self._deadline = deadline

    def _new_conn(self) -> socket.socket:
        connect_s = self._outbound.timeouts.connect_s
        addresses = public_hosts.resolve(self._parsed, connect_s, self._purpose)
        public_hosts.require_allowed(self._parsed, addresses, self._outbound.allowed)
        connect_by = time.monotonic() + connect_s
        last_error: OSError = TimeoutError()
        for address in addresses:
            if time.monotonic() >= connect_by:
                break
            try:
                return self._open(address, connect_by)
            except OSError as error:
                last_error = error
        raise last_error

    def _open(self, address: Address, connect_by: float) -> socket.socket:
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._deadline.add(sock)
            sock.settimeout(max(0.001, connect_by - time.monotonic()))
            sock.connect((str(address), self._parsed.port))
            if ip_address(sock.getpeername()[0]) != address:
                raise RefusedUrl("the connection is to a different address")
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(self._outbound.timeouts.total_s)
        except BaseException:
            sock.close()
            raise
        return sock
