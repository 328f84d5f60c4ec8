"""The state of one request, which its steps complete, and the types of these steps."""

from collections.abc import Collection, Generator
from concurrent.futures import Future
from contextvars import ContextVar
from enum import Enum, auto
from io import BytesIO
from typing import NamedTuple

from gunicorn.http.errors import ParseException
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from scan.accounts.api_keys import ApiKey, Maker
from scan.concurrency.turns import Postponed, RequestPlaces, Turn
from scan.errors import ScanError, Unavailable
from scan.http.interfaces import REST, Interface
from scan.http.list_formats import Format
from scan.queries.reader import Reader
from scan.rate_limits.window_storage import RateLimitResult
from scan.server import responses
from scan.server.responses import Environ, WsgiResponse


def read_body(environ: Environ, most: int) -> bytes:
    """Return the body, up to so many bytes, which Flask can read again."""
    try:
        body: bytes = environ["wsgi.input"].read(most)
    except (OSError, ParseException):
        return b""  # the next reader meets the same error, and reports it
    environ["wsgi.input"] = BytesIO(body)
    return body


REQUEST_STATE = "scan.request_state"  # in a request's environ, as is the next one
IS_ADMITTED = "scan.is_admitted"  # where access needs a key: the request, or one it is a part of
_serving: "ContextVar[RequestState]" = ContextVar("scan.request_state")
# Sets the request that this thread serves, and returns what ends that, and which it is.
begin_serving, end_serving, current_request = _serving.set, _serving.reset, _serving.get


def accepts_problem(accept: str) -> bool:
    """Return whether a client accepts errors in the form of RFC 9457, and JSON no more than these
    (RFC 9110, 12.5.1)."""
    if responses.PROBLEM_TYPE not in accept:
        return False
    accepted = parse_accept_header(accept, MIMEAccept)
    quality = accepted[responses.PROBLEM_TYPE]
    named = [q for value, q in accepted if value == "application/json"]
    return bool(quality > 0 and all(quality >= q for q in named))


class Wait(Enum):
    """What the next step of a request has to wait for; a charge elsewhere is a future, as is a turn
    at a place."""

    BODY = auto()  # the whole body
    THREAD = auto()  # a thread, since the next step may itself wait


WaitsFor = Wait | Future[RateLimitResult] | Turn
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

    result: RateLimitResult
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
    known_arguments: Collection[str] = ()  # names of parameters that the view takes
    route: str = "unknown"
    reader: Reader | None = None  # None until Flask runs
    places: RequestPlaces | None = None  # None until Flask runs
    required_block: int | None = None  # that the index has to have for a response
    watched: str | bytes | None = None  # the key's text, or a session's hash: it ends the response
    session_key: ApiKey | None = None  # of a person's session
    maker: Maker = Maker()  # of what it makes: where access needs a key, who sends it
    stream_ends_at: float | None = None  # by time.monotonic(); None where a key alone ends it
    has_ceiling_charged: bool = False  # the limit of the client's address over all keys
    tells_status_alone: bool = False  # of /readyz, to whom sends no key where one is needed
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

    def take_turn(self, postponed: Postponed) -> Steps:
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
        interface = self.interface or REST
        if interface.refuse is responses.refuse and accepts_problem(
            self.environ.get("HTTP_ACCEPT", "")
        ):
            return responses.refuse_as_problem(error)
        return interface.refuse(error)
