"""Connections over TLS to checked addresses only, within a deadline of the whole attempt: a
socket's own time-out limits one read, not the response.
"""

import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import certifi
from urllib3.connection import HTTPSConnection

from scan.environment import Network
from scan.errors import SettingError
from scan.outbound import public_hosts
from scan.outbound.public_hosts import Address, Purpose, RefusedUrl


class Deadline:
    """The deadline of one attempt, whose end shuts its sockets down, whichever thread waits on
    them."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._duplicates: list[socket.socket] = []
        self.has_ended = False

    @property
    def is_over(self) -> bool:
        """Whether the time has passed, also where a socket's own time-out noticed it first."""
        return self.has_ended or time.monotonic() >= self._at

    def remaining_s(self) -> float:
        """Return the seconds left, never 0, which would make a socket non-blocking."""
        return max(0.001, self._at - time.monotonic())

    def add(self, sock: socket.socket) -> None:
        """Add a socket to shut down. A duplicate of its descriptor is kept, since TLS detaches the
        descriptor from the socket object."""
        with self._lock:
            self._duplicates.append(socket.socket(fileno=os.dup(sock.fileno())))
            if self.is_over:
                self._shut()

    def end(self) -> None:
        with self._lock:
            self.has_ended = True
            self._shut()

    def release(self) -> None:
        with self._lock:
            for duplicate in self._duplicates:
                duplicate.close()
            self._duplicates.clear()

    def _shut(self) -> None:
        for duplicate in self._duplicates:
            with suppress(OSError):
                duplicate.shutdown(socket.SHUT_RDWR)


class DeadlineTimer:
    """The thread that ends every deadline of a process when it is due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: list[Deadline] = []
        self.is_closed = False
        self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
        self._thread.start()

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Deadline]:
        """Set a deadline from now on, for the `with` block."""
        deadline = Deadline(seconds)
        with self._changed:
            self._deadlines.append(deadline)
            self._changed.notify()
            if self.is_closed:
                deadline.end()
        try:
            yield deadline
        finally:
            with self._changed:
                self._deadlines.remove(deadline)
            deadline.release()

    def close(self) -> None:
        """End all attempts in progress."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()
            for deadline in self._deadlines:
                deadline.end()

    def _run(self) -> None:
        with self._changed:
            while not self.is_closed:
                waits = [d.remaining_s() for d in self._deadlines if not d.has_ended]
                self._changed.wait(min(waits, default=None))
                for deadline in self._deadlines:
                    if deadline.is_over and not deadline.has_ended:
                        deadline.end()


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
