"""The log line of every request, and its count in the metrics."""

import functools
import logging
import re
from urllib.parse import quote

from prometheus_client import Counter, Histogram

from scan.errors import ScanError
from scan.observability import metrics

log = logging.getLogger("scan.http")

METHODS = {"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"}
MAX_REASON = 200

_UNPRINTABLE = re.compile(r"[^ -~]+")


@functools.cache  # bounded by routes, METHODS and statuses; labels() costs more than counting
def request_metrics(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """Return the number of such requests, and their seconds."""
    return (
        metrics.HTTP_REQUESTS.labels(route, method, status),
        metrics.HTTP_SECONDS.labels(route, method),
    )


def log_request(
    method: str, path: str, status: int, seconds: float, client: str, refusal: ScanError | None
) -> None:
    """Log a request, with the reason of a refusal, without its query string, in which clients may
    send secrets."""
    fields = {
        "method": method,
        "path": quote(path, safe="/:@!$&'()*+,;=~"),  # so that no path breaks the line
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        "client": client,
    }
    if refusal is not None:
        fields["reason"] = _reason(refusal)
    level = logging.WARNING if status >= 500 else logging.INFO
    log.log(level, "%s", _Line(fields), extra={"fields": fields})


def _reason(refusal: ScanError) -> str:
    """Return why a request was refused: the code, with the sentence where that is the service's own
    and quotes nothing of the request."""
    if refusal.status < 500 and refusal.status != 429:
        return refusal.code
    return f"{refusal.code}: {_UNPRINTABLE.sub(' ', refusal.message)[:MAX_REASON]}"


class _Line:
    """A line that is formatted only when it is written."""

    def __init__(self, fields: dict[str, object]) -> None:
        self._fields = fields

    def __str__(self) -> str:
        line = "{method} {path} {status} {milliseconds} ms {client}".format_map(self._fields)
        return f"{line} {self._fields['reason']}" if "reason" in self._fields else line
