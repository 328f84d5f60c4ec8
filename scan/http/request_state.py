"""The state of one request, which its steps complete, and the types of these steps."""

from collections.abc import Generator
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey
from scan.errors import ScanError, Unavailable
from scan.http.interfaces import REST, Interface
from scan.queries.reader import Reader
from scan.rate_limits.windows import RateLimitResult, Window
from scan.server.wsgi_responses import Environ, WsgiResponse

REQUEST_STATE = "scan.request_state"  # the one key of ours in a request's environ


class Wait(Enum):
    """The event that the worker's loop waits for before it continues a request's steps."""

    BODY = auto()  # the whole body
    THREAD = auto()  # a thread, since the next step may itself wait


# A step yields what it waits for, or windows to charge, whose result or error is sent back to it;
# advance() in steps.py runs them.
Yielded = Wait | tuple[Window, ...]
Sent = RateLimitResult | Unavailable | None
Steps = Generator[Yielded, Sent, WsgiResponse | None]


class CacheKey(NamedTuple):
    """The key of a cached response; `path` is unquoted, `query` as sent."""

    path: str
    query: str = ""
    content_type: str = ""
    body: bytes = b""
    staleness: str = ""  # of a page, which shows whether its newest block is old


class Charged(NamedTuple):
    """The result of a charge, and the key that was charged; with `refusal` the request ends."""

    result: RateLimitResult
    key: ApiKey | None = None
    refusal: ScanError | None = None


ChargeSteps = Generator[Yielded, Sent, Charged]


@dataclass(slots=True)
class RequestState:
    """A request and the results of its steps so far; times are of time.perf_counter()."""

    environ: Environ
    method: str
    path: str
    page: str  # the path without slashes at its end
    request_id: str
    began: float
    interface: Interface | None = None  # None where no limit is charged or shown
    is_open: bool = False  # never charged, and alike for everybody
    cached_for_s: float | None = None  # None where the version of the index decides
    steps: Steps | None = None  # to the response; None before the first one
    waits_for: "Wait | Future[RateLimitResult] | None" = None  # before the next step
    charged: Charged | None = None  # None until the client was charged
    cache_key: CacheKey | None = None
    route: str = "unknown"
    reader: Reader | None = None  # None until something is read
    required_block: int | None = None  # that the index has to have for a response
    has_changed_index: bool = False  # so that cached responses may be old
    refusal: ScanError | None = None  # why the request was refused

    def refuse(self, error: ScanError) -> WsgiResponse:
        """Return an error in the form of the request's interface, and note it for the log."""
        self.refusal = error
        return (self.interface or REST).refuse(error)

    @property
    def has_body(self) -> bool:
        length = self.environ.get("CONTENT_LENGTH", "")
        return length not in ("", "0") or "HTTP_TRANSFER_ENCODING" in self.environ


def request_state_of(environ: Environ) -> RequestState:
    state: RequestState = environ[REQUEST_STATE]
    return state
