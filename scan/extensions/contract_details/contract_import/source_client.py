"""Requests to a source of verified contracts: one at a time, at a rate, within bounds.

Input: a path, its parameters and the type of the answer. Output: the answer as that type. Answers
are not trusted: their size, time and JSON are bounded here.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from scan.cached_values import json_decoder
from scan.deadlines import retry_after_s
from scan.errors import ScanError
from scan.outbound.allowed_urls import Purpose
from scan.outbound.http_client import AttemptTimeouts, HttpClient, NotFetched, TooLarge, tls_context
from scan.verification.request import MAX_SOURCE_BYTES

_T = TypeVar("_T")

# Room for a source of 1 MiB, escaped in JSON twice, beside the bytecode, the ABI and the settings.
MAX_ANSWER_BYTES = 16 * MAX_SOURCE_BYTES
TIMEOUTS = AttemptTimeouts(total_s=60.0, connect_s=5.0)
MAX_WAIT_S = 300.0
RETRY_AFTER_S = (2.0, 8.0, 30.0, 120.0)  # the least waits, which Retry-After can prolong
HEADERS = {"User-Agent": "Scan/1.0 (contract import)", "Accept": "application/json"}


class SourceFailed(ScanError):
    """The source does not answer, or refuses to: the import ends and can go on later."""


class Malformed(ScanError):
    """The source's answer does not have the documented form. The message quotes none of it."""


class SourceClient:
    """A source at one URL. `rate_per_s` bounds the requests that are sent to it."""

    def __init__(
        self,
        base_url: str,
        rate_per_s: float,
        ca_bundle: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._pause_s = 1 / rate_per_s
        self._next_at = 0.0
        self._sleep = sleep
        self._client = HttpClient(tls_context(ca_bundle), TIMEOUTS, Purpose.OPERATOR)

    def get(self, path: str, answer: type[_T], **query: str) -> _T | None:
        """Return the answer, or None for status 404. Raises SourceFailed, after some attempts, and
        Malformed."""
        for wait_s in (*RETRY_AFTER_S, None):
            status, body, retry_after_s = self._attempt(path, query)
            if status == 404:
                return None
            if status == 200:
                try:
                    return _read(body, answer)
                except SourceBusy:
                    pass
            elif status not in (0, 408, 425, 429) and status < 500:
                raise SourceFailed(f"{self.base_url} refuses a request with status {status}")
            if wait_s is None:
                break
            if retry_after_s > MAX_WAIT_S:
                raise SourceFailed(f"{self.base_url} asks to wait {retry_after_s:.0f} s")
            self._sleep(max(wait_s, retry_after_s))
        raise SourceFailed(f"{self.base_url} does not answer: status {status or 'unknown'}")

    def _attempt(self, path: str, query: dict[str, str]) -> tuple[int, bytes, float]:
        """Return status, body and the seconds to wait; the status is 0 without an answer."""
        self._sleep(max(0.0, self._next_at - time.monotonic()))
        self._next_at = time.monotonic() + self._pause_s
        url = f"{self.base_url}{path}?{urlencode(query)}"
        try:  # without redirects, which could send the key anywhere
            with self._client.open(url, headers=HEADERS) as response:
                wait_s = retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC))
                return response.status, response.read(MAX_ANSWER_BYTES), wait_s or 0.0
        except TooLarge:
            raise Malformed("its answer is too large") from None
        except NotFetched:
            return 0, b"", 0.0


class SourceBusy(Exception):
    """The source answers with status 200 that its rate limit is exceeded."""


def _read(body: bytes, answer: type[_T]) -> _T:
    try:
        value: _T = json_decoder(answer).decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise Malformed("its answer does not have the documented form") from None
    check: Any = getattr(value, "require_usable", None)
    if check is not None:
        check()
    return value
