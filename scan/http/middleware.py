"""The steps of every request, in order: id, credentials and limit, cache, Flask.

The worker's loop calls begin() and resume(), which take the steps that never wait. __call__() takes
the others in a thread, or all of them under another server.
"""

import random
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from scan import VERSION
from scan.database.connection import request_waits
from scan.errors import ForeignForm, InvalidParameter, RateLimited, Unavailable
from scan.http import compression
from scan.http.cache_keys import CACHED_FOR_S, FILE_CACHED_FOR_S, cache_key
from scan.http.etags import is_unmodified
from scan.http.ignored_parameters import without_ignored
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import SHOWN, IndexedBlock, NotIndexedYet, required_block
from scan.http.interfaces import API, Interface, interface_of
from scan.http.prerequisites import Prerequisites
from scan.http.rate_limit import RateLimit
from scan.http.replica_poller import ReplicaPoller
from scan.http.request_state import REQUEST_STATE, RequestState, Steps, Wait
from scan.http.response_cache import ResponseCache
from scan.http.steps import advance
from scan.observability import logs, metrics, request_log
from scan.rate_limits.responses import limit_headers
from scan.server.cors import CORS, SENT_HEADERS, preflight_headers
from scan.server.wsgi_responses import REVALIDATED, Environ, Headers, WsgiResponse

SENT_WITH_304 = ("ETag", "Cache-Control", "Vary", SHOWN)

# Lists in headers are parsed in the worker's loop, also for requests that are not charged: 64 kB of
# one take up to 14 ms. Browsers send at most 200 characters; a longer field counts as absent.
PARSED_FIELDS = ("HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH")
MAX_PARSED_FIELD = 1_000

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
        rate_limit: RateLimit,
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
        """`replica_poller` is None where no replica is read; `open_paths` are never charged, and
        alike for all clients; `allowed_methods` returns the methods of a path's routes."""
        self._flask = flask
        self._rate_limit = rate_limit
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
        """Make the response in a thread, which may wait."""
        if REQUEST_STATE not in environ:
            environ[REQUEST_STATE] = self._new_request_state(environ)
        state: RequestState = environ[REQUEST_STATE]
        logs.request_id.set(state.request_id)
        metrics.HTTP_BUSY.inc()
        request_waits.begin(state.began)
        try:
            response = self._advance(state, may_wait=True)
            if response is None:
                return self._ask_flask(state, start_response)
            return self._send(state, response, start_response)
        finally:
            request_waits.end()
            if state.reader is not None:
                state.reader.end()
            metrics.HTTP_BUSY.dec()
            logs.request_id.set(None)

    def check(self) -> None:
        """Read notifications, also without requests; the loop calls this twice a second."""
        self._index_version.read_notifications()

    def begin(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """Take the steps that never wait, in the worker's loop; return a response if they have one.

        Else `environ` keeps the request's state, and resume() is called when the future of
        charging() is done, or where it has none, when the body has been received.
        """
        state = environ[REQUEST_STATE] = self._new_request_state(environ)
        if self._logs_requests:  # writing a line may wait for the log's reader
            state.waits_for = Wait.THREAD
            return None
        return self._continue(state, start_response)

    def client_address(self, environ: Environ) -> str:
        """Return the address that requests without a key are charged to."""
        return self._rate_limit.address_of(environ)

    def charging(self, environ: Environ) -> "Future[Any] | None":
        """Return the future of a charge that another process or thread makes, if one is awaited."""
        waits_for = environ[REQUEST_STATE].waits_for
        return waits_for if isinstance(waits_for, Future) else None

    def resume(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """Go on as begin(), after the charge or the body that the request waited for."""
        state: RequestState = environ[REQUEST_STATE]
        return None if state.waits_for is Wait.THREAD else self._continue(state, start_response)

    def _continue(self, state: RequestState, start_response: Any) -> Iterable[bytes] | None:
        response = self._advance(state, may_wait=False)
        if response is None:
            return None
        return self._send(state, response, start_response, is_in_loop=True)

    def _advance(self, state: RequestState, *, may_wait: bool) -> WsgiResponse | None:
        state.steps = state.steps or self._steps(state)
        return advance(state, self._rate_limit.store, may_wait=may_wait)

    def _steps(self, state: RequestState) -> Steps:
        """Return the response, or None where Flask has to make it."""
        if state.path == "/healthz" and state.method in ("GET", "HEAD"):
            return ALIVE
        if state.method == "OPTIONS":
            return (yield from self._preflight(state))
        if state.interface is not None:
            state.charged = yield from self._rate_limit.charge(state, state.interface)
            if state.charged.refusal is not None:
                return state.refuse(state.charged.refusal)
            try:
                if (same_origin := state.interface.same_origin) is not None:
                    same_origin.require(state.method, state.page, state.environ)
                state.required_block = None if state.is_open else required_block(state.environ)
            except (ForeignForm, InvalidParameter) as error:
                return state.refuse(error)
        if state.has_body:
            refusal = self._refused_at_once(state)
            if refusal is not None:
                return refusal
            yield Wait.BODY
        response = self._cached(state)
        if response is not None:
            if compression.is_missing(response, state.environ):
                yield Wait.THREAD
                response = self._compress_cached(state, response)
            return response
        response = self._refused_at_once(state)
        if response is None:
            yield Wait.THREAD
            response = self._refused_at_once(state)
        return response

    def _new_request_state(self, environ: Environ) -> RequestState:
        """Return the state of a new request, whose path is then without the base path."""
        if self._base_path and environ["PATH_INFO"].startswith(f"{self._base_path}/"):
            environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(self._base_path)
        for field in PARSED_FIELDS:
            if len(environ.get(field, "")) > MAX_PARSED_FIELD:
                del environ[field]
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
        if not state.is_open or is_api:  # the API's responses show the limit
            state.interface = interface_of(path, environ, self._interfaces, self._pages)
        query = environ.get("QUERY_STRING", "")
        environ["QUERY_STRING"] = without_ignored(query, is_page=_is_page(state))
        return state

    def _refused_at_once(self, state: RequestState) -> WsgiResponse | None:
        """Return a refusal where a thread could not serve the request now, None where it could."""
        if state.interface is None or not self._prerequisites.may_be_missing():
            return None
        client = self._rate_limit.address_of(state.environ)
        refusal = self._prerequisites.refusal(state, client)
        return None if refusal is None else state.refuse(refusal)

    def _preflight(self, state: RequestState) -> Steps:
        """Answer OPTIONS, which browsers send before other requests; it is not charged."""
        if state.interface is not None and not state.interface.has_page_limit:
            state.charged = yield from self._rate_limit.peek(state.environ)
        methods = [*self._allowed_methods(state.path)] or ["GET", "HEAD"]
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        requested = state.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", SENT_HEADERS)
        return WsgiResponse("204 No Content", preflight_headers(allow, requested), b"")

    def _cached(self, state: RequestState) -> WsgiResponse | None:
        state.cache_key = cache_key(state)
        if state.cache_key is None:
            return None
        if _is_page(state) and self._indexed_block.known().is_stale():
            state.cache_key = state.cache_key._replace(staleness="-stale")
        response = self._cache.find(state.cache_key)
        if response is None or state.required_block is None:
            return response
        shown = dict(response.headers).get(SHOWN, "-1")
        return response if int(shown) >= state.required_block else None

    def _ask_flask(self, state: RequestState, start_response: Any) -> Iterable[bytes]:
        """Return Flask's response, cached where it may be, else passed on piece by piece."""
        try:
            least_version = self._wait_for_block(state)
        except Unavailable as error:
            return self._send(state, state.refuse(error), start_response)
        began_at = time.monotonic()
        version_before = self._index_version.notified()
        started: list[Any] = []
        environ = _plain_get(state) if state.is_open else state.environ
        body = self._flask(environ, lambda *args: started.append(args))
        status, headers, *exc_info = started[0]
        versions = state.reader.versions if state.reader else frozenset()
        for version in versions:
            self._index_version.record(version, began_at)
        if min(versions, default=least_version) < least_version:
            # Flask may have read another replica, which is behind the one that has the block.
            _close(body)
            refusal = state.refuse(NotIndexedYet(state.required_block))
            return self._send(state, refusal, start_response)
        headers = [*headers, *self._index_headers(state)]
        if self._base_path:
            headers = [self._below_base_path(*header) for header in headers]
        if state.has_changed_index:
            self._index_version.expire()
        may_cache = self._may_cache(state, status, version_before)
        if not may_cache and not state.is_open and not compression.is_compressible(headers):
            self._observe(state, status)
            start_response(status, self._own_headers(state) + headers, *exc_info)
            return body
        whole = b"".join(body)
        _close(body)
        response = WsgiResponse(status, headers, whole, state.route)
        response = self._store(state, response) if may_cache else _negotiated(state, response)
        return self._send(state, response, start_response)

    def _compress_cached(self, state: RequestState, response: WsgiResponse) -> WsgiResponse:
        assert state.cache_key is not None
        both = compression.with_compressed(response, is_file=state.is_open)
        self._cache.replace(state.cache_key, response, both)
        return both

    def _below_base_path(self, name: str, value: str) -> tuple[str, str]:
        """Return a header with the base path before the target of a redirect or of a next page."""
        if name == "Location" and value.startswith("/"):
            return name, f"{self._base_path}{value}"
        if name == "Link" and value.startswith("</"):
            return name, f"<{self._base_path}{value[1:]}"
        return name, value

    def _wait_for_block(self, state: RequestState) -> int:
        """Wait for the required block, and return the version that has it; raises Unavailable."""
        if state.required_block is None:
            return 0
        client = self._rate_limit.address_of(state.environ)
        return self._indexed_block.wait_for(state.required_block, client)

    def _index_headers(self, state: RequestState) -> Headers:
        """Return the headers of the newest block that a response about the chain may show, and of
        the block that its balances are known from where that is not the first one."""
        if state.reader is None or not state.reader.versions:
            return []
        block = self._indexed_block.shown_by(max(state.reader.versions))
        headers = [] if block is None else [(SHOWN, str(block))]
        if state.reader.balances_since is not None:
            headers.append(("X-Scan-Balances-Since", str(state.reader.balances_since)))
        return headers

    def _may_cache(self, state: RequestState, status: str, version_before: int | None) -> bool:
        """Return whether a response may be cached: not if the index changed while it was made,
        since some statements return no version, and may have read before the change."""
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
            and (version_before is None or version_before in state.reader.versions)
        )

    def _store(self, state: RequestState, response: WsgiResponse) -> WsgiResponse:
        assert state.cache_key is not None
        if state.cached_for_s is not None:
            response = _negotiated(state, response)
            self._cache.store_for(state.cache_key, response, state.cached_for_s)
            return response
        self._index_version.listen()
        if self._replica_poller is not None:
            self._replica_poller.start()
        assert state.reader is not None
        [version] = state.reader.versions
        if state.method == "GET":
            etag = ("ETag", f'"{VERSION}-{version}{state.cache_key.staleness}"')
            headers = [header for header in response.headers if header[0] != "Vary"]
            headers += (etag, *REVALIDATED)
            response = WsgiResponse(response.status, headers, response.body, response.route)
        response = _negotiated(state, response)
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
        if response.gzipped is not None and compression.accepts_gzip(state.environ):
            response = response.gzipped
        if is_unmodified(state.environ, response):
            kept = [header for header in response.headers if header[0] in SENT_WITH_304]
            response = response._replace(status="304 Not Modified", headers=kept, body=b"")
        self._observe(state, response.status, is_in_loop=is_in_loop)
        start_response(response.status, self._own_headers(state) + response.headers)
        return [] if state.method == "HEAD" else [response.body]

    def _own_headers(self, state: RequestState) -> Headers:
        limits = limit_headers(state.charged.result) if state.charged else []
        return [*CORS, *limits, ("X-Request-Id", state.request_id)]

    def _observe(self, state: RequestState, status_line: str, *, is_in_loop: bool = False) -> None:
        """Count a request, and log it. The loop writes no line: it would wait for the log's reader,
        and thousands of refusals would fill the log."""
        status, seconds = int(status_line[:3]), time.perf_counter() - state.began
        request_log.count_request(state.route, state.method, status, seconds)
        # Some interfaces refuse with 200.
        if status == 429 or isinstance(state.refusal, RateLimited):
            is_keyed = state.charged is not None and state.charged.key is not None
            metrics.RATE_LIMITED.labels("key" if is_keyed else "address").inc()
        if self._logs_requests or (status >= 500 and not is_in_loop):
            client = state.environ.get("REMOTE_ADDR") or ""
            request_log.log_request(
                state.method, state.path, status, seconds, client, state.refusal
            )


def _is_page(state: RequestState) -> bool:
    return state.interface is not None and state.interface.has_page_limit


def _negotiated(state: RequestState, response: WsgiResponse) -> WsgiResponse:
    return compression.negotiated(response, state.environ, is_file=state.is_open)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def _plain_get(state: RequestState) -> Environ:
    """Return the environ of an unconditional GET, whose response serves later requests, too."""
    conditions = ("HTTP_RANGE", "HTTP_IF_")
    plain = {
        name: value for name, value in state.environ.items() if not name.startswith(conditions)
    }
    return {**plain, "REQUEST_METHOD": "GET", "PATH_INFO": state.page}
