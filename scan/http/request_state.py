"""One request on its way to its response: what each step of the HTTP path found out about it."""

import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scan.http.credentials import Charged, Charging
from scan.http.interfaces import Interface
from scan.queries.reader import Reader
from scan.server.wsgi import Environ

REQUEST_STATE = "scan.request_state"  # the one key of ours in a request's environ

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


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
    path: str
    request_id: str
    began: float
    interface: Interface | None = None  # None for paths that are never charged
    charged: Charged | None = None  # None until the client was charged
    charging: Charging | None = None  # while that is under way elsewhere
    cache_key: CacheKey | None = None
    route: str = "unknown"
    reader: Reader | None = None  # None until something is read
    required_block: int | None = None  # that the index has to have for a response

    @property
    def method(self) -> str:
        return str(self.environ["REQUEST_METHOD"])

    @property
    def has_body(self) -> bool:
        length = self.environ.get("CONTENT_LENGTH", "")
        return length not in ("", "0") or "HTTP_TRANSFER_ENCODING" in self.environ


def new_request_state(
    environ: Environ, interfaces: Sequence[Interface] = (), base_path: str = ""
) -> RequestState:
    """Paths below `base_path` are served as those without it."""
    if base_path and environ["PATH_INFO"].startswith(f"{base_path}/"):
        environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(base_path)
    # Flask finds routes alike however many slashes a path begins with, or none.
    path = f"/{environ['PATH_INFO'].lstrip('/')}"
    given_id = environ.get("HTTP_X_REQUEST_ID", "")
    request_id = given_id if _PLAIN_ID.match(given_id) else f"{random.getrandbits(64):016x}"
    interface = next((each for each in interfaces if each.has(path)), None)
    return RequestState(environ, path, request_id, time.perf_counter(), interface)


def request_state_of(environ: Environ) -> RequestState:
    state: RequestState = environ[REQUEST_STATE]
    return state
