"""The steps of every request, in order: id, credentials and limit, cache, Flask.

begin() takes the steps that never wait; the worker calls it in its loop. What is left is taken by
__call__() in a thread, and begin() before it where nobody has called it yet.
"""

import io
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from gunicorn.http.errors import ParseException

from scan import VERSION
from scan.errors import InvalidParameter, RateLimited, ScanError, Unavailable
from scan.http.credentials import (
    Charged,
    Charging,
    Credentials,
    caller_of,
    limit_headers,
    with_key_of_form,
)
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import SHOWN, IndexedBlock, NotIndexedYet, required_block
from scan.http.interfaces import API, Interface
from scan.http.replica_poller import ReplicaPoller
from scan.http.request_state import REQUEST_STATE, CacheKey, RequestState, new_request_state
from scan.http.response_cache import ResponseCache
from scan.observability import logs, metrics, request_log
from scan.server.wsgi import CORS, Environ, Headers, WsgiResponse

QUERY = f"{API}/query"
KEYS = f"{API}/keys"
CACHED_FOR_S = {"/": 1.0, "/readyz": 1.0}
MAX_CACHED_BODY_BYTES = 4096  # of a request to /query
SENT_WITH_304 = ("ETag", "Cache-Control", SHOWN)

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
        *,
        logs_requests: bool,
        base_path: str = "",
    ) -> None:
        """`replica_poller` where a replica is read."""
        self._flask = flask
        self._credentials = credentials
        self._index_version = index_version
        self._indexed_block = indexed_block
        self._replica_poller = replica_poller
        self._cache = ResponseCache(index_version)
        self._interfaces = interfaces
        self._logs_requests = logs_requests
        self._base_path = base_path

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """A response from a thread, which may wait."""
        state: RequestState = environ.get(REQUEST_STATE) or self._new_request_state(environ)
        environ[REQUEST_STATE] = state
        logs.request_id.set(state.request_id)
        metrics.HTTP_BUSY.inc()
        try:
            response = self._known(state, may_wait=True)
            if response is None:
                return self._ask_flask(state, start_response)
            return self._send(state, response, start_response)
        finally:
            metrics.HTTP_BUSY.dec()
            logs.request_id.set(None)

    def begin(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """A response from the worker's loop; None where a thread has to make it.

        The request was charged then, unless that has to wait, too: see charging(). `environ` keeps
        what was found out. A request whose body has not come yet may be refused here.
        """
        state = environ[REQUEST_STATE] = self._new_request_state(environ)
        if self._logs_requests:  # whoever writes a line may wait for its reader
            return None
        return self._begin(state, start_response)

    def charging(self, environ: Environ) -> "Future[Any] | None":
        """Where a request that was begun is counted elsewhere: when that is done, resume()."""
        charging = environ[REQUEST_STATE].charging
        return charging.counted if charging else None

    def resume(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), which it goes on with."""
        state: RequestState = environ[REQUEST_STATE]
        assert state.charging is not None
        state.charged, state.charging = state.charging.charged(), None
        return self._begin(state, start_response)

    def _begin(self, state: RequestState, start_response: Any) -> Iterable[bytes] | None:
        response = self._known(state, may_wait=False)
        return None if response is None else self._send(state, response, start_response)

    def from_cache(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), for a request that was begun and whose body has come since."""
        state: RequestState = environ[REQUEST_STATE]
        response = None if self._logs_requests else self._cached(state)
        return None if response is None else self._send(state, response, start_response)

    def _new_request_state(self, environ: Environ) -> RequestState:
        return new_request_state(environ, self._interfaces, self._base_path)

    def _known(self, state: RequestState, *, may_wait: bool) -> WsgiResponse | None:
        """What can be answered without Flask."""
        if state.path == "/healthz" and state.method in ("GET", "HEAD"):
            return ALIVE
        if state.interface is not None:
            if state.charged is None:
                charged = self._charge(state, state.interface, may_wait=may_wait)
                if isinstance(charged, Charging):
                    state.charging = charged
                    return None
                state.charged = charged
            if state.charged is None:
                return None
            if state.charged.refusal is not None:
                return state.interface.refuse(state.charged.refusal)
            try:
                state.required_block = required_block(state.environ)
            except InvalidParameter as error:
                return state.interface.refuse(error)
        return self._cached(state) if may_wait or not state.has_body else None

    def _charge(
        self, state: RequestState, interface: Interface, *, may_wait: bool
    ) -> Charged | Charging | None:
        if state.method == "OPTIONS":  # browsers ask first, which costs nothing
            caller = caller_of(state.environ)
            return Charged(self._credentials.peek(caller)) if may_wait else None
        caller = caller_of(state.environ, interface.api_key_parameter)
        if interface.has_page_limit:
            return self._credentials.charge_page(caller, may_wait=may_wait)
        if caller.api_key is None and interface.api_key_parameter and state.has_body:
            if not may_wait:
                return None  # its form has to come first
            caller = with_key_of_form(caller, state.environ, interface.api_key_parameter)
        makes_key = state.path.rstrip("/") == KEYS and state.method == "POST"
        return self._credentials.charge(caller, to_address=makes_key, may_wait=may_wait)

    def _cached(self, state: RequestState) -> WsgiResponse | None:
        if state.cache_key is None:
            state.cache_key = _cache_key(state)
        if state.cache_key is None or (state.interface is not None and state.charged is None):
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
        body = self._flask(state.environ, lambda *args: started.append(args))
        status, headers, *exc_info = started[0]
        versions = state.reader.versions if state.reader else frozenset()
        for version in versions:
            self._index_version.record(version, began_at)
        if min(versions, default=least_version) < least_version:
            # Addresses of several replicas lead to one that is behind the one just asked.
            body.close()  # type: ignore[attr-defined]  # Flask's have it
            return self._refuse(state, NotIndexedYet(state.required_block), start_response)
        headers = [*headers, *self._block_header(state)]
        if not self._may_cache(state, status):
            self._observe(state, status)
            start_response(status, self._own_headers(state) + headers, *exc_info)
            return body
        whole = b"".join(body)
        body.close()  # type: ignore[attr-defined]
        response = WsgiResponse(status, headers, whole, state.route)
        return self._send(state, self._store(state, response), start_response)

    def _wait_for_block(self, state: RequestState) -> int:
        """The least version that a response may be of; raises Unavailable."""
        if state.required_block is None:
            return 0
        key = state.charged.key if state.charged else None
        client = self._credentials.client(state.environ, key)
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
        if state.cache_key is None or state.method == "HEAD":
            return False
        if state.reader is not None and not state.reader.is_cacheable:
            return False
        if _page(state) in CACHED_FOR_S:
            return True
        return (
            status.startswith("200")
            and state.reader is not None
            and len(state.reader.versions) == 1
        )

    def _store(self, state: RequestState, response: WsgiResponse) -> WsgiResponse:
        assert state.cache_key is not None
        if _page(state) in CACHED_FOR_S:
            self._cache.store_for(state.cache_key, response, CACHED_FOR_S[_page(state)])
            return response
        self._index_version.listen()
        if self._replica_poller is not None:
            self._replica_poller.start()
        assert state.reader is not None
        [version] = state.reader.versions
        if state.method == "GET":
            validators = (("ETag", f'"{VERSION}-{version}"'), ("Cache-Control", "no-cache"))
            response = response._replace(headers=[*response.headers, *validators])
        self._cache.store(state.cache_key, response, version)
        return response

    def _send(
        self, state: RequestState, response: WsgiResponse, start_response: Any
    ) -> Iterable[bytes]:
        if response.route != "unknown":
            state.route = response.route
        if _is_unmodified(state, response):
            kept = [header for header in response.headers if header[0] in SENT_WITH_304]
            response = response._replace(status="304 Not Modified", headers=kept, body=b"")
        self._observe(state, response.status)
        start_response(response.status, self._own_headers(state) + response.headers)
        return [] if state.method == "HEAD" else [response.body]

    def _own_headers(self, state: RequestState) -> Headers:
        limits = limit_headers(state.charged.verdict) if state.charged else []
        return [*CORS, *limits, ("X-Request-Id", state.request_id)]

    def _observe(self, state: RequestState, status_line: str) -> None:
        status, seconds = int(status_line[:3]), time.perf_counter() - state.began
        request_log.count_request(state.route, state.method, status, seconds)
        refusal = state.charged.refusal if state.charged else None
        if status == 429 or isinstance(refusal, RateLimited):  # some interfaces refuse with 200
            is_keyed = state.charged is not None and state.charged.key is not None
            metrics.RATE_LIMITED.labels("key" if is_keyed else "address").inc()
        if status >= 500 or self._logs_requests:
            client = state.environ.get("REMOTE_ADDR") or ""
            request_log.log_request(state.method, state.path, status, seconds, client)


def _is_unmodified(state: RequestState, response: WsgiResponse) -> bool:
    """Whether the client has this very response (RFC 9110, 13.1.2)."""
    condition = state.environ.get("HTTP_IF_NONE_MATCH")
    if condition is None or state.method not in ("GET", "HEAD"):
        return False
    etag = dict(response.headers).get("ETag")
    tags = [tag.strip().removeprefix("W/") for tag in condition.split(",")]
    return etag is not None and (etag in tags or tags == ["*"])


def _page(state: RequestState) -> str:
    return state.path.rstrip("/") or "/"


def _cache_key(state: RequestState) -> CacheKey | None:
    """None for a request whose response is never cached."""
    query = state.environ.get("QUERY_STRING", "")
    if state.method in ("GET", "HEAD") and not state.has_body:
        page = _page(state)
        if page not in CACHED_FOR_S:
            return CacheKey(state.path, query)
        return CacheKey(page)  # a query does not change it
    if state.method != "POST" or state.path != QUERY:
        return None
    body = _small_body(state.environ)
    content_type = state.environ.get("CONTENT_TYPE", "")
    return None if body is None else CacheKey(QUERY, query, content_type, body)


def _small_body(environ: Environ) -> bytes | None:
    """None where it is long or ends early; Flask may read it again in any case."""
    length = environ.get("CONTENT_LENGTH", "")
    if not length.isdigit() or int(length) > MAX_CACHED_BODY_BYTES:
        return None
    try:
        body: bytes = environ["wsgi.input"].read(int(length))
    except (OSError, ParseException):
        body = b""
    environ["wsgi.input"] = io.BytesIO(body)
    return body if len(body) == int(length) else None
