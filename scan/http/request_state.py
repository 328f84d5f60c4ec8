"""The state of one request, which its steps complete: the types of these steps, the interface that
it is for, such as the API or the pages, and the format of a list that it asks for, a page of JSON
or a whole file, by `format` or the header Accept. Also the services that views use, which live as
long as the process, and marks of views, by whose paths a request is treated before Flask chooses
the view.

Forms of pages are sent by these pages alone: another site could have its visitors' browsers send
one, each with its own address. Programs, which have no visitor, say nothing of their origin.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from flask import current_app
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header
from werkzeug.routing import Map

from scan import registry
from scan.accounts.api_keys import ApiKey, ApiKeyLookup, KeyUsage
from scan.cached_values import LazySequence
from scan.database import connection, notifications
from scan.errors import ForeignForm, ScanError, Unavailable
from scan.http.index_version import CHANNEL
from scan.queries import network
from scan.queries.reader import Reader, Sources
from scan.rate_limits import concurrency, storage
from scan.rate_limits.limiter import Limiter
from scan.server.responses import Environ, Headers, WsgiResponse, refuse
from scan.settings import Settings
from scan.verification.verifier import Verifier

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class SameOrigin(NamedTuple):
    """`public_url` is the site's own, "" where it is not known; who sends a form to one of
    `token_paths` needs a token, which no other site knows."""

    public_url: str
    token_paths: frozenset[str]

    def require(self, method: str, page: str, environ: Environ) -> None:
        """Raise ForeignForm where a browser says that another site's page sends a form."""
        if method in SAFE_METHODS or page in self.token_paths:
            return
        site, origin = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_ORIGIN")
        if site is not None:  # which browsers leave out without TLS
            is_own = site in ("same-origin", "none")
        else:
            hosts = {environ.get("HTTP_HOST", ""), urlsplit(self.public_url).netloc} - {""}
            is_own = origin is None or origin.partition("://")[2] in hosts
        if not is_own:
            raise ForeignForm("Another site has sent this form: send it from the page that has it.")


API = "/api/v1"


def limit_headers(result: storage.RateLimitResult) -> Headers:
    """Return the headers of every response that is charged, also of errors and preflights."""
    return [
        ("X-RateLimit-Limit", str(result.limit)),
        ("X-RateLimit-Remaining", str(result.remaining)),
        ("X-RateLimit-Reset", str(int(time.time() + result.reset_in_s) + 1)),
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
    calls_api: bool = False  # with the caller's key, which is charged for the calls
    limit_headers: Callable[[storage.RateLimitResult], Headers] = limit_headers
    varies_by: str = ""  # the request's header that changes responses of its paths
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
    """Return the interface of a path."""
    exact, below = path.rstrip("/"), f"{path}/"
    interface = UNKNOWN
    for other in interfaces:
        if exact in other.paths or below.startswith(other.prefixes):
            interface = other
            break
    if pages is None or interface not in (UNKNOWN, pages):
        return interface
    if interface is UNKNOWN and "text/html" not in environ.get("HTTP_ACCEPT", ""):
        return UNKNOWN
    return pages


class Format(Enum):
    CSV = "csv"
    NDJSON = "ndjson"


TYPES = {Format.CSV: "text/csv", Format.NDJSON: "application/x-ndjson"}
JSON_TYPE = "application/json"
PARAMETER = "format"
JSON = "json"
MAX_FILE_ROWS = 100_000
FORMATS = LazySequence(lambda: (JSON, *(file.value for file in Format if has_files())))


def has_files() -> bool:
    """Return whether an extension writes files; else lists are pages of JSON alone."""
    return registry.has("list_files")


@lru_cache(maxsize=256)  # the middleware bounds the header's length
def accepted_file(accept: str) -> Format | None:
    """Return the file's format that a client names and prefers to JSON (RFC 9110, 12.5.1).

    Clients that accept anything, as browsers do, get JSON: None.
    """
    if not has_files() or ("csv" not in accept.lower() and "ndjson" not in accept.lower()):
        return None
    accepted = parse_accept_header(accept.lower(), MIMEAccept)
    weights = {name.partition(";")[0]: weight for name, weight in accepted}
    best = max(Format, key=lambda file: weights.get(TYPES[file], 0.0))
    weight = weights.get(TYPES[best], 0.0)
    if JSON_TYPE in weights:
        return best if weight > weights[JSON_TYPE] else None
    # A named type goes before a wildcard of the same weight.
    others = weights.get("application/*", weights.get("*/*", 0.0))
    return best if weight > 0 and weight >= others else None


def read_body(environ: Environ, most: int) -> bytes:
    """Return the body, up to so many bytes, which Flask can read again."""
    try:
        body: bytes = environ["wsgi.input"].read(most)
    except (OSError, ParseException):
        return b""  # the next reader meets the same error, and reports it
    environ["wsgi.input"] = BytesIO(body)
    return body


REQUEST_STATE = "scan.request_state"  # the one key of ours in a request's environ
_serving: "ContextVar[RequestState]" = ContextVar("scan.request_state")
# Sets the request that this thread serves, and returns what ends that, and which it is.
begin_serving, end_serving, current_request = _serving.set, _serving.reset, _serving.get


class Wait(Enum):
    """What the next step of a request has to wait for; a charge elsewhere is a future, as is a turn
    at a place."""

    BODY = auto()  # the whole body
    THREAD = auto()  # a thread, since the next step may itself wait


WaitsFor = Wait | Future[storage.RateLimitResult] | concurrency.Turn
Steps = Generator[WaitsFor, None, WsgiResponse | None]


class CacheKey(NamedTuple):
    """The key of a cached response; `path` is unquoted, `query` as sent."""

    path: str
    query: str = ""
    header: str = ""  # the content type of a body, or what the interface's responses vary by
    body: bytes = b""
    staleness: str = ""  # of the index, as a page shows it


class Charged(NamedTuple):
    """The result of a charge, and the key that was charged; with `refusal` the request ends."""

    result: storage.RateLimitResult
    key: ApiKey | None = None
    refusal: ScanError | None = None


ChargeSteps = Generator[WaitsFor, None, Charged]


class RequestState:
    """A request and the results of its steps so far; times are of time.perf_counter()."""

    interface: Interface | None = None  # None where no limit is charged or shown
    is_page: bool = False  # by the limit of its interface
    accepted_file: Format | None = None  # of a list, as the header Accept names it
    accepts_gzip: bool = False
    is_open: bool = False  # never charged, and alike for everybody
    cached_for_s: float | None = None  # None where the version of the index decides
    steps: Steps | None = None  # to the response; None before the first one
    waits_for: WaitsFor | None = None  # before the next step
    charged: Charged | None = None  # None until the client was charged
    cache_key: CacheKey | None = None
    route: str = "unknown"
    reader: Reader | None = None  # None until Flask runs
    places: concurrency.RequestPlaces | None = None  # None until Flask runs
    required_block: int | None = None  # that the index has to have for a response
    has_changed_index: bool = False  # so that cached responses may be old
    refusal: ScanError | None = None  # why the request was refused

    def __init__(
        self,
        environ: Environ,
        method: str,
        path: str,
        request_id: str,
        began: float,
        client: str,
        has_body: bool = False,
    ) -> None:
        """`client` is its address, by which it is charged without a key, and its waits count."""
        self.environ = environ
        self.method = method
        self.path = path
        self.page = path.rstrip("/") or "/"
        self.has_body = has_body
        self.request_id = request_id
        self.began = began
        self.client = client

    def advance(self, *, may_wait: bool) -> WsgiResponse | None:
        """Take the steps to the response, or to None where Flask has to make it.

        Without `may_wait` stop before the first one that waits, which is then in `waits_for`; call
        this again when the wait is over.
        """
        assert self.steps is not None
        self.waits_for = None
        try:
            while True:
                waits_for = next(self.steps)
                if not may_wait:
                    self.waits_for = waits_for
                    return None
        except StopIteration as end:
            response: WsgiResponse | None = end.value
            return response

    def take_turn(self, postponed: concurrency.Postponed) -> Steps:
        """Wait for a place that was not free, and return a response where it does not come."""
        assert self.places is not None
        refusal = None
        try:
            yield self.places.queue(postponed)
            self.places.require_turn()
        except Unavailable as error:
            self.places.end()
            refusal = self.refuse(error)
        yield Wait.THREAD
        return refusal

    def refuse(self, error: ScanError) -> WsgiResponse:
        """Return an error in the form of the request's interface, and note it for the log."""
        self.refusal = error
        return (self.interface or REST).refuse(error)


# Pages follow an index whatever the planner knows of the tables: a plan made while they were
# empty must serve when they are not.
SESSION = {"enable_seqscan": "off", "enable_bitmapscan": "off"}
# Of the time-out of a statement: a bulk backfill locks each table until it is loaded.
STATEMENT_TIMEOUT_MS = 5000
LOCK_WAIT_SHARE = 0.2


@dataclass(frozen=True)
class Services:
    """`sources` may read a replica of `writes`."""

    settings: Settings
    sources: Sources
    writes: connection.Database
    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    verifier: Verifier
    waiting_threads: concurrency.WaitingThreads

    @property
    def reads(self) -> connection.Database:
        return self.sources.database

    def version_listener(self) -> notifications.Listener | None:
        """Return a new listener to versions of the index; None where a replica is read, which
        receives no notifications."""
        if self.settings.reads_replica:
            return None
        return notifications.Listener(connect(self.settings, self.settings.database_url), CHANNEL)


def connect(settings: Settings, url: str) -> connection.Database:
    lock_wait = str(int(STATEMENT_TIMEOUT_MS * LOCK_WAIT_SHARE))
    session = {
        **SESSION,
        "lock_timeout": lock_wait,
        "scan.base_path": settings.base_path,
        "scan.coin_symbol": settings.coin_symbol,
        "scan.coin_symbols": network.OTHER_SYMBOLS,
    }
    return connection.Database(
        url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-api", session=session
    )


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])


View = TypeVar("View", bound=Callable[..., Any])
_MARKS_ATTRIBUTE = "scan_mark"  # of a view


class Mark(Enum):
    UNLIMITED = "its requests are not rate limited"
    NEEDS_TOKEN = "its form has a token, which no other site knows: any site may send it"


def attributed(name: str, value: object) -> Callable[[View], View]:
    """Decorate a view with an attribute, by which its requests are treated."""

    def decorate(view: View) -> View:
        setattr(view, name, value)
        return view

    return decorate


def marked(mark: Mark) -> Callable[[View], View]:
    return attributed(_MARKS_ATTRIBUTE, mark)


def paths_marked(mark: Mark, rules: Map, views: Mapping[str, Callable[..., Any]]) -> frozenset[str]:
    """Return the paths of the views of an application that have a mark."""
    return frozenset(
        rule.rule
        for rule in rules.iter_rules()
        if getattr(views[rule.endpoint], _MARKS_ATTRIBUTE, None) is mark
    )
