"""The one client of HTTP for what is not the node: connections to checked addresses only, within a
deadline of the whole attempt, without proxies and netrc of the environment; bodies within a bound.
"""

import math
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urljoin

import certifi
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import BaseHTTPResponse
from urllib3.util import make_headers

from scan.deadlines import Deadline
from scan.errors import SettingError
from scan.outbound import allowed_urls
from scan.outbound.allowed_urls import Address, NotResolved, Purpose, RefusedUrl
from scan.setting_kinds import Network


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


class AttemptTimeouts(NamedTuple):
    """The time that one attempt, and its connection, may take, and the receiver's silence."""

    total_s: float = 10.0
    connect_s: float = 3.0
    silent_s: float = math.inf


class Outbound(NamedTuple):
    """What all connections of a process share."""

    deadlines: AttemptDeadlines
    context: ssl.SSLContext
    allowed: Sequence[Network]
    timeouts: AttemptTimeouts = AttemptTimeouts()


@cache
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


class _FinalResponse(HTTPResponse):
    """The response after interim ones (RFC 9110, section 15.2), of which http.client passes over
    100 alone; 101 is final, as nothing is upgraded."""

    def begin(self) -> None:
        super().begin()
        while 101 < self.status < 200:
            self.headers = None  # type: ignore[assignment]
            super().begin()


class CheckedConnection(HTTPSConnection):
    """A connection that resolves the name once, and connects only to an address that was checked;
    without TLS to an http URL, which only the operator's may be, or one in an allowed network.

    urllib3's connection, used directly, uses no proxy and no netrc, and follows no redirect.
    """

    response_class = _FinalResponse

    def __init__(self, outbound: Outbound, url: str, purpose: Purpose, deadline: Deadline) -> None:
        parsed = allowed_urls.parse(url, purpose)
        silent_s = min(outbound.timeouts.total_s, outbound.timeouts.silent_s)
        super().__init__(parsed.host, parsed.port, timeout=silent_s, ssl_context=outbound.context)
        self.path = parsed.path
        self.authorization = make_headers(basic_auth=parsed.user) if parsed.user else {}
        self._outbound = outbound
        self._parsed = parsed
        self._purpose = purpose
        self._deadline = deadline

    def connect(self) -> None:
        (HTTPSConnection if self._parsed.is_tls else HTTPConnection).connect(self)

    def _new_conn(self) -> socket.socket:
        connect_s = self._outbound.timeouts.connect_s
        addresses = allowed_urls.resolve(self._parsed, connect_s, self._purpose)
        if self._purpose != Purpose.OPERATOR:
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
            sock.settimeout(self.timeout)
        except BaseException:
            sock.close()
            raise
        return sock


TIMEOUTS = AttemptTimeouts(total_s=8.0)
MAX_REDIRECTS = 2
REDIRECTS = (301, 302, 303, 307, 308)
PIECE_BYTES = 1 << 16
HEADERS = {"User-Agent": "Scan/1.0", "Accept": "*/*", "Accept-Encoding": "identity"}
OF_JSON = {"Content-Type": "application/json"}


class NotFetched(Exception):
    """There is no response, or not the document. The message is the reason, without anything that
    the server sent and without the URL; `status` is that of its response, where it is why."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class TooLarge(NotFetched):
    """The body has more bytes than the caller takes."""


class Response:
    """A response whose body is read only as far as the caller wants, until the deadline."""

    def __init__(self, response: BaseHTTPResponse, deadline: Deadline) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response
        self._deadline = deadline

    def pieces(self) -> Iterator[bytes]:
        """Yield the body. Raises NotFetched, also where the connection ends before the body."""
        if self.headers.get("Content-Encoding", "identity") != "identity":
            raise NotFetched("The server sent compressed data, which is not read.")
        while True:
            with _faults_as_reasons(self._deadline):
                piece = self._response.read(PIECE_BYTES, decode_content=False)
            if not piece:
                return
            yield piece

    def read(self, most_bytes: int) -> bytes:
        """Return the body. Raises NotFetched, TooLarge."""
        body = bytearray()
        for piece in self.pieces():
            body += piece
            if len(body) > most_bytes:
                raise TooLarge("The document is too large.")
        return bytes(body)


# What an attempt may raise.
FAULTS = (OSError, ValueError, RefusedUrl, NotResolved, HTTPException, urllib3.exceptions.HTTPError)


@contextmanager
def _faults_as_reasons(deadline: Deadline) -> Iterator[None]:
    try:
        yield
        if deadline.is_over:  # a shut-down connection looks like the end of a response
            raise NotFetched("The server did not respond in time.")
    except FAULTS as error:
        reason = "The server did not respond properly."
        if isinstance(error, RefusedUrl):
            reason = f"The URL is not allowed: {error}."
        elif isinstance(error, NotResolved):
            reason = f"The URL's host cannot be reached: {error}."
        raise NotFetched(reason) from None


class HttpClient:
    """Requests of whoever waits for the response, each on a connection of its own and within one
    deadline with all its redirects. `purpose` is that of its URLs: what anybody may have written,
    or what the operator configured.

    Webhooks are sent by a ReceiverConnection (scan/webhooks/sender.py): it keeps its connection,
    reads no bodies, and tells whether the receiver can have the request. Both connect by
    CheckedConnection.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        timeouts: AttemptTimeouts = TIMEOUTS,
        purpose: Purpose = Purpose.DOCUMENT,
    ) -> None:
        self._outbound = Outbound(AttemptDeadlines(), context, (), timeouts)
        self._purpose = purpose

    @contextmanager
    def open(
        self,
        url: str,
        *,
        method: str | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        allowed: Sequence[Network] = (),
        redirects: int = 0,
        most_s: float = math.inf,
    ) -> Iterator[Response]:
        """Send a request, and yield its response, of whatever status; with `redirects`, that of the
        last of so many. Where they lead is checked as what anybody may have written, whatever the
        purpose and the `allowed` networks of the first URL. A `body` is JSON, and without a
        `method` posted. Raises NotFetched."""
        purpose = self._purpose
        method = method or ("GET" if body is None else "POST")
        headers = {**HEADERS, **({} if body is None else OF_JSON), **headers}
        with ExitStack() as stack:
            seconds = min(self._outbound.timeouts.total_s, most_s)
            deadline = stack.enter_context(self._outbound.deadlines.deadline(seconds))
            with _faults_as_reasons(deadline):
                for _ in range(1 + redirects):
                    outbound = self._outbound._replace(allowed=allowed)
                    connection = CheckedConnection(outbound, url, purpose, deadline)
                    stack.callback(connection.close)
                    sent = {**connection.authorization, **headers}
                    connection.connect()
                    connection.request(method, connection.path, body, sent, preload_content=False)
                    response = connection.getresponse()
                    if not redirects or response.status not in REDIRECTS:
                        break
                    location = response.headers.get("Location", "")
                    url, allowed, purpose = urljoin(url, location), (), Purpose.DOCUMENT
                else:
                    raise NotFetched("The server redirects too often.")
            yield Response(response, deadline)

    def get(
        self,
        url: str,
        most_bytes: int,
        allowed: Sequence[Network] = (),
        *,
        posted: bytes | None = None,
        most_s: float = math.inf,
    ) -> bytes:
        """Return the document at `url`, which may be in `allowed` networks; its redirects may not.
        JSON that is `posted` goes to them, too. Raises NotFetched, at the latest after `most_s`."""
        with self.open(
            url, body=posted, allowed=allowed, redirects=MAX_REDIRECTS, most_s=most_s
        ) as response:
            if response.status != 200:
                raise NotFetched(
                    f"The server responded with status {response.status}.", response.status
                )
            return response.read(most_bytes)
