"""The line of every request in the log, and its place in the metrics."""

import functools
import logging
from urllib.parse import quote

from prometheus_client import Counter, Histogram

from scan.observability import metrics

log = logging.getLogger("scan.http")

METHODS = {"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"}


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    requests, times = _series(route, method if method in METHODS else "other", status)
    requests.inc()
    times.observe(seconds)


@functools.cache  # as many as routes, methods and statuses: labels() costs more than counting
def _series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return (
        metrics.HTTP_REQUESTS.labels(route, method, status),
        metrics.HTTP_SECONDS.labels(route, method),
    )


def log_request(method: str, path: str, status: int, seconds: float, client: str) -> None:
    """Without the query string, where people put what does not belong there."""
    fields = {
        "method": method,
        "path": quote(path, safe="/:@!$&'()*+,;=~"),  # a line stays one, whatever a path holds
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        "client": client,
    }
    level = logging.WARNING if status >= 500 else logging.INFO
    log.log(level, "%s", _Line(fields), extra={"fields": fields})


class _Line:
    """Formatted only when a line is written."""

    def __init__(self, fields: dict[str, object]) -> None:
        self._fields = fields

    def __str__(self) -> str:
        return "{method} {path} {status} {milliseconds} ms {client}".format_map(self._fields)
