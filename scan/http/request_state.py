"""One request on its way to its response: what each step of the HTTP path found out about it."""

from dataclasses import dataclass
from typing import NamedTuple

from scan.http.credentials import Charged, Charging
from scan.http.interfaces import Interface
from scan.queries.reader import Reader
from scan.server.wsgi import Environ

REQUEST_STATE = "scan.request_state"  # the one key of ours in a request's environ


class CacheKey(NamedTuple):
    """What distinguishes one cached response from another; `path` is unquoted, `query` as sent."""

    path: str
    query: str = ""
    content_type: str = ""
    body: bytes = b""


@dataclass(slots=True)
class RequestState:
    """A request and what is known of it so far; times are of time.perf_counter()."""

    environ: Environ
    method: str
    path: str
    page: str  # the path without slashes at its end
    request_id: str
    began: float
    interface: Interface | None = None  # None where no limit is charged or shown
    is_open: bool = False  # never charged, and alike for everybody
    cached_for_s: float | None = None  # None where the version of the index decides
    charged: Charged | None = None  # None until the client was charged
    charging: Charging | None = None  # while that is under way elsewhere
    is_admitted: bool = False  # whether its key may be looked up, or looked for in a form
    cache_key: CacheKey | None = None
    is_looked_up: bool = False  # in the cache, where it is not
    route: str = "unknown"
    reader: Reader | None = None  # None until something is read
    required_block: int | None = None  # that the index has to have for a response

    @property
    def has_body(self) -> bool:
        length = self.environ.get("CONTENT_LENGTH", "")
        return length not in ("", "0") or "HTTP_TRANSFER_ENCODING" in self.environ


def request_state_of(environ: Environ) -> RequestState:
    state: RequestState = environ[REQUEST_STATE]
    return state
