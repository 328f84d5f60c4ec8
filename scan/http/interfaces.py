"""The interfaces whose requests are charged, and how each of them refuses a request."""

from collections.abc import Callable
from typing import NamedTuple

from scan.errors import ScanError
from scan.server.wsgi import WsgiResponse, refuse

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


REST = Interface(refuse, prefixes=(API,))
