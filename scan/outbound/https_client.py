"""Connections over TLS to checked addresses only, within a deadline of the whole attempt; documents
fetched over them from untrusted URLs, and whether one is a picture, by its first bytes, whatever
its name.
"""

import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import certifi
import urllib3
from urllib3.connection import HTTPSConnection

from scan.deadlines import Deadline
from scan.errors import SettingError
from scan.outbound import allowed_urls
from scan.outbound.allowed_urls import Address, Purpose, RefusedUrl
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


class _FinalResponse(HTTPResponse):
    """The response after interim ones (RFC 9110, section 15.2), of which http.client passes over
    100 alone; 101 is final, as nothing is upgraded."""

    def begin(self) -> None:
        super().begin()
        while 101 < self.status < 200:
            self.headers = None  # type: ignore[assignment]
            super().begin()


class CheckedConnection(HTTPSConnection):
    """A connection that resolves the name once, and connects only to an address that was checked.

    urllib3's connection, used directly, uses no proxy and no netrc, and follows no redirect.
    """

    response_class = _FinalResponse

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


TIMEOUTS = AttemptTimeouts(total_s=8.0, connect_s=3.0)
MAX_REDIRECTS = 2
REDIRECTS = (301, 302, 303, 307, 308)
HEADERS = {"User-Agent": "Scan/1.0", "Accept": "*/*", "Accept-Encoding": "identity"}
POST_HEADERS = {**HEADERS, "Content-Type": "application/json"}


class NotFetched(Exception):
    """The document could not be fetched. The message is the reason, without anything that the
    server sent; `status` is that of its response, where it is why."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class Document(NamedTuple):
    """A document to fetch. `url` is one that allowed_urls.parse() accepts. `is_chosen`: the
    operator chose its server, which has no rate limit and is never one of the slow sites."""

    url: str
    most_bytes: int
    is_chosen: bool

    @property
    def site(self) -> str:
        """The last two labels of its host: their owner can make any number of names below them."""
        parsed = allowed_urls.parse(self.url)
        return parsed.host if parsed.literal else ".".join(parsed.host.split(".")[-2:])


class DocumentFetcher:
    """A fetcher of documents over https, each with all its redirects within one deadline."""

    def __init__(self, context: ssl.SSLContext, timeouts: AttemptTimeouts = TIMEOUTS) -> None:
        self._context = context
        self._timeouts = timeouts
        self._deadlines = AttemptDeadlines()

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
        with self._deadlines.deadline(min(self._timeouts.total_s, most_s)) as deadline:
            try:
                for _ in range(1 + MAX_REDIRECTS):
                    body, location = self._request(url, most_bytes, allowed, deadline, posted)
                    if deadline.is_over:
                        raise NotFetched("The server did not respond in time.")
                    if location is None:
                        return body
                    url, allowed = urljoin(url, location), ()
            except allowed_urls.RefusedUrl as error:
                raise NotFetched(f"The URL is not allowed: {error}.") from None
            except allowed_urls.NotResolved as error:
                raise NotFetched(f"The URL's host cannot be reached: {error}.") from None
            except (OSError, ValueError, HTTPException, urllib3.exceptions.HTTPError):
                raise NotFetched("The server did not respond properly.") from None
        raise NotFetched("The server redirects too often.")

    def _request(
        self,
        url: str,
        most_bytes: int,
        allowed: Sequence[Network],
        deadline: Deadline,
        posted: bytes | None,
    ) -> tuple[bytes, str | None]:
        """Return the body, and the location of a redirect."""
        if not url.lower().startswith("https://"):
            raise allowed_urls.RefusedUrl("it must start with https://")
        outbound = Outbound(self._deadlines, self._context, allowed, self._timeouts)
        connection = CheckedConnection(outbound, url, allowed_urls.Purpose.DOCUMENT, deadline)
        try:
            connection.connect()
            method, headers = ("GET", HEADERS) if posted is None else ("POST", POST_HEADERS)
            connection.request(
                method, connection.path, posted, headers=headers, preload_content=False
            )
            response = connection.getresponse()
            if response.status in REDIRECTS:
                return b"", response.headers.get("Location", "")
            if response.status != 200:
                raise NotFetched(
                    f"The server responded with status {response.status}.", response.status
                )
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise NotFetched("The server sent compressed data, which is not read.")
            body = response.read(most_bytes + 1, decode_content=False)
        finally:
            connection.close()
        if len(body) > most_bytes:
            raise NotFetched("The document is too large.")
        return body, None


SVG = "image/svg+xml"
MAX_PREAMBLE_BYTES = 32_768  # comments before <svg, such as those of drawing programs

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)
# A comment ends at its first -->: if it could end later as well, a run of comments would take
# exponential time.
_SVG = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<svg[\s>]", re.DOTALL
)


def picture_type(content: bytes) -> str | None:
    """Return the media type; None if the content is no picture, or an SVG with a DTD."""
    for signature, media_type in _SIGNATURES:
        if signature.match(content):
            return media_type
    start = content[:MAX_PREAMBLE_BYTES].removeprefix(b"\xef\xbb\xbf")
    is_svg = _SVG.match(start) and b"<!ENTITY" not in content and b"<!DOCTYPE" not in content
    return SVG if is_svg else None
