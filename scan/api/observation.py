"""Every request on its way in and out: its id, its line in the log, its place in the metrics."""

import functools
import logging
import random
import re
import time

from flask import Flask, Response, g, request
from prometheus_client import Counter, Histogram

from scan import logs, metrics
from scan.api import services

log = logging.getLogger("scan.http")

METHODS = {"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"}
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


def install(app: Flask) -> None:
    """First of all that is installed: it begins before, and ends after, everything else."""
    app.before_request(_begin)
    app.after_request(_end)
    app.teardown_request(_forget)


def _begin() -> None:
    given = request.headers.get("X-Request-Id", "")
    g.request_id = given if _SANE_ID.match(given) else f"{random.getrandbits(64):016x}"
    g.began = time.perf_counter()
    logs.request_id.set(g.request_id)
    metrics.HTTP_BUSY.inc()


def _end(response: Response) -> Response:
    seconds = time.perf_counter() - g.began
    response.headers["X-Request-Id"] = g.request_id
    _count(response.status_code, seconds)
    if response.status_code >= 500 or services().settings.log_requests:
        _tell(response.status_code, seconds)
    return response


def _count(status: int, seconds: float) -> None:
    route = request.url_rule.rule if request.url_rule else "unknown"
    method = request.method if request.method in METHODS else "other"
    requests, times = _series(route, method, status)
    requests.inc()
    times.observe(seconds)
    if status == 429:
        metrics.RATE_LIMITED.labels("key" if "X-API-Key" in request.headers else "address").inc()


@functools.cache  # as many as routes, methods and statuses: labels() costs more than counting
def _series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return (
        metrics.HTTP_REQUESTS.labels(route, method, status),
        metrics.HTTP_SECONDS.labels(route, method),
    )


def _tell(status: int, seconds: float) -> None:
    """Without the query string, where people put what does not belong there."""
    fields = {
        "method": request.method,
        "path": request.path,
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        "client": request.remote_addr,
    }
    level = logging.WARNING if status >= 500 else logging.INFO
    log.log(level, "%s", _Line(fields), extra={"fields": fields})


class _Line:
    """Put together only when a line is written."""

    def __init__(self, fields: dict[str, object]) -> None:
        self._fields = fields

    def __str__(self) -> str:
        return "{method} {path} {status} {milliseconds} ms {client}".format_map(self._fields)


def _forget(_error: BaseException | None) -> None:
    metrics.HTTP_BUSY.dec()
    logs.request_id.set(None)
