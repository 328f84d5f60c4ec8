"""Responses as WSGI has them, made without Flask: whole ones, bodies that lie in a file and are
sent piece by piece, and errors for requests that gunicorn cannot parse or refuses, with gunicorn's
log lines in the form of Scan's. All have the CORS headers by which any web page may call the API,
and the one by which a browser believes their type.
"""

import logging
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from http import HTTPStatus
from typing import IO, Any, NamedTuple

import orjson
from gunicorn.glogging import Logger
from gunicorn.http import errors, wsgi

from scan.errors import ScanError
from scan.observability import logs
from scan.settings import Settings

Environ = dict[str, Any]
Headers = list[tuple[str, str]]

# In an environ: what makes of (worker, connection) a response that does not end, with begin(),
# finish(), close(), and start(), which the application's thread calls.
OPEN_RESPONSE = "scan.open_response"


class Kept(StrEnum):
    """How long others may keep a response: values of Cache-Control."""

    NEVER = "no-store"  # streams, files of lists, and what a redirect or another version leads to
    CHECKED = "no-cache"  # with each use, by its ETag
    A_DAY = "public, max-age=86400"
    FOR_EVER = "public, max-age=31536000, immutable"  # what has its version or hash in its path


# Headers of a response that a client has to check with each use.
REVALIDATED = (("Cache-Control", Kept.CHECKED), ("Vary", "Accept"))  # the same list may be a file


class WsgiResponse(NamedTuple):
    """A whole response; the metrics count it for `route`. `gzipped` is its compressed form, None
    until a client has asked for that."""

    status: str
    headers: Headers
    body: bytes
    route: str = "unknown"
    gzipped: "WsgiResponse | None" = None


ALIVE = WsgiResponse(
    "200 OK",
    [("Content-Type", "application/json"), ("Content-Length", "18")],
    b'{"status":"alive"}',
    "/healthz",
)


def json_response(status: int, value: object, headers: list[tuple[str, str]]) -> WsgiResponse:
    """Return a JSON response that is made without Flask."""
    body = orjson.dumps(value)
    fixed = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return WsgiResponse(f"{status} {HTTPStatus(status).phrase}", [*fixed, *headers], body)


def refuse(error: ScanError) -> WsgiResponse:
    """Return an error in the form of /api/v1."""
    return json_response(error.status, error.body(), list(error.headers.items()))


PROBLEM_TYPE = "application/problem+json"


def refuse_as_problem(error: ScanError) -> WsgiResponse:
    """Return an error in the form of RFC 9457, with the members that /api/v1 has besides."""
    problem = {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
    }
    body: dict[str, Any] = error.body()
    for fault in body.get("errors", ()):
        pointer = str(fault.get("field", "")).replace("~", "~0").replace("/", "~1")
        fault.update(detail=fault["error"], pointer=f"#/{pointer}")
    headers = [("Content-Type", PROBLEM_TYPE), *error.headers.items()]
    made = json_response(error.status, {**problem, **body}, headers)
    return made._replace(headers=made.headers[1:])  # without the type of JSON


PIECE_BYTES = 256 * 1024


class FileBody:
    """A response's body for any WSGI server; ours attaches the file instead of iterating over it.

    `closed` is called once, when the file has been sent or its client is gone.
    """

    def __init__(self, file: IO[bytes], closed: Callable[[], None]) -> None:
        self._file = file
        self._closed = closed
        self.size = file.seek(0, os.SEEK_END)
        file.seek(0)

    def __del__(self) -> None:
        """Close a body that was never served, since making its response failed."""
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read():
            yield piece
        self.close()

    def read(self) -> bytes:
        """Return the next piece; it is empty at the end."""
        return self._file.read(PIECE_BYTES)

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._closed()


CORS = (
    ("Access-Control-Allow-Origin", "*"),
    (
        "Access-Control-Expose-Headers",
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy,"
        " RateLimit, Bypass-429-Option, Retry-After, ETag, WWW-Authenticate,"
        " X-Request-Id, X-Total-Count, X-Scan-Block, Link, Location, X-Scan-Complete,"
        " X-Scan-Complete-From, X-Scan-History-Complete, X-Scan-Untraced-Blocks, X-Scan-Kept-From,"
        " X-Scan-Source, X-Scan-Unproven, X-Scan-Balances-Since, X-Scan-Inconsistent-Since,"
        " Content-Disposition",
    ),
)
# On every response: no browser takes one for another type than it says.
ALWAYS = (*CORS, ("X-Content-Type-Options", "nosniff"))
SENT_HEADERS = "Content-Type, X-API-Key, X-Webhook-Secret, X-Scan-At-Least-Block, Idempotency-Key"
PREFLIGHT_CACHED_S = 86_400


def preflight_headers(allow: str, requested: str = SENT_HEADERS) -> Headers:
    """Return the headers of an answer to OPTIONS: `allow` are the path's methods, `requested` the
    headers that the browser's page wants to send."""
    return [
        ("Allow", allow),
        ("Access-Control-Allow-Methods", allow),
        ("Access-Control-Allow-Headers", requested),
        ("Access-Control-Max-Age", str(PREFLIGHT_CACHED_S)),
    ]


# Names of the headers that most responses have, none of which concerns the connection.
USUAL_NAMES = {*dict(ALWAYS), *CORS[1][1].split(", "), "Cache-Control", "Vary"}
USUAL_NAMES |= {"Content-Encoding", "Content-Length", "Content-Type"}


class Response(wsgi.Response):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's response, with the usual headers checked all at once: one by one they take 1.2 us
    each."""

    def process_headers(self, headers: Headers) -> None:
        names, values = zip(*headers, strict=True) if headers else ((), ())
        text = "".join(values)
        if not USUAL_NAMES.issuperset(names) or not text.isascii() or not text.isprintable():
            super().process_headers(headers)
            return
        self.headers += headers
        if "Content-Length" in names:
            self.response_length = int(values[names.index("Content-Length")])


_REFUSALS = {
    errors.LimitRequestLine: (414, "too_large", "The request line is too long."),
    errors.LimitRequestHeaders: (431, "too_large", "The request headers are too large."),
    errors.ExpectationFailed: (417, "bad_request", "Only Expect: 100-continue is understood."),
    errors.UnsupportedTransferCoding: (501, "bad_request", "Unknown transfer coding."),
}


class MalformedRequest(ScanError):
    def __init__(self, error: Exception) -> None:
        default = (400, "bad_request", "This is not a well-formed HTTP request.")
        self.status, self.code, message = _REFUSALS.get(type(error), default)
        super().__init__(message)


class UnparsedRequest:
    """The request that gunicorn's Response needs, in place of one that could not be parsed."""

    method = "GET"
    version = (1, 1)

    def should_close(self) -> bool:
        return True


class GunicornLogs(Logger):  # type: ignore[misc]  # gunicorn has no types
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        logs.configure(Settings.from_environment())
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = True
        self.error_log.setLevel(logging.NOTSET)  # that of SCAN_LOG_LEVEL
