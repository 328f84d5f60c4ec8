"""Requests to a source of verified contracts: one at a time, at a rate, within bounds.

Input: a path, its parameters and the type of the answer. Output: the answer as that type. Answers
are not trusted: their size, time and JSON are bounded here.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import requests

from scan.cached_values import json_decoder
from scan.errors import ScanError
from scan.verification.request import MAX_SOURCE_BYTES

_T = TypeVar("_T")

# Room for a source of 1 MiB, escaped in JSON twice, beside the bytecode, the ABI and the settings.
MAX_ANSWER_BYTES = 16 * MAX_SOURCE_BYTES
CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 60.0
MAX_WAIT_S = 300.0
RETRY_AFTER_S = (2.0, 8.0, 30.0, 120.0)  # the least waits, which Retry-After can prolong
PIECE_BYTES = 64 * 1024
AGENT = "Scan/1.0 (contract import)"


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
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update({"User-Agent": AGENT, "Accept": "application/json"})
        self._session.verify = ca_bundle or True

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
        ends_at = time.monotonic() + ANSWER_TIMEOUT_S
        try:
            with self._session.get(
                self.base_url + path,
                params=query,
                timeout=(CONNECT_TIMEOUT_S, CONNECT_TIMEOUT_S),
                stream=True,
                allow_redirects=False,  # a redirect could send the key anywhere
            ) as response:
                wait = response.headers.get("Retry-After", "")
                wait_s = float(wait) if wait.isascii() and wait.isdecimal() else 0.0
                return response.status_code, _body(response, ends_at), wait_s
        except requests.RequestException:
            return 0, b"", 0.0  # without the error's message, which has the URL with the key


class SourceBusy(Exception):
    """The source answers with status 200 that its rate limit is exceeded."""


def _body(response: requests.Response, ends_at: float) -> bytes:
    body = bytearray()
    for piece in response.iter_content(PIECE_BYTES):
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise Malformed("its answer is too large")
        if time.monotonic() > ends_at:
            raise requests.Timeout
    return bytes(body)


def _read(body: bytes, answer: type[_T]) -> _T:
    try:
        value: _T = json_decoder(answer).decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise Malformed("its answer does not have the documented form") from None
    check: Any = getattr(value, "require_usable", None)
    if check is not None:
        check()
    return value
