"""The interfaces, such as the API and the pages: their paths, and how each refuses a request."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from scan.errors import ScanError
from scan.http.same_origin import SameOrigin
from scan.server.wsgi_responses import Environ, WsgiResponse, refuse

API = "/api/v1"
MARKDOWN = "text/markdown"


class Interface(NamedTuple):
    """An interface has its `paths`, with slashes at their end or not, and all below `prefixes`,
    which end with one."""

    refuse: Callable[[ScanError], WsgiResponse]
    refuse_as_markdown: Callable[[ScanError], WsgiResponse] | None = None  # of pages
    paths: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    same_origin: SameOrigin | None = None  # of pages: who may send their forms
    has_page_limit: bool = False  # instead of the API's; keys do not count
    has_address_limit: bool = False  # the limit of an address over all keys, instead of the API's
    calls_api: bool = False  # with the caller's key, which is charged for the calls
    api_key_parameter: str | None = None  # in the query or the form; an unknown key is ignored
    unknown_path: str = ""  # the message for a path of no view, instead of the API's advice
    catalogued: str = ""  # its path in the catalogue of APIs, if it is there
    line_of_llms: str = ""  # in /llms.txt


REST = Interface(refuse, prefixes=(f"{API}/",))
# For paths of no interface programs get errors as JSON, browsers as pages where there are pages.
UNKNOWN = Interface(refuse, has_page_limit=True)


def interface_of(
    path: str, environ: Environ, interfaces: Sequence[Interface], pages: Interface | None
) -> Interface:
    """Return the interface of a path; a client that prefers Markdown gets errors of pages in it."""
    accept = environ.get("HTTP_ACCEPT", "")
    exact, below = path.rstrip("/"), f"{path}/"
    for interface in interfaces:
        if exact in interface.paths or below.startswith(interface.prefixes):
            return _as_accepted(pages, accept) if interface is pages else interface
    reads_pages = prefers_markdown(accept) or "text/html" in accept
    return _as_accepted(pages, accept) if pages is not None and reads_pages else UNKNOWN


def _as_accepted(pages: Interface, accept: str) -> Interface:
    if pages.refuse_as_markdown is None or not prefers_markdown(accept):
        return pages
    return pages._replace(refuse=pages.refuse_as_markdown)


def prefers_markdown(accept: str) -> bool:
    """Return whether a request prefers a page as Markdown, by its Accept header."""
    if MARKDOWN not in accept:
        return False  # as for browsers; werkzeug's parser takes 20 us
    types = parse_accept_header(accept, MIMEAccept)
    return types.best_match(["text/html", MARKDOWN]) == MARKDOWN
