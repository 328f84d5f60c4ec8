"""Documents fetched from untrusted URLs over checked connections, and whether one is a picture, by
its first bytes, whatever its name.
"""

import math
import re
from collections.abc import Sequence
from http.client import HTTPException
from ssl import SSLContext
from typing import NamedTuple
from urllib.parse import urljoin

import urllib3

from scan.deadlines import Deadline
from scan.environment import Network
from scan.outbound import allowed_urls
from scan.outbound.connection import AttemptDeadlines, AttemptTimeouts, CheckedConnection, Outbound

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


class _Response(NamedTuple):
    """A server's response. `location` is set for a redirect."""

    body: bytes
    location: str | None


class DocumentFetcher:
    """A fetcher of documents over https, each with all its redirects within one deadline."""

    def __init__(self, context: SSLContext, timeouts: AttemptTimeouts = TIMEOUTS) -> None:
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
                    response = self._request(url, most_bytes, allowed, deadline, posted)
                    if deadline.is_over:
                        raise NotFetched("The server did not respond in time.")
                    if response.location is None:
                        return response.body
                    url, allowed = urljoin(url, response.location), ()
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
    ) -> _Response:
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
                return _Response(b"", response.headers.get("Location", ""))
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
        return _Response(body, None)


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
