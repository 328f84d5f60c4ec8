"""Connections over TLS to checked addresses only, within a deadline of the whole attempt."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import certifi
from urllib3.connection import HTTPSConnection

from scan.deadlines import Deadline
from scan.environment import Network
from scan.errors import SettingError
from scan.outbound import allowed_urls
from scan.outbound.allowed_urls import Address, Purpose, RefusedUrl


class AttemptDeadlines:
    """The deadlines of all attempts in progress, which close() ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._deadlines: set[Deadline] = set()
        self.is_closed = False

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Deadline]:
        """Set the deadline of one attempt, the `with` block: whichever thread waits on the sockets
        that are added to it, its end shuts them down."""
        deadline = Deadline()
        with self._lock:
            self._deadlines.add(deadline)
            deadline.begin(0.0 if self.is_closed else seconds)
        try:
            yield deadline
        finally:
            with self._lock:
                self._deadlines.remove(deadline)
            deadline.release()

    def close(self) -> None:
        """End all attempts in progress."""
        with self._lock:
            self.is_closed = True
            for deadline in self._deadlines:
                deadline.expire()


TOTAL_S = 10.0
CONNECT_S = 3.0


class AttemptTimeouts(NamedTuple):
    """The time that one attempt, and its connection, may take."""

    total_s: float = TOTAL_S
    connect_s: float = CONNECT_S


class Outbound(NamedTuple):
    """What all connections of a process share."""

    deadlines: AttemptDeadlines
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
        parsed = allowed_urls.parse(url)
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
        addresses = allowed_urls.resolve(self._parsed, connect_s, self._purpose)
        allowed_urls.require_allowed(self._parsed, addresses, self._outbound.allowed)
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
