"""A node over JSON-RPC: transport, retry, batches and error classes, all in one place."""

import json
import logging
import re
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
import requests
import urllib3

log = logging.getLogger(__name__)

MAX_RESPONSE_BYTES = 512 * 1024 * 1024
MAX_BATCH = 200
CONNECT_TIMEOUT_S = 3.0
REST_AFTER_FAILURE_S = 10.0  # a failing node of several is left alone for this long

METHOD_NOT_FOUND = -32601
REVERTED = 3
_RATE_LIMIT_CODES = (429, -32005, -32097)
_RATE_LIMIT_WORDS = re.compile(r"rate.?limit|too many requests|limit exceeded|capacity", re.I)
_MISSING_METHOD_WORDS = re.compile(
    r"method .{0,80}(not found|does not exist|not (supported|available))|unsupported method", re.I
)
_MISSING_STATE_WORDS = re.compile(
    r"missing trie node|header not found|state .{0,40}not available|historical state|pruned"
    r"|block .{0,40}not found|unknown block|outofrange|out of range",
    re.I,
)


class Call(NamedTuple):
    method: str
    params: Sequence[object]


class NodeError(Exception):
    """The node cannot serve now: no connection, time-out, 429, 5xx, or no sensible answer."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BatchRefused(NodeError):
    """An answer that a smaller batch may mend."""


class AnswerTooLarge(Exception):
    """More than the caller of one call wanted to read; no fault of the node."""


class RpcError(Exception):
    """A JSON-RPC error object: the node understood and said no."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data

    @property
    def is_missing_method(self) -> bool:
        return self.code == METHOD_NOT_FOUND or bool(_MISSING_METHOD_WORDS.search(self.message))

    @property
    def is_missing_state(self) -> bool:
        return bool(_MISSING_STATE_WORDS.search(self.message))


class Node:
    """One node, or several that serve the same chain; safe to use from several threads.

    Messages of the errors raised never hold a URL, which may carry credentials.
    """

    def __init__(
        self, urls: Sequence[str], *, timeout_s: float = 30.0, ca_bundle: str = ""
    ) -> None:
        self._urls = tuple(urls)
        self._timeout_s = timeout_s
        self._ca_bundle = ca_bundle
        self._local = threading.local()
        self._resting_until: dict[str, float] = {}
        self._batch_size = MAX_BATCH

    def call(
        self,
        method: str,
        *params: object,
        timeout_s: float | None = None,
        most_bytes: int = MAX_RESPONSE_BYTES,
    ) -> Any:
        """The result of one call; raises NodeError, RpcError, or AnswerTooLarge past most_bytes."""
        [result] = self._exchange([Call(method, params)], timeout_s or self._timeout_s, most_bytes)
        if isinstance(result, RpcError):
            raise result
        return result

    def once(self, calls: Sequence[Call], timeout_s: float) -> list[Any]:
        """As batch(), in one request of at most `timeout_s`: for an answer now or not at all."""
        [url, *_] = self._usable_urls()
        return _results(self._post(url, calls, timeout_s), len(calls))

    def batch(self, calls: Sequence[Call], timeout_s: float | None = None) -> list[Any]:
        """Results in the order of the calls; a call that the node refused gives an RpcError value.

        Batches halve when the node refuses or breaks one and grow back as they pass.
        """
        results: list[Any] = []
        while len(results) < len(calls):
            size = self._batch_size
            chunk = calls[len(results) : len(results) + size]
            try:
                results += self._exchange(chunk, timeout_s or self._timeout_s)
            except BatchRefused:
                if len(chunk) == 1:
                    raise
                self._batch_size = max(1, len(chunk) // 2)
            else:
                if len(chunk) == size:
                    self._batch_size = min(MAX_BATCH, size + max(1, size // 8))
        return results

    def _exchange(
        self, calls: Sequence[Call], timeout_s: float, most_bytes: int = MAX_RESPONSE_BYTES
    ) -> list[Any]:
        failure: NodeError | None = None
        for url in self._usable_urls():
            try:
                return _results(self._post(url, calls, timeout_s, most_bytes), len(calls))
            except NodeError as error:
                failure = error
                self._resting_until[url] = time.monotonic() + REST_AFTER_FAILURE_S
        raise failure or NodeError("no node is configured (RPC_URL)")

    def _usable_urls(self) -> list[str]:
        """Those not resting first; the others after them, since a tired node beats none."""
        now = time.monotonic()
        return sorted(self._urls, key=lambda url: self._resting_until.get(url, 0.0) > now)

    def _post(
        self,
        url: str,
        calls: Sequence[Call],
        timeout_s: float,
        most_bytes: int = MAX_RESPONSE_BYTES,
    ) -> Any:
        requests_ = [
            {"jsonrpc": "2.0", "id": number, "method": call.method, "params": list(call.params)}
            for number, call in enumerate(calls)
        ]
        body = orjson.dumps(requests_ if len(calls) > 1 else requests_[0])
        deadline = time.monotonic() + timeout_s
        try:
            response = self._session().post(
                url,
                data=body,
                timeout=(min(CONNECT_TIMEOUT_S, timeout_s), timeout_s),
                allow_redirects=False,
                stream=True,
            )
            with response:
                _check_status(response, len(calls))
                return _json(_read(response, deadline, most_bytes))
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            raise BatchRefused("the node did not answer in time") from None
        except (requests.ConnectionError, urllib3.exceptions.ProtocolError):
            raise NodeError("the node cannot be reached or cut the connection") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise NodeError(f"the node's answer is not HTTP ({type(error).__name__})") from None

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = (
                False  # a proxy or netrc lookup on every call costs more than the call
            )
            session.verify = self._ca_bundle or True
            session.headers["Content-Type"] = "application/json"
            self._local.session = session
        return session


def _check_status(response: requests.Response, calls: int) -> None:
    status = response.status_code
    if status == 200:
        return
    if status == 429:
        raise NodeError("the node asks for fewer requests (429)", retry_after_s=_after(response))
    if status in (400, 408, 413, 414, 500, 502, 504) and calls > 1:
        raise BatchRefused(f"the node answered HTTP {status}")
    raise NodeError(f"the node answered HTTP {status}", retry_after_s=_after(response))


def _after(response: requests.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return min(float(text), 300.0) if re.fullmatch(r"[0-9]{1,6}", text) else None


def _read(response: requests.Response, deadline: float, most_bytes: int) -> bytes:
    """The whole body, in bounded time and size whatever the node does."""
    parts: list[bytes] = []
    size = 0
    # read1 returns what has come: a node that drips a byte a second meets the deadline, too.
    while part := response.raw.read1(1024 * 1024, decode_content=True):
        parts.append(part)
        size += len(part)
        if size > most_bytes:
            if most_bytes < MAX_RESPONSE_BYTES:
                raise AnswerTooLarge
            raise BatchRefused("the node's answer is too large")
        if time.monotonic() > deadline:
            raise BatchRefused("the node did not finish its answer in time")
    return b"".join(parts)


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        pass
    try:  # orjson refuses lone surrogates and the like, which a node may quote in a message
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BatchRefused("the node's answer is not JSON, or was cut short") from None


def _results(answer: Any, count: int) -> list[Any]:
    if count == 1 and isinstance(answer, list) and len(answer) == 1:
        [answer] = answer
    if count == 1 and isinstance(answer, dict):
        return [_result(answer)]
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        error = _rpc_error(answer["error"])
        raise BatchRefused(f"the node refused a batch of {count} calls: {error.message}")
    if not isinstance(answer, list):
        raise BatchRefused("the node answered a batch with something else")
    by_id = {item.get("id"): item for item in answer if isinstance(item, dict)}
    if any(number not in by_id for number in range(count)):
        raise BatchRefused("the node left calls of a batch unanswered")
    return [_result(by_id[number]) for number in range(count)]


def _result(answer: dict[str, Any]) -> Any:
    if answer.get("error") is not None:
        error = _rpc_error(answer["error"])
        if _asks_for_fewer(error):
            raise NodeError(f"the node asks for fewer requests: {error.message}")
        return error
    if "result" not in answer:
        raise NodeError("the node's answer has neither result nor error")
    return answer["result"]


def _asks_for_fewer(error: RpcError) -> bool:
    """A contract may revert with "cap limit exceeded"; that is no word of the node's."""
    if error.code == REVERTED or "revert" in error.message:
        return False
    return error.code in _RATE_LIMIT_CODES or bool(_RATE_LIMIT_WORDS.search(error.message))


def _rpc_error(error: Any) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, str(error)[:200])
    code = error.get("code")
    return RpcError(
        code if isinstance(code, int) else 0, str(error.get("message"))[:500], error.get("data")
    )
