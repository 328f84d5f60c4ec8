"""The steps of every request, in order: id, credentials and limit, cache, Flask.

begin() takes the steps that never wait; the worker calls it in its loop. What is left is taken by
__call__() in a thread, and begin() before it where nobody has called it yet.
"""

import io
import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from gunicorn.http.errors import ParseException

from scan import VERSION
from scan.errors import InvalidParameter, RateLimited, ScanError, Unavailable
from scan.http.cache_keys import CACHED_FOR_S, FILE_CACHED_FOR_S, cache_key
from scan.http.credentials import Charged, Charging, Credentials, caller_of, limit_headers
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import REQUIRED, SHOWN, IndexedBlock, NotIndexedYet, required_block
from scan.http.interfaces import API, Interface, interface_of
from scan.http.prerequisites import Prerequisites
from scan.http.replica_poller import ReplicaPoller
from scan.http.request_state import REQUEST_STATE, RequestState
from scan.http.response_cache import ResponseCache
from scan.observability import logs, metrics, request_log
from scan.server.wsgi import CORS, REVALIDATED, Environ, Headers, WsgiResponse

KEYS = f"{API}/keys"
PREFLIGHT_HEADERS = f"Content-Type, X-API-Key, {REQUIRED}"
MAX_FORM_BYTES = 5 * 1024 * 1024 + 64 * 1024
SENT_WITH_304 = ("ETag", "Cache-Control", "Vary", SHOWN)

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
ALIVE = WsgiResponse(
    "200 OK",
    [("Content-Type", "application/json"), ("Content-Length", "18")],
    b'{"status":"alive"}',
    "/healthz",
)


class Middleware:
    """A WSGI application around Flask's."""

    def __init__(
        self,
        flask: Callable[[Environ, Any], Iterable[bytes]],
        credentials: Credentials,
        index_version: IndexVersion,
        indexed_block: IndexedBlock,
        replica_poller: ReplicaPoller | None,
        interfaces: Sequence[Interface],
        pages: Interface | None,
        open_paths: Collection[str],
        allowed_methods: Callable[[str], Iterable[str]],
        prerequisites: Prerequisites,
        *,
        logs_requests: bool,
        base_path: str = "",
    ) -> None:
        """`replica_poller` where a replica is read; `open_paths` are never charged and the same for
        everybody; `allowed_methods` of a path, by the routes."""
        self._flask = flask
        self._credentials = credentials
        self._index_version = index_version
        self._indexed_block = indexed_block
        self._replica_poller = replica_poller
        self._cache = ResponseCache(index_version)
        self._interfaces = interfaces
        self._pages = pages
        self._open_paths = open_paths
        self._allowed_methods = allowed_methods
        self._prerequisites = prerequisites
        self._logs_requests = logs_requests
        self._base_path = base_path

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """A response from a thread, which may wait."""
        state: RequestState | None = environ.get(REQUEST_STATE)
        if state is None:
            state = environ[REQUEST_STATE] = self._new_request_state(environ)
        logs.request_id.set(state.request_id)
        metrics.HTTP_BUSY.inc()
        try:
            response = self._without_flask(state, may_wait=True)
            if response is None:
                return self._ask_flask(state, start_response)
            return self._send(state, response, start_response)
        finally:
            metrics.HTTP_BUSY.dec()
            logs.request_id.set(None)

    def check(self) -> None:
        """What is due also without requests; the worker's loop calls it every half second."""
        self._index_version.read_notifications()

    def begin(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """A response from the worker's loop; None where a thread has to make it.

        The request was charged then, unless that has to wait, too: see charging(). What is known
        of it stands in `environ`. One whose body has not come yet may be refused here.
        """
        state = environ[REQUEST_STATE] = self._new_request_state(environ)
        return self._from_loop(state, start_response)

    def charging(self, environ: Environ) -> "Future[Any] | None":
        """Where a request that was begun is counted elsewhere: when that is done, resume()."""
        charging = environ[REQUEST_STATE].charging
        return charging.counted if charging else None

    def resume(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), which it goes on with."""
        state: RequestState = environ[REQUEST_STATE]
        assert state.charging is not None
        self._note_charge(state, state.charging.charged())
        state.charging = None
        return self._from_loop(state, start_response)

    def from_cache(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), for a request that was begun and whose body has come since."""
        state: RequestState = environ[REQUEST_STATE]
        if self._logs_requests or not state.has_body or not self._is_charged(state):
            return None
        response = self._cached(state)
        return None if response is None else self._send(state, response, start_response)

    def _new_request_state(self, environ: Environ) -> RequestState:
        """Paths below the base path are served as those without it."""
        if self._base_path and environ["PATH_INFO"].startswith(f"{self._base_path}/"):
            environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(self._base_path)
        # Flask finds routes alike however many slashes a path begins with, or none.
        path = f"/{environ['PATH_INFO'].lstrip('/')}"
        page = path.rstrip("/") or "/"
        given_id = environ.get("HTTP_X_REQUEST_ID")
        is_plain = given_id is not None and _PLAIN_ID.fullmatch(given_id)
        request_id = given_id if is_plain else f"{random.getrandbits(64):016x}"
        method, began = environ["REQUEST_METHOD"], time.perf_counter()
        state = RequestState(environ, method, path, page, str(request_id), began)
        is_api = path.startswith(f"{API}/")
        state.is_open = (
            page in self._open_paths
            and method in ("GET", "HEAD")
            and not state.has_body
            and not (is_api and environ.get("QUERY_STRING"))  # which Flask may refuse
        )
        state.cached_for_s = CACHED_FOR_S.get(page, FILE_CACHED_FOR_S if state.is_open else None)
        if not state.is_open or is_api:  # its responses show what is left
            state.interface = interface_of(path, environ, self._interfaces, self._pages)
        return state

    def _from_loop(self, state: RequestState, start_response: Any) -> Iterable[bytes] | None:
        if self._logs_requests:  # whoever writes a line may wait for its reader
            return None
        response = self._without_flask(state, may_wait=False)
        if response is None:
            return None
        return self._send(state, response, start_response, is_in_loop=True)

    def _without_flask(self, state: RequestState, *, may_wait: bool) -> WsgiResponse | None:
        """Each step once, whether the loop takes it or a thread."""
        if state.path == "/healthz" and state.method in ("GET", "HEAD"):
            return ALIVE
        if state.method == "OPTIONS":
            return self._preflight(state, may_wait=may_wait)
        while not self._is_charged(state):
            charged = self._charge(state, may_wait=may_wait)
            if isinstance(charged, Charging):
                state.charging = charged
                return None
            if charged is None:
                return None
            self._note_charge(state, charged)
        if state.interface is not None and state.charged is not None:
            if state.charged.refusal is not None:
                return state.interface.refuse(state.charged.refusal)
            try:
                state.required_block = None if state.is_open else required_block(state.environ)
            except InvalidParameter as error:
                return state.interface.refuse(error)
        response = self._cached(state) if may_wait or not state.has_body else None
        return response or self._refused_at_once(state)

    def _refused_at_once(self, state: RequestState) -> WsgiResponse | None:
        """Where a thread could only say that there is no place to wait in, or no node."""
        if state.interface is None or not self._prerequisites.may_be_missing():
            return None
        client = self._credentials.address_of(state.environ)
        refusal = self._prerequisites.refusal(state, client)
        return None if refusal is None else state.interface.refuse(refusal)

    def _is_charged(self, state: RequestState) -> bool:
        return state.charged is not None or state.interface is None

    def _note_charge(self, state: RequestState, charged: Charged) -> None:
        """A request that was admitted is still to be charged, once its key is known."""
        if charged.is_admission:
            state.is_admitted = True
        else:
            state.charged = charged

    def _preflight(self, state: RequestState, *, may_wait: bool) -> WsgiResponse | None:
        """Browsers ask first what a path allows, which costs them nothing."""
        interface = state.interface
        if interface is not None and not interface.has_page_limit and state.charged is None:
            left = self._credentials.peek(caller_of(state.environ), may_wait=may_wait)
            if left is None:
                return None
            state.charged = Charged(left)
        methods = [*self._allowed_methods(state.path)] or ["GET", "HEAD"]
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        requested = state.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", PREFLIGHT_HEADERS)
        headers = [
            ("Allow", allow),
            ("Access-Control-Allow-Methods", allow),
            ("Access-Control-Allow-Headers", requested),
            ("Access-Control-Max-Age", "86400"),
        ]
        return WsgiResponse("204 No Content", headers, b"")

    def _charge(self, state: RequestState, *, may_wait: bool) -> Charged | Charging | None:
        """None where it has to wait, and may not."""
        interface = state.interface
        assert interface is not None
        if state.is_open:
            left = self._credentials.peek(caller_of(state.environ), may_wait=may_wait)
            return None if left is None else Charged(left)
        if interface.has_page_limit:
            return self._credentials.charge_page(caller_of(state.environ), may_wait=may_wait)
        parameter = interface.api_key_parameter
        caller = caller_of(state.environ, parameter)
        may_be_in_form = caller.api_key is None and parameter is not None and state.has_body
        if not state.is_admitted and (may_be_in_form or not self._credentials.knows_key(caller)):
            return self._credentials.admit(caller, may_wait=may_wait)
        if may_be_in_form:
            if not may_wait:
                return None
            caller = caller_of(state.environ, parameter, _whole_body(state.environ))
        makes_key = state.page == KEYS and state.method == "POST"
        return self._credentials.charge(
            caller,
            to_address=makes_key,
            may_wait=may_wait,
            is_admitted=state.is_admitted,
        )

    def _cached(self, state: RequestState) -> WsgiResponse | None:
        if state.is_looked_up:
            return None
        state.is_looked_up = True
        state.cache_key = cache_key(state)
        if state.cache_key is None:
            return None
        response = self._cache.find(state.cache_key)
        if response is None or state.required_block is None:
            return response
        shown = dict(response.headers).get(SHOWN, "-1")
        return response if int(shown) >= state.required_block else None

    def _ask_flask(self, state: RequestState, start_response: Any) -> Iterable[bytes]:
        """Flask's response: cached where it may be, and passed on as it comes where not."""
        try:
            least_version = self._wait_for_block(state)
        except Unavailable as error:
            return self._refuse(state, error, start_response)
        began_at = time.monotonic()
        started: list[Any] = []
        environ = _plain_get(state) if state.is_open else state.environ
        body = self._flask(environ, lambda *args: started.append(args))
        status, headers, *exc_info = started[0]
        versions = state.reader.versions if state.reader else frozenset()
        for version in versions:
            self._index_version.record(version, began_at)
        if min(versions, default=least_version) < least_version:
            # Addresses of several replicas lead to one that is behind the one just asked.
            _close(body)
            return self._refuse(state, NotIndexedYet(state.required_block), start_response)
        headers = [*headers, *self._block_header(state)]
        if self._base_path:
            headers = [self._below_base_path(*header) for header in headers]
        may_cache = self._may_cache(state, status)
        if not may_cache and not state.is_open:
            self._observe(state, status)
            start_response(status, self._own_headers(state) + headers, *exc_info)
            return body
        whole = b"".join(body)
        _close(body)
        response = WsgiResponse(status, headers, whole, state.route)
        response = self._store(state, response) if may_cache else response
        return self._send(state, response, start_response)

    def _below_base_path(self, name: str, value: str) -> tuple[str, str]:
        """Where a redirect leads, or where a list goes on."""
        if name == "Location" and value.startswith("/"):
            return name, f"{self._base_path}{value}"
        if name == "Link" and value.startswith("</"):
            return name, f"<{self._base_path}{value[1:]}"
        return name, value

    def _wait_for_block(self, state: RequestState) -> int:
        """The least version that a response may be of; raises Unavailable."""
        if state.required_block is None:
            return 0
        client = self._credentials.address_of(state.environ)
        return self._indexed_block.wait_for(state.required_block, client)

    def _block_header(self, state: RequestState) -> Headers:
        """The newest block that a response about the chain may show."""
        if state.reader is None or not state.reader.versions:
            return []
        block = self._indexed_block.shown_by(max(state.reader.versions))
        return [] if block is None else [(SHOWN, str(block))]

    def _refuse(
        self, state: RequestState, error: ScanError, start_response: Any
    ) -> Iterable[bytes]:
        assert state.interface is not None
        return self._send(state, state.interface.refuse(error), start_response)

    def _may_cache(self, state: RequestState, status: str) -> bool:
        if state.cache_key is None or (state.method == "HEAD" and not state.is_open):
            return False
        if state.reader is not None and not state.reader.is_cacheable:
            return False
        if state.cached_for_s is not None:
            return True
        return (
            status.startswith("200")
            and state.reader is not None
            and len(state.reader.versions) == 1
        )

    def _store(self, state: RequestState, response: WsgiResponse) -> WsgiResponse:
        assert state.cache_key is not None
        if state.cached_for_s is not None:
            self._cache.store_for(state.cache_key, response, state.cached_for_s)
            return response
        self._index_version.listen()
        if self._replica_poller is not None:
            self._replica_poller.start()
        assert state.reader is not None
        [version] = state.reader.versions
        if state.method == "GET":
            etag = ("ETag", f'"{VERSION}-{version}"')
            headers = [header for header in response.headers if header[0] != "Vary"]
            response = response._replace(headers=[*headers, etag, *REVALIDATED])
        self._cache.store(state.cache_key, response, version)
        return response

    def _send(
        self,
        state: RequestState,
        response: WsgiResponse,
        start_response: Any,
        *,
        is_in_loop: bool = False,
    ) -> Iterable[bytes]:
        if response.route != "unknown":
            state.route = response.route
        if _is_unmodified(state, response):
            kept = [header for header in response.headers if header[0] in SENT_WITH_304]
            response = response._replace(status="304 Not Modified", headers=kept, body=b"")
        self._observe(state, response.status, is_in_loop=is_in_loop)
        start_response(response.status, self._own_headers(state) + response.headers)
        return [] if state.method == "HEAD" else [response.body]

    def _own_headers(self, state: RequestState) -> Headers:
        limits = limit_headers(state.charged.verdict) if state.charged else []
        return [*CORS, *limits, ("X-Request-Id", state.request_id)]

    def _observe(self, state: RequestState, status_line: str, *, is_in_loop: bool = False) -> None:
        """The loop writes no line: it would wait for whoever reads them, and what it refuses by the
        thousand would fill the log."""
        status, seconds = int(status_line[:3]), time.perf_counter() - state.began
        request_log.count_request(state.route, state.method, status, seconds)
        refusal = state.charged.refusal if state.charged else None
        if status == 429 or isinstance(refusal, RateLimited):  # some interfaces refuse with 200
            is_keyed = state.charged is not None and state.charged.key is not None
            metrics.RATE_LIMITED.labels("key" if is_keyed else "address").inc()
        if self._logs_requests or (status >= 500 and not is_in_loop):
            client = state.environ.get("REMOTE_ADDR") or ""
            request_log.log_request(state.method, state.path, status, seconds, client)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def _is_unmodified(state: RequestState, response: WsgiResponse) -> bool:
    """Whether the client has this very response (RFC 9110, 13.1.2)."""
    condition = state.environ.get("HTTP_IF_NONE_MATCH")
    if condition is None or state.method not in ("GET", "HEAD"):
        return False
    etag = dict(response.headers).get("ETag")
    tags = [tag.strip().removeprefix("W/") for tag in condition.split(",")]
    return etag is not None and (etag in tags or tags == ["*"])


def _plain_get(state: RequestState) -> Environ:
    """The whole of it, for whoever asks next, also by a path with fewer slashes at its end."""
    conditions = ("HTTP_RANGE", "HTTP_IF_")
    plain = {
        name: value for name, value in state.environ.items() if not name.startswith(conditions)
    }
    return {**plain, "REQUEST_METHOD": "GET", "PATH_INFO": state.page}


def _whole_body(environ: Environ) -> bytes:
    """Flask may read it again."""
    try:
        body: bytes = environ["wsgi.input"].read(MAX_FORM_BYTES)
    except (OSError, ParseException):
        return b""  # whoever reads it again finds what is wrong with it
    environ["wsgi.input"] = io.BytesIO(body)
    return body
