"""Compressed forms of responses, in gzip. They are made in threads and kept with the cached
response; the worker's loop only chooses between the two."""

import zlib
from collections.abc import Sequence
from functools import lru_cache

from werkzeug.http import parse_accept_header

from scan.http import etags
from scan.http.request_state import RequestState
from scan.server.wsgi_responses import Headers, WsgiResponse

MIN_BYTES = 1024
# Of a page of 39 kB level 2 leaves 6.3 kB and level 9 5.7 kB, in three to four times the time.
LEVEL = 2
FILE_LEVEL = 9  # of what is compressed once an hour
TYPES = tuple(
    """
    text/html text/markdown text/css text/javascript text/plain application/json
    application/linkset+json application/atom+xml image/svg+xml
    """.split()
)
_GZIP_FORMAT = 31  # zlib's window bits, with gzip's header


@lru_cache(maxsize=256)  # parsing takes 20 us; the middleware bounds the header's length
def accepts_gzip(accepted: str) -> bool:
    """Return whether a header Accept-Encoding accepts gzip."""
    return "gzip" in accepted and parse_accept_header(accepted)["gzip"] > 0


def is_compressible(headers: Headers) -> bool:
    """Return whether a response with these headers is text that is long enough."""
    named = dict(headers)
    return (
        named.get("Content-Type", "").startswith(TYPES)
        and int(named.get("Content-Length", "0")) >= MIN_BYTES
        and "Content-Encoding" not in named
    )


def is_missing(response: WsgiResponse) -> bool:
    """Return whether the compressed form has still to be made."""
    return response.gzipped is None and bool(response.body) and is_compressible(response.headers)


def negotiated(
    state: RequestState, response: WsgiResponse, more: Sequence[tuple[str, str]] = ()
) -> WsgiResponse:
    """Return a response with more headers and with what it varies by, and with its compressed form
    where the client accepts that."""
    headers = [*response.headers, *more]
    varies = [value for name, value in headers if name == "Vary"]
    is_text = is_compressible(headers)
    if is_text:
        varies.append("Accept-Encoding")
    if varies:
        headers = [header for header in headers if header[0] != "Vary"]
        headers.append(("Vary", ", ".join(dict.fromkeys(varies))))
    response = WsgiResponse(response.status, headers, response.body, response.route)
    is_compressed = is_text and state.accepts_gzip
    return with_compressed(response, is_file=state.is_open) if is_compressed else response


def with_compressed(response: WsgiResponse, *, is_file: bool) -> WsgiResponse:
    return response._replace(gzipped=_compressed(response, FILE_LEVEL if is_file else LEVEL))


def _compressed(response: WsgiResponse, level: int) -> WsgiResponse:
    compressor = zlib.compressobj(level, zlib.DEFLATED, _GZIP_FORMAT)
    body = compressor.compress(response.body) + compressor.flush()
    changed = {"Content-Length": str(len(body))}
    for name, value in response.headers:
        if name == "ETag":
            changed[name] = etags.of_compressed(value)
    headers = [(name, changed.get(name, value)) for name, value in response.headers]
    return response._replace(headers=[*headers, ("Content-Encoding", "gzip")], body=body)
