"""WSGI's values: an environ, a whole response, and an error as one."""

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

from scan.errors import ScanError

Environ = dict[str, Any]
Headers = list[tuple[str, str]]

# Headers of a response that a client has to check with each use.
REVALIDATED = (("Cache-Control", "no-cache"), ("Vary", "Accept"))  # the same list may be a file


class WsgiResponse(NamedTuple):
    """A whole response. `route` is the one it is counted for in the metrics."""

    status: str
    headers: Headers
    body: bytes
    route: str = "unknown"


def json_response(status: int, value: object, headers: list[tuple[str, str]]) -> WsgiResponse:
    """A response that Flask does not see."""
    body = orjson.dumps(value)
    fixed = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return WsgiResponse(f"{status} {HTTPStatus(status).phrase}", [*fixed, *headers], body)


def refuse(error: ScanError) -> WsgiResponse:
    """An error in the shape of /api/v1."""
    return json_response(error.status, error.body(), list(error.headers.items()))
