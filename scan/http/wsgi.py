"""WSGI's values: what a request's environ is, and a whole response."""

from typing import Any, NamedTuple

Environ = dict[str, Any]
Headers = list[tuple[str, str]]


class WsgiResponse(NamedTuple):
    """A whole response. `route` is the one it is counted for in the metrics."""

    status: str
    headers: Headers
    body: bytes
    route: str = "unknown"
