"""The state of one request, which its steps complete, and the types of these steps."""

from collections.abc import Generator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey
from scan.errors import ScanError, Unavailable
from scan.http.interfaces import REST, Interface
from scan.http.list_format import Format
from scan.queries.reader import Reader
from scan.rate_limits.turns import Postponed, RequestPlaces, Turn, places_of_thread
from scan.rate_limits.windows import RateLimitResult
from scan.server.wsgi_responses import Environ, WsgiResponse

REQUEST_STATE = "scan.request_state"  # the one key of ours in a request's environ


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
    content_type: str = ""
    body: bytes = b""
    staleness: str = ""  # of the index, as a page shows it


class Charged(NamedTuple):
    """The result of a charge, and the key that was charged; with `refusal` the request ends."""

    result: RateLimitResult
    key: ApiKey | None = None
    refusal: ScanError | None = None


ChargeSteps = Generator[WaitsFor, None, Charged]


@dataclass(slots=True)
class RequestState:
    """A request and the results of its steps so far; times are of time.perf_counter()."""

    environ: Environ
    method: str
    path: str
    page: str  # the path without slashes at its end
    has_body: bool
    request_id: str
    began: float
    client: str  # its address, by which it is charged without a key, and by which its waits count
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
    places: RequestPlaces | None = None  # None until Flask runs
    required_block: int | None = None  # that the index has to have for a response
    has_changed_index: bool = False  # so that cached responses may be old
    refusal: ScanError | None = None  # why the request was refused

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

    def serving(self) -> AbstractContextManager[None]:
        """Hold the places that the request takes until the end of the `with` block, or until its
        turn, after Postponed."""
        self.places = self.places or places_of_thread() or RequestPlaces()
        return self.places.serving()

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
        return (self.interface or REST).refuse(error)


def request_state_of(environ: Environ) -> RequestState:
    state: RequestState = environ[REQUEST_STATE]
    return state
