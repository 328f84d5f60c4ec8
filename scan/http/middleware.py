"""What every request meets before Flask, and what its answer carries from there.

Its id and its place in the metrics, whom to charge, what browsers may read; and whole answers that
are kept, so that Flask is asked only what was not asked since the chain changed.
"""

import functools
import io
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any

from gunicorn.http.errors import ParseException

from scan.http import credentials, plain_request
from scan.http.credentials import Admission, Admitted, Visitor
from scan.http.response_cache import Answer, Asked, KeptAnswers
from scan.observability import logs, metrics, request_log

API = "/api/v1"
QUERY = f"{API}/query"
ALSO_OF_THE_CHAIN = {"/", "/readyz", "/metrics"}  # routes outside the API
MOST_ASKED_BYTES = 4096  # of a query's body, to be kept with its answer

# What a request's environ says between here and Flask.
REQUEST_ID = "scan.request_id"
ADMITTED = "scan.admitted"
ROUTE = "scan.route"
OF_THE_CHAIN = "scan.of_the_chain"

FOR_BROWSERS = (
    ("Access-Control-Allow-Origin", "*"),
    (
        "Access-Control-Expose-Headers",
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id",
    ),
)

Environ = dict[str, Any]
Headers = list[tuple[str, str]]


class Front:
    """A WSGI application around Flask's."""

    def __init__(
        self,
        application: Callable[[Environ, Any], Iterable[bytes]],
        admission: Admission,
        kept: KeptAnswers,
        *,
        logs_requests: bool,
        counts_in_process: bool,
    ) -> None:
        self._application = application
        self._admission = admission
        self._kept = kept
        self._logs_requests = logs_requests
        self._answers_at_once = counts_in_process and not logs_requests

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        environ[REQUEST_ID] = request_log.request_id(environ.get("HTTP_X_REQUEST_ID", ""))
        logs.request_id.set(environ[REQUEST_ID])
        metrics.HTTP_BUSY.inc()
        try:
            return self._serve(environ, start_response)
        finally:
            metrics.HTTP_BUSY.dec()
            logs.request_id.set(None)

    def at_once(self, data: bytes, peer: str) -> tuple[int, bytes] | None:
        """The response to the request that `data` begins with, and how many bytes that takes.

        None where the answer is not kept, or anything might have to be waited for: then nothing
        has been counted or charged, and the request is for __call__().
        """
        began = time.perf_counter()
        request = plain_request.read(data) if self._answers_at_once else None
        if request is None:
            return None
        sent = request.headers
        kind = sent.get("content-type", "")
        answer = self._kept.find(Asked(request.path, request.query, kind, request.body))
        if answer is None or answer.method != request.method:
            return None
        visitor = Visitor(peer, sent.get("x-forwarded-for", ""), sent.get("x-api-key"))
        admitted = self._admission.admit_at_once(visitor)
        if admitted is None:
            return None
        headers = _own_headers(request_log.request_id(sent.get("x-request-id", "")), admitted)
        request_log.count(answer.route, answer.method, 200, time.perf_counter() - began)
        return request.size, _response(answer.body, headers)

    def _serve(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        began = time.perf_counter()
        admitted = environ[ADMITTED] = self._admit(environ)

        def start(status: str, headers: Headers, exc_info: Any = None) -> Any:
            headers += _own_headers(environ[REQUEST_ID], admitted)
            self._observe(environ, int(status[:3]), time.perf_counter() - began)
            return start_response(status, headers, exc_info)

        asked = _asked(environ) if admitted and not admitted.refusal else None
        if asked is None:
            answered = self._application(environ, start)
            if OF_THE_CHAIN in environ or environ.get(ROUTE) in ALSO_OF_THE_CHAIN:
                self._kept.catch_up()
            return answered
        answer = self._kept.find(asked)
        if answer is None or answer.method != environ["REQUEST_METHOD"]:
            return self._answer_and_keep(environ, start, asked)
        environ[ROUTE] = answer.route
        start("200 OK", _json_headers(answer.body))
        return [answer.body]

    def _answer_and_keep(self, environ: Environ, start: Any, asked: Asked) -> Iterable[bytes]:
        version = self._kept.version()  # before anything is read
        answered = self._application(environ, start)
        self._kept.catch_up()
        if version is None or OF_THE_CHAIN not in environ:
            return answered
        body = b"".join(answered)
        answered.close()  # type: ignore[attr-defined]  # Flask's have it
        self._kept.keep(version, asked, Answer(body, environ["REQUEST_METHOD"], environ[ROUTE]))
        return [body]

    def _admit(self, environ: Environ) -> Admitted | None:
        """None outside the API, which has no limits."""
        path = _path(environ)
        if path != API and not path.startswith(f"{API}/"):
            return None
        visitor = Visitor(
            environ.get("REMOTE_ADDR") or "",
            environ.get("HTTP_X_FORWARDED_FOR", ""),
            environ.get("HTTP_X_API_KEY"),
        )
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return Admitted(self._admission.peek(visitor))
        return self._admission.admit(visitor)

    def _observe(self, environ: Environ, status: int, seconds: float) -> None:
        method = environ["REQUEST_METHOD"]
        request_log.count(environ.get(ROUTE, "unknown"), method, status, seconds)
        if status == 429:
            who = "key" if "HTTP_X_API_KEY" in environ else "address"
            metrics.RATE_LIMITED.labels(who).inc()
        if status >= 500 or self._logs_requests:
            client = environ.get("REMOTE_ADDR") or ""
            request_log.tell(method, environ["PATH_INFO"], status, seconds, client)


def _asked(environ: Environ) -> Asked | None:
    """None for what is never kept."""
    method, path = environ["REQUEST_METHOD"], _path(environ)
    query = environ.get("QUERY_STRING", "")
    if method == "GET" and not environ.get("CONTENT_LENGTH"):
        return Asked(path, query)
    length = environ.get("CONTENT_LENGTH", "")
    if method != "POST" or path != QUERY or not length.isdigit():
        return None
    if int(length) > MOST_ASKED_BYTES:
        return None
    try:
        body = environ["wsgi.input"].read(int(length))
    except (OSError, ParseException):
        body = b""  # Flask finds that it ended early
    environ["wsgi.input"] = io.BytesIO(body)
    if len(body) < int(length):
        return None
    return Asked(path, query, environ.get("CONTENT_TYPE", ""), body)


def _path(environ: Environ) -> str:
    """As Flask finds routes by it: however many slashes it begins with, or none."""
    return f"/{environ['PATH_INFO'].lstrip('/')}"


def _own_headers(request_id: str, admitted: Admitted | None) -> Headers:
    limits = credentials.headers(admitted.verdict) if admitted else []
    return [*FOR_BROWSERS, *limits, ("X-Request-Id", request_id)]


def _json_headers(body: bytes) -> Headers:
    return [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]


def _response(body: bytes, headers: Headers) -> bytes:
    """As gunicorn would send it."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in _json_headers(body) + headers)
    head = f"HTTP/1.1 200 OK\r\n{_gunicorn_lines(int(time.time()))}{lines}\r\n"
    return head.encode("latin-1") + body


@functools.lru_cache(maxsize=1)
def _gunicorn_lines(now: int) -> str:
    date = formatdate(now, usegmt=True)
    return f"Server: gunicorn\r\nDate: {date}\r\nConnection: keep-alive\r\n"
