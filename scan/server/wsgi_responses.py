"""Responses as WSGI has them, made without Flask: whole ones, also of errors."""

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

from scan.errors import ScanError

Environ = dict[str, Any]
Headers = list[tuple[str, str]]

# In an environ: what makes of (worker, connection) a response that does not end, with begin(),
# finish(), close(), and start(), which the application's thread calls.
OPEN_RESPONSE = "scan.open_response"

# Headers of a response that a client has to check with each use.
REVALIDATED = (("Cache-Control", "no-cache"), ("Vary", "Accept"))  # the same list may be a file


class WsgiResponse(NamedTuple):
    """A whole response; the metrics count it for `route`. `gzipped` is its compressed form, None
    until a client has asked for that."""

    status: str
    headers: Headers
    body: bytes
    route: str = "unknown"
    gzipped: "WsgiResponse | None" = None


def json_response(status: int, value: object, headers: list[tuple[str, str]]) -> WsgiResponse:
    """Return a JSON response that is made without Flask."""
    body = orjson.dumps(value)
    fixed = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return WsgiResponse(f"{status} {HTTPStatus(status).phrase}", [*fixed, *headers], body)


def refuse(error: ScanError) -> WsgiResponse:
    """Return an error in the form of /api/v1."""
    return json_response(error.status, error.body(), list(error.headers.items()))
