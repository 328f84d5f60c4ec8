"""The interfaces whose requests are charged, and how each of them refuses a request."""

from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

import orjson

from scan.errors import ScanError
from scan.http.wsgi import WsgiResponse

API = "/api/v1"


class Interface(NamedTuple):
    """`paths` are exact but for slashes at their end; `prefixes` have paths below them."""

    refuse: Callable[[ScanError], WsgiResponse]
    paths: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    has_page_limit: bool = False  # instead of the API's; keys do not count
    api_key_parameter: str | None = None  # of the query or the form; an unknown key is ignored

    def has(self, path: str) -> bool:
        return path.rstrip("/") in self.paths or any(
            path == prefix or path.startswith(f"{prefix}/") for prefix in self.prefixes
        )


def json_response(status: int, value: object, headers: list[tuple[str, str]]) -> WsgiResponse:
    """A response that Flask does not see."""
    body = orjson.dumps(value)
    fixed = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return WsgiResponse(f"{status} {HTTPStatus(status).phrase}", [*fixed, *headers], body)


def refuse(error: ScanError) -> WsgiResponse:
    """An error in the shape of /api/v1."""
    return json_response(error.status, error.body(), list(error.headers.items()))


REST = Interface(refuse, prefixes=(API,))
