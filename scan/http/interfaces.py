"""Which interface a path belongs to, and how each refuses a request."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scan.errors import ScanError
from scan.server.wsgi import Environ, WsgiResponse, refuse

API = "/api/v1"


class Interface(NamedTuple):
    """`paths` are exact but for slashes at their end; `prefixes` have paths below them."""

    refuse: Callable[[ScanError], WsgiResponse]
    paths: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    has_page_limit: bool = False  # instead of the API's; keys do not count
    has_address_limit: bool = False  # that of the address over all keys, instead of the API's
    calls_api: bool = False  # with the caller's key, which is charged for that
    api_key_parameter: str | None = None  # of the query or the form; an unknown key is ignored

    def has(self, path: str) -> bool:
        return path.rstrip("/") in self.paths or any(
            path == prefix or path.startswith(f"{prefix}/") for prefix in self.prefixes
        )


REST = Interface(refuse, prefixes=(API,))
# Of paths that no interface has programs get JSON, browsers a page where there are pages.
UNKNOWN = Interface(refuse, has_page_limit=True)


def interface_of(
    path: str, environ: Environ, interfaces: Sequence[Interface], pages: Interface | None
) -> Interface:
    """Unknown paths are charged as pages are. Who reads pages as Markdown has errors as JSON."""
    accept = environ.get("HTTP_ACCEPT", "")
    for interface in interfaces:
        if interface.has(path):
            is_for_program = interface is pages and "text/html" not in accept
            return UNKNOWN if is_for_program and "markdown" in accept else interface
    return pages if pages is not None and "text/html" in accept else UNKNOWN
