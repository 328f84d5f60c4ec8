"""The steps of every request, in order: id, credentials and limit, cache, Flask.

The worker's loop calls step(), which takes the steps that never wait. __call__() takes the others
in a thread, or all of them under another server.
"""

import random
import re
import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from werkzeug.exceptions import HTTPException
from werkzeug.routing.exceptions import RoutingException

from scan.concurrency import turns
from scan.concurrency.turns import Postponed, RequestPlaces
from scan.database.connection import request_waits
from scan.errors import ForeignForm, InvalidParameter, RateLimited, ScanError, Unavailable
from scan.http import (
    access,
    application,
    credentials_and_limits,
    interfaces,
    list_formats,
    request_state,
    response_cache,
)
from scan.http import index_version as index
from scan.http.interfaces import Interface
from scan.http.prerequisites import Prerequisite, prerequisite_of
from scan.http.request_state import RequestState, Steps, Wait
from scan.http.services import Services
from scan.observability import logs, metrics
from scan.parameters import without_ignored
from scan.queries import balances
from scan.queries.reader import Reader
from scan.rate_limits.client_address import client_address
from scan.server import responses

SENT_WITH_304 = ("ETag", "Cache-Control", "Vary", index.SHOWN)

# Lists in headers are parsed in the worker's loop, also for requests that are not charged: 64 kB of
# one take up to 14 ms. Browsers send at most 200 characters; a longer field counts as absent.
PARSED_FIELDS = ("HTTP_ACCEPT", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH")
MAX_PARSED_FIELD = 1_000

# Each look for notifications gives the interpreter to other threads four times.
READ_AGAIN_S = 0.01

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# A later version may have more fields (W3C Trace Context, 3.2.2 and 4.3).
_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
    r"(?:(?<!^00.{53})-[!-~]*)?"
)


def trace_id(traceparent: str) -> str | None:
    """Return the trace id of a header; None where its form is wrong."""
    parent = _PARENT.fullmatch(traceparent.strip(" \t"))
    return parent and parent["trace"]


@dataclass(eq=False)
class Middleware:
    """A WSGI application around Flask's."""

    flask: application.Application
    services: Services
    rate_limit: credentials_and_limits.RateLimit
    indexed_block: index.IndexedBlock
    interfaces: Sequence[Interface]
    pages: Interface | None
    open_paths: Collection[str]  # never charged, and alike for all clients
    paths_with_other_names: Sequence[re.Pattern[str]]
    gate: access.Gate | None  # None where everybody may ask

    def __post_init__(self) -> None:
        self.settings = self.services.settings
        self.logs_requests = self.settings.logs_requests
        self.index_version = self.indexed_block.index_version
        self.replica_poller = index.ReplicaPoller(self.indexed_block, self.index_version)
        self.cache = response_cache.ResponseCache(self.index_version)
        self._in_threads: set[RequestState] = set()
        metrics.HTTP_BUSY.set_function(lambda: len(self._in_threads))

    def __call__(self, environ: responses.Environ, start_response: Any) -> Iterable[bytes]:
        """Make the response in a thread, which may wait."""
        has_loop = request_state.REQUEST_STATE in environ
        state = environ.get(request_state.REQUEST_STATE) or self._begin(environ)
        fields = {"requestId": state.request_id, "path": state.path}
        if (parent := state.environ.get("HTTP_TRACEPARENT")) and (trace := trace_id(parent)):
            fields["traceId"] = trace
        logs.request.set(fields)
        self._in_threads.add(state)
        request_waits.begin(state.began)
        try:
            while (response := state.advance(may_wait=True)) is None:
                try:
                    state.places = state.places or turns.thread.request or RequestPlaces()
                    with state.places:
                        return self._ask_flask(state, start_response)
                except Postponed as postponed:
                    state.steps = state.take_turn(postponed)
                    if has_loop:
                        raise
                finally:
                    if state.reader is not None and state.reader.until_end is not None:
                        state.reader.until_end.close()
            return self._send(state, response, start_response)
        finally:
            request_waits.end()
            self._in_threads.discard(state)
            logs.request.set(None)

    def leave(self, environ: responses.Environ) -> None:
        """End a request whose client has left before it had its turn, or was counted."""
        if (places := environ[request_state.REQUEST_STATE].places) is not None:
            places.end()

    def check(self) -> None:
        """Read notifications, also without requests; the loop calls this twice a second."""
        self.index_version.notified()

    def may_go_on(self, environ: responses.Environ, *, is_stream: bool) -> bool:
        """Return whether a response that is being sent may go on: not once its key has ended, and
        a person's stream for so long. Never waits; the loop calls this twice a second."""
        state = environ.get(request_state.REQUEST_STATE)
        if state is None:
            return True
        ends_at = state.stream_ends_at if is_stream else None
        if ends_at is not None and time.monotonic() > ends_at:
            return False
        return state.watched is None or self.rate_limit.key_lookup.is_in_force(state.watched)

    def client_address(self, environ: responses.Environ) -> str:
        """Return the address that requests without a key are charged to."""
        return client_address(environ, self.settings.trusted_proxies)

    def step(
        self, environ: responses.Environ, start_response: Any
    ) -> "Iterable[bytes] | Future[Any] | None":
        """Take the steps that never wait, in the worker's loop; return a response if they have one.

        Else `environ` keeps the request's state. Call this again when the future that is returned
        is done, or where there is none, when the body has been received.
        """
        state = environ.get(request_state.REQUEST_STATE) or self._begin(environ)
        if (self.logs_requests and state.places is None) or state.waits_for is Wait.THREAD:
            return None  # writing a line may wait for the log's reader
        response = state.advance(may_wait=False)
        if response is not None:
            return self._send(state, response, start_response, is_in_loop=True)
        return state.waits_for if isinstance(state.waits_for, Future) else None

    def _begin(self, environ: responses.Environ) -> RequestState:
        """Put the state of a new request into `environ`, whose path is then without the base path,
        and whose query is without parameters that are ignored."""
        base_path = self.settings.base_path
        if base_path and environ["PATH_INFO"].startswith(f"{base_path}/"):
            environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(base_path)
        for field in PARSED_FIELDS:
            if len(environ.get(field, "")) > MAX_PARSED_FIELD:
                del environ[field]
        # Flask finds routes alike however many slashes a path begins with, or none.
        path = f"/{environ['PATH_INFO'].lstrip('/')}"
        given_id = environ.get("HTTP_X_REQUEST_ID")
        is_plain = given_id is not None and _PLAIN_ID.fullmatch(given_id)
        request_id = given_id if is_plain else f"{random.getrandbits(64):016x}"
        method, began = environ["REQUEST_METHOD"], time.perf_counter()
        client = client_address(environ, self.settings.trusted_proxies)
        length = environ.get("CONTENT_LENGTH", "")
        has_body = length not in ("", "0") or "HTTP_TRANSFER_ENCODING" in environ
        state = RequestState(environ, method, path, str(request_id), began, client, has_body)
        page = state.page
        is_api = f"{page}/".startswith(f"{interfaces.API}/")
        state.is_open = (
            page in self.open_paths
            and method in ("GET", "HEAD")
            and not has_body
            and not (is_api and environ.get("QUERY_STRING"))  # which Flask may refuse
        )
        state.cached_for_s = response_cache.CACHED_FOR_S.get(
            page, response_cache.FILE_CACHED_FOR_S if state.is_open else None
        )
        if not state.is_open or is_api:  # the API's responses show the limit
            state.interface = interfaces.interface_of(path, environ, self.interfaces, self.pages)
            state.is_page = state.interface.has_page_limit
        state.accepted_file = list_formats.accepted_file(environ.get("HTTP_ACCEPT", ""))
        state.accepts_gzip = response_cache.accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
        query = environ.get("QUERY_STRING", "")
        if "_" not in query or not any(of.match(path) for of in self.paths_with_other_names):
            environ["QUERY_STRING"] = without_ignored(query, is_page=state.is_page)
        state.steps = self._steps(state)
        environ[request_state.REQUEST_STATE] = state
        return state

    def _steps(self, state: RequestState) -> Steps:
        """Return the response, or None where Flask has to make it."""
        if self.gate is not None:
            refused = yield from self.gate.admit(state)
            if refused is not None:
                return refused
        if state.path == "/healthz" and state.method in ("GET", "HEAD"):
            return responses.ALIVE
        if state.method == "OPTIONS":
            return (yield from self._preflight(state))
        if state.interface is not None:
            if state.page in state.interface.free_from_cache and (free := self._cached(state)):
                is_complete = not (state.accepts_gzip and response_cache.is_missing(free))
                if is_complete and index.REQUIRED_FIELD not in state.environ:
                    return free
            # A client that has the newest response is not charged: comparing it takes no longer
            # than refusing the request would.
            is_conditional = "HTTP_IF_NONE_MATCH" in state.environ and state.method != "POST"
            if is_conditional and index.REQUIRED_FIELD not in state.environ:
                kept = self._cached(state)
                if kept is not None and response_cache.is_unmodified(state.environ, kept):
                    state.charged = yield from self.rate_limit.peek(state)
                    return kept
            state.charged = yield from self.rate_limit.charge(state, state.interface)
            if state.charged.refusal is not None:
                return state.refuse(state.charged.refusal)
            try:
                if state.interface.same_origin is not None:
                    state.interface.same_origin.require(state.method, state.page, state.environ)
                if index.REQUIRED_FIELD in state.environ and not state.is_open:
                    state.required_block = index.required(state.environ[index.REQUIRED_FIELD])
            except (ForeignForm, InvalidParameter) as error:
                return state.refuse(error)
        refusal = self._missing_prerequisite(state) if self.services.waiting_threads.taken else None
        if state.has_body:
            if refusal is not None:
                return state.refuse(refusal)
            yield Wait.BODY
        response = self._cached(state)
        if response is not None and state.required_block is not None:
            cached_block = int(dict(response.headers).get(index.SHOWN, "-1"))
            response = response if cached_block >= state.required_block else None
        if response is not None:
            if state.accepts_gzip and state.cache_key and response_cache.is_missing(response):
                yield Wait.THREAD
                compressed = response_cache.add_compressed(response, is_file=state.is_open)
                self.cache.replace(state.cache_key, response, compressed)
                return compressed
            return response
        if refusal is not None:
            return state.refuse(refusal)
        yield Wait.THREAD
        return None

    def _cached(self, state: RequestState) -> responses.WsgiResponse | None:
        """Return the cached response, and note the key that the response has or will have."""
        key = response_cache.cache_key(state)
        if key is not None and state.is_page:
            key = key._replace(staleness=self.indexed_block.newest.staleness)
        state.cache_key = key
        return None if key is None else self.cache.find(key)

    def _missing_prerequisite(self, state: RequestState) -> Unavailable | None:
        """Return the error with which a thread would refuse the request while others wait, else
        None."""
        if state.interface is None:
            return None
        refusals: dict[Prerequisite | None, Unavailable | None] = {
            Prerequisite.NODE: self.services.sources.gateway.refusal(state.client),
            Prerequisite.NODE_FIELDS: self.services.waiting_threads.refusal(state.client),
            Prerequisite.LONG_WAIT: self.services.waiting_threads.refusal_for_long(state.client),
        }
        if not any(refusals.values()):
            return None
        try:
            rule, _ = self.flask.routes.find(state.path, state.method)
        except (HTTPException, RoutingException):
            return None
        state.route = rule.rule
        view = self.flask.routes.views[rule.endpoint]
        return refusals.get(prerequisite_of(view, state.environ.get("QUERY_STRING", "")))

    def _preflight(self, state: RequestState) -> Steps:
        """Answer OPTIONS, which browsers send before other requests; it is not charged."""
        if state.interface is not None and not state.is_page:
            state.charged = yield from self.rate_limit.peek(state)
        methods = [*self.flask.routes.allowed_methods(state.path)] or ["GET", "HEAD"]
        allow = ", ".join(sorted({*methods, "OPTIONS"}))
        requested = state.environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", responses.SENT_HEADERS)
        return responses.WsgiResponse(
            "204 No Content", responses.preflight_headers(allow, requested), b""
        )

    def _ask_flask(self, state: RequestState, start_response: Any) -> Iterable[bytes]:
        """Return Flask's response, cached where it may be, else passed on piece by piece."""
        least_version = 0
        if state.required_block is not None:
            try:
                least_version = self.indexed_block.wait_for(state.required_block, state.client)
            except Unavailable as error:
                return self._send(state, state.refuse(error), start_response)
        reader = state.reader = Reader(self.services.sources, state.client)
        began_at = time.monotonic()
        # Beside others, since a version that is not known yet costs a response its place in the
        # cache, and nothing else.
        read_again_s = READ_AGAIN_S if len(self._in_threads) > 1 else 0.0
        version_before = self.index_version.notified(read_again_s)
        environ = response_cache.plain_get(state) if state.is_open else state.environ
        status, headers, body = self.flask.answer(environ)
        for version in reader.versions:
            self.index_version.record(version, began_at)
        if least_version and min(reader.versions, default=least_version) < least_version:
            # Flask may have read another replica, which is behind the one that has the block.
            if hasattr(body, "close"):
                body.close()
            refusal = state.refuse(index.NotIndexedYet(state.required_block))
            return self._send(state, refusal, start_response)
        # The newest block that a response about the chain may show, and notes of its balances.
        if (
            reader.versions
            and (block := self.indexed_block.shown_by(max(reader.versions))) is not None
        ):
            headers.append((index.SHOWN, str(block)))
        if reader.notes:
            headers += [(name, str(block)) for name, block in reader.notes.items()]
        if self.settings.base_path:
            headers = [self._below_base_path(*header) for header in headers]
        if reader.called:
            with suppress(ScanError):  # it tells another request
                state.has_changed_index |= balances.mark_contradicted(reader)
        if state.has_changed_index:
            self.index_version.expire()
        may_cache = body != () and response_cache.may_be_cached(  # of HEAD: it is streamed
            state, reader, status, version_before
        )
        # JSON is tagged also where it is made anew each time, as beside development nodes.
        is_tagged = (may_cache and state.cached_for_s is None) or (
            isinstance(body, tuple)
            and status.startswith("200")
            and "Cache-Control" not in dict(headers)
            and state.cached_for_s in (None, response_cache.FILE_CACHED_FOR_S)
        )
        is_tagged = is_tagged and body != () and state.method in ("GET", "HEAD")
        if not (may_cache or is_tagged or state.is_open or response_cache.is_compressible(headers)):
            return self._send(
                state, responses.WsgiResponse(status, headers, b""), start_response, body
            )
        content = b"".join(body)
        if hasattr(body, "close"):
            body.close()
        if is_tagged:
            headers += [("ETag", response_cache.etag_of(content)), *responses.REVALIDATED]
        response = response_cache.negotiated(state, status, headers, content)
        key = state.cache_key if may_cache else None
        if key is not None and state.cached_for_s is not None:
            self.cache.store_for(key, response, state.cached_for_s)
        elif key is not None:
            if version_before is None:
                self.index_version.listen()
            if self.settings.reads_replica:
                self.replica_poller.start()
            if key.staleness != reader.staleness:  # known to be otherwise since the key was made
                key = key._replace(staleness=reader.staleness)
            self.cache.store(key, response, *reader.versions)
        return self._send(state, response, start_response)

    def _below_base_path(self, name: str, value: str) -> tuple[str, str]:
        """Return a header with the base path before the target of a redirect or of a next page."""
        if name == "Location" and value.startswith("/"):
            return name, f"{self.settings.base_path}{value}"
        if name == "Link":
            return name, value.replace("</", f"<{self.settings.base_path}/")
        return name, value

    def _send(
        self,
        state: RequestState,
        response: responses.WsgiResponse,
        start_response: Any,
        stream: Iterable[bytes] | None = None,
        *,
        is_in_loop: bool = False,
    ) -> Iterable[bytes]:
        """Count and log the request, and return the body, or the `stream` that Flask makes it of.
        The loop writes no line: it would wait for the log's reader, and refusals would fill it."""
        if response.route != "unknown":
            state.route = response.route
        if self.gate is not None:
            if state.tells_status_alone:
                response, stream = access.readiness(response), None
            if response.gzipped is not None:
                zipped = response.gzipped
                zipped = zipped._replace(headers=access.private_headers(zipped.headers))
                response = response._replace(gzipped=zipped)
            response = response._replace(headers=access.private_headers(response.headers))
        if state.accepts_gzip and response.gzipped is not None:
            response = response.gzipped
        is_conditional = stream is None and "HTTP_IF_NONE_MATCH" in state.environ
        if is_conditional and response_cache.is_unmodified(state.environ, response):
            kept = [header for header in response.headers if header[0] in SENT_WITH_304]
            response = response._replace(status="304 Not Modified", headers=kept, body=b"")
        status, seconds = int(response.status[:3]), time.perf_counter() - state.began
        method = state.method if state.method in logs.METHODS else "other"
        requests, times = logs.request_metrics(state.route, method, status)
        requests.inc()
        times.observe(seconds)
        # Some interfaces refuse with 200.
        if status == 429 or isinstance(state.refusal, RateLimited):
            is_keyed = state.charged is not None and state.charged.key is not None
            metrics.RATE_LIMITED.labels("key" if is_keyed else "address").inc()
        if self.logs_requests or (status >= 500 and not is_in_loop):
            client = state.environ.get("REMOTE_ADDR") or ""
            logs.log_request(state.method, state.path, status, seconds, client, state.refusal)
        limits: responses.Headers = []
        if state.charged is not None and state.interface is not None:
            limits = state.interface.limit_headers(state.charged.result)
        request_id = "X-Request-Id", state.request_id
        headers = [*responses.ALWAYS, *limits, request_id, *response.headers]
        start_response(response.status, headers)
        if state.method == "HEAD":
            if (close := getattr(stream, "close", None)) is not None:
                close()
            return []
        return [response.body] if stream is None else stream
