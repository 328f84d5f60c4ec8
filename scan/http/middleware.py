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
from scan.http.exchange import EXCHANGE, CacheKey, Exchange, new_exchange
from scan.http.index_version import IndexVersion
from scan.http.indexed_block import SHOWN, IndexedBlock, NotIndexedYet, required_block
from scan.http.interfaces import API, Interface
from scan.http.replica_poller import ReplicaPoller
from scan.http.response_cache import ResponseCache
from scan.http.wsgi import Environ, Headers, WsgiResponse
from scan.observability import logs, metrics, request_log

QUERY = f"{API}/query"
KEYS = f"{API}/keys"
CACHED_FOR_S = {"/": 1.0, "/readyz": 1.0}
MAX_CACHED_BODY_BYTES = 4096  # of a request to /query
SENT_WITH_304 = ("ETag", "Cache-Control", SHOWN)

CORS = (
    ("Access-Control-Allow-Origin", "*"),
    (
        "Access-Control-Expose-Headers",
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag,"
        f" X-Request-Id, X-Total-Count, {SHOWN}",
    ),
)
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
        exchange: Exchange = environ.get(EXCHANGE) or self._new_exchange(environ)
        environ[EXCHANGE] = exchange
        logs.request_id.set(exchange.request_id)
        metrics.HTTP_BUSY.inc()
        try:
            response = self._known(exchange, may_wait=True)
            if response is None:
                return self._ask_flask(exchange, start_response)
            return self._send(exchange, response, start_response)
        finally:
            metrics.HTTP_BUSY.dec()
            logs.request_id.set(None)

    def begin(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """A response from the worker's loop; None where a thread has to make it.

        The request was charged then, unless that has to wait, too: see charging(). `environ` keeps
        what was found out. A request whose body has not come yet may be refused here.
        """
        exchange = environ[EXCHANGE] = self._new_exchange(environ)
        if self._logs_requests:  # whoever writes a line may wait for its reader
            return None
        return self._begin(exchange, start_response)

    def charging(self, environ: Environ) -> "Future[Any] | None":
        """Where a request that was begun is counted elsewhere: when that is done, resume()."""
        charging = environ[EXCHANGE].charging
        return charging.counted if charging else None

    def resume(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), which it goes on with."""
        exchange: Exchange = environ[EXCHANGE]
        assert exchange.charging is not None
        exchange.charged, exchange.charging = exchange.charging.charged(), None
        return self._begin(exchange, start_response)

    def _begin(self, exchange: Exchange, start_response: Any) -> Iterable[bytes] | None:
        response = self._known(exchange, may_wait=False)
        return None if response is None else self._send(exchange, response, start_response)

    def from_cache(self, environ: Environ, start_response: Any) -> Iterable[bytes] | None:
        """As begin(), for a request that was begun and whose body has come since."""
        exchange: Exchange = environ[EXCHANGE]
        response = None if self._logs_requests else self._cached(exchange)
        return None if response is None else self._send(exchange, response, start_response)

    def _new_exchange(self, environ: Environ) -> Exchange:
        return new_exchange(environ, self._interfaces, self._base_path)

    def _known(self, exchange: Exchange, *, may_wait: bool) -> WsgiResponse | None:
        """What can be answered without Flask."""
        if exchange.path == "/healthz" and exchange.method in ("GET", "HEAD"):
            return ALIVE
        if exchange.interface is not None:
            if exchange.charged is None:
                charged = self._charge(exchange, exchange.interface, may_wait=may_wait)
                if isinstance(charged, Charging):
                    exchange.charging = charged
                    return None
                exchange.charged = charged
            if exchange.charged is None:
                return None
            if exchange.charged.refusal is not None:
                return exchange.interface.refuse(exchange.charged.refusal)
            try:
                exchange.required_block = required_block(exchange.environ)
            except InvalidParameter as error:
                return exchange.interface.refuse(error)
        return self._cached(exchange) if may_wait or not exchange.has_body else None

    def _charge(
        self, exchange: Exchange, interface: Interface, *, may_wait: bool
    ) -> Charged | Charging | None:
        if exchange.method == "OPTIONS":  # browsers ask first, which costs nothing
            caller = caller_of(exchange.environ)
            return Charged(self._credentials.peek(caller)) if may_wait else None
        caller = caller_of(exchange.environ, interface.api_key_parameter)
        if interface.has_page_limit:
            return self._credentials.charge_page(caller, may_wait=may_wait)
        if caller.api_key is None and interface.api_key_parameter and exchange.has_body:
            if not may_wait:
                return None  # its form has to come first
            caller = with_key_of_form(caller, exchange.environ, interface.api_key_parameter)
        makes_key = exchange.path.rstrip("/") == KEYS and exchange.method == "POST"
        return self._credentials.charge(caller, to_address=makes_key, may_wait=may_wait)

    def _cached(self, exchange: Exchange) -> WsgiResponse | None:
        if exchange.cache_key is None:
            exchange.cache_key = _cache_key(exchange)
        if exchange.cache_key is None or (
            exchange.interface is not None and exchange.charged is None
        ):
            return None
        response = self._cache.find(exchange.cache_key)
        if response is None or exchange.required_block is None:
            return response
        shown = dict(response.headers).get(SHOWN, "-1")
        return response if int(shown) >= exchange.required_block else None

    def _ask_flask(self, exchange: Exchange, start_response: Any) -> Iterable[bytes]:
        """Flask's response: cached where it may be, and passed on as it comes where not."""
        try:
            least_version = self._wait_for_block(exchange)
        except Unavailable as error:
            return self._refuse(exchange, error, start_response)
        began_at = time.monotonic()
        started: list[Any] = []
        body = self._flask(exchange.environ, lambda *args: started.append(args))
        status, headers, *exc_info = started[0]
        for version in exchange.index_versions:
            self._index_version.record(version, began_at)
        if min(exchange.index_versions, default=least_version) < least_version:
            # Addresses of several replicas lead to one that is behind the one just asked.
            body.close()  # type: ignore[attr-defined]  # Flask's have it
            return self._refuse(exchange, NotIndexedYet(exchange.required_block), start_response)
        headers = [*headers, *self._block_header(exchange)]
        if not self._may_cache(exchange, status):
            self._observe(exchange, status)
            start_response(status, self._own_headers(exchange) + headers, *exc_info)
            return body
        whole = b"".join(body)
        body.close()  # type: ignore[attr-defined]
        response = WsgiResponse(status, headers, whole, exchange.route)
        return self._send(exchange, self._store(exchange, response), start_response)

    def _wait_for_block(self, exchange: Exchange) -> int:
        """The least version that a response may be of; raises Unavailable."""
        if exchange.required_block is None:
            return 0
        return self._indexed_block.wait_for(exchange.required_block)

    def _block_header(self, exchange: Exchange) -> Headers:
        """The newest block that a response about the chain may show."""
        if not exchange.index_versions:
            return []
        block = self._indexed_block.shown_by(max(exchange.index_versions))
        return [] if block is None else [(SHOWN, str(block))]

    def _refuse(self, exchange: Exchange, error: ScanError, start_response: Any) -> Iterable[bytes]:
        assert exchange.interface is not None
        return self._send(exchange, exchange.interface.refuse(error), start_response)

    def _may_cache(self, exchange: Exchange, status: str) -> bool:
        if exchange.cache_key is None or exchange.method == "HEAD" or not exchange.is_cacheable:
            return False
        if _page(exchange) in CACHED_FOR_S:
            return True
        return status.startswith("200") and len(exchange.index_versions) == 1

    def _store(self, exchange: Exchange, response: WsgiResponse) -> WsgiResponse:
        assert exchange.cache_key is not None
        if _page(exchange) in CACHED_FOR_S:
            self._cache.store_for(exchange.cache_key, response, CACHED_FOR_S[_page(exchange)])
            return response
        self._index_version.listen()
        if self._replica_poller is not None:
            self._replica_poller.start()
        [version] = exchange.index_versions
        if exchange.method == "GET":
            validators = (("ETag", f'"{VERSION}-{version}"'), ("Cache-Control", "no-cache"))
            response = response._replace(headers=[*response.headers, *validators])
        self._cache.store(exchange.cache_key, response, version)
        return response

    def _send(
        self, exchange: Exchange, response: WsgiResponse, start_response: Any
    ) -> Iterable[bytes]:
        if response.route != "unknown":
            exchange.route = response.route
        if _is_unmodified(exchange, response):
            kept = [header for header in response.headers if header[0] in SENT_WITH_304]
            response = response._replace(status="304 Not Modified", headers=kept, body=b"")
        self._observe(exchange, response.status)
        start_response(response.status, self._own_headers(exchange) + response.headers)
        return [] if exchange.method == "HEAD" else [response.body]

    def _own_headers(self, exchange: Exchange) -> Headers:
        limits = limit_headers(exchange.charged.verdict) if exchange.charged else []
        return [*CORS, *limits, ("X-Request-Id", exchange.request_id)]

    def _observe(self, exchange: Exchange, status_line: str) -> None:
        status, seconds = int(status_line[:3]), time.perf_counter() - exchange.began
        request_log.count_request(exchange.route, exchange.method, status, seconds)
        refusal = exchange.charged.refusal if exchange.charged else None
        if status == 429 or isinstance(refusal, RateLimited):  # some interfaces refuse with 200
            is_keyed = exchange.charged is not None and exchange.charged.key is not None
            metrics.RATE_LIMITED.labels("key" if is_keyed else "address").inc()
        if status >= 500 or self._logs_requests:
            client = exchange.environ.get("REMOTE_ADDR") or ""
            request_log.log_request(exchange.method, exchange.path, status, seconds, client)


def _is_unmodified(exchange: Exchange, response: WsgiResponse) -> bool:
    """Whether the client has this very response (RFC 9110, 13.1.2)."""
    condition = exchange.environ.get("HTTP_IF_NONE_MATCH")
    if condition is None or exchange.method not in ("GET", "HEAD"):
        return False
    etag = dict(response.headers).get("ETag")
    tags = [tag.strip().removeprefix("W/") for tag in condition.split(",")]
    return etag is not None and (etag in tags or tags == ["*"])


def _page(exchange: Exchange) -> str:
    return exchange.path.rstrip("/") or "/"


def _cache_key(exchange: Exchange) -> CacheKey | None:
    """None for a request whose response is never cached."""
    query = exchange.environ.get("QUERY_STRING", "")
    if exchange.method in ("GET", "HEAD") and not exchange.has_body:
        page = _page(exchange)
        if page not in CACHED_FOR_S:
            return CacheKey(exchange.path, query)
        return CacheKey(page)  # a query does not change it
    if exchange.method != "POST" or exchange.path != QUERY:
        return None
    body = _small_body(exchange.environ)
    content_type = exchange.environ.get("CONTENT_TYPE", "")
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
