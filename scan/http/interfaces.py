"""Interfaces, such as the API or the pages: how requests of their paths are treated.

Forms of pages are sent by these pages alone: another site could have its visitors' browsers send
one, each with its own address. Programs, which have no visitor, say nothing of their origin.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from scan.errors import ForeignForm, ScanError
from scan.rate_limits.window_storage import RateLimitResult
from scan.server.responses import Environ, Headers, WsgiResponse, refuse
from scan.settings import Settings

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


def own_hosts(settings: Settings, environ: Environ) -> set[str]:
    """Return the hosts of the site's own pages: that of SCAN_PUBLIC_URL where it is set, since a
    request's header Host is whatever its sender, or the name of another site, says."""
    if settings.public_url:
        return {urlsplit(settings.public_url).netloc.lower()}
    return {environ.get("HTTP_HOST", ""), urlsplit(settings.brand.url).netloc} - {""}


def is_sent_by_own_page(settings: Settings, environ: Environ) -> bool | None:
    """Return what a browser says of the page that sends a request; None where nothing is said."""
    site, origin = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_ORIGIN")
    if site is not None:  # which browsers leave out without TLS
        return site in ("same-origin", "none")
    return None if origin is None else origin.partition("://")[2] in own_hosts(settings, environ)


class SameOrigin(NamedTuple):
    """Who sends a form to one of `token_paths` needs a token, which no other site knows."""

    settings: Settings
    token_paths: frozenset[str]

    def require(self, method: str, page: str, environ: Environ) -> None:
        """Raise ForeignForm where a browser says that another site's page sends a form."""
        if method in SAFE_METHODS or page in self.token_paths:
            return
        if is_sent_by_own_page(self.settings, environ) is False:
            raise ForeignForm("Another site has sent this form: send it from the page that has it.")


API = "/api/v1"


def limit_headers(result: RateLimitResult) -> Headers:
    """Return the headers of every response that is charged, also of errors and preflights; the
    last two as IETF's httpapi group drafts them (draft-ietf-httpapi-ratelimit-headers-10)."""
    resets_in_s = int(result.reset_in_s) + 1
    return [
        ("X-RateLimit-Limit", str(result.limit)),
        ("X-RateLimit-Remaining", str(result.remaining)),
        ("X-RateLimit-Reset", str(int(time.time() + result.reset_in_s) + 1)),
        ("RateLimit-Policy", f'"requests";q={result.limit};w={result.window_s}'),
        ("RateLimit", f'"requests";r={result.remaining};t={resets_in_s}'),
    ]


class Interface(NamedTuple):
    """An interface has its `paths`, with slashes at their end or not, and all below `prefixes`,
    which end with one."""

    refuse: Callable[[ScanError], WsgiResponse]
    paths: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    same_origin: SameOrigin | None = None  # of pages: who may send their forms
    has_page_limit: bool = False  # instead of the API's; keys do not count
    has_address_limit: bool = False  # the limit of an address over all keys, instead of the API's
    # Paths that pages ask for again and again: a response from memory is not charged.
    free_from_cache: frozenset[str] = frozenset()
    calls_api: bool = False  # with the caller's key, which is charged for the calls
    limit_headers: Callable[[RateLimitResult], Headers] = limit_headers
    varies_by: str = ""  # the request's header that changes responses of its paths
    api_key_parameter: str | None = None  # in the query or the form; an unknown key is ignored
    unknown_path: str = ""  # the message for a path of no view, instead of the API's advice
    catalogued: str = ""  # its path in the catalogue of APIs, if it is there
    line_of_llms: str = ""  # in /llms.txt

    def owns(self, path: str) -> bool:
        return f"{path}/".startswith(self.prefixes) or path.rstrip("/") in self.paths


REST = Interface(refuse, paths=frozenset((API,)), prefixes=(f"{API}/",))
# For paths of no interface programs get errors as JSON, browsers as pages where there are pages.
UNKNOWN = Interface(refuse, has_page_limit=True)


def interface_of(
    path: str, environ: Environ, interfaces: Sequence[Interface], pages: Interface | None
) -> Interface:
    """Return the interface of a path."""
    for interface in interfaces:
        if interface.owns(path):
            break
    else:
        interface = UNKNOWN
    if pages is None or interface not in (UNKNOWN, pages):
        return interface
    if interface is UNKNOWN and "text/html" not in environ.get("HTTP_ACCEPT", ""):
        return UNKNOWN
    return pages
