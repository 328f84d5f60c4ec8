"""A node over JSON-RPC: transport, retry, batches and error classes, all in one place."""

import json
import logging
import re
import threading
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson
import requests
import urllib3

from scan.observability import metrics

log = logging.getLogger(__name__)

MAX_RESPONSE_BYTES = 512 * 1024 * 1024
MAX_BATCH = 200
CONNECT_TIMEOUT_S = 3.0
MAX_RETRY_AFTER_S = 300.0
REST_AFTER_FAILURE_S = 10.0  # a failing node of several is left alone for this long

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32001  # EIP-1474
_REVERT_CODES = (3, -32015)
_RATE_LIMIT_CODES = (429, -32005, -32097)
_RATE_LIMIT_WORDS = re.compile(r"rate.?limit|too many requests|limit exceeded|capacity", re.I)
_MISSING_METHOD_WORDS = re.compile(
    r"method .{0,80}(not found|does not exist|not (supported|available))|unsupported method", re.I
)
_MISSING_STATE_WORDS = re.compile(
    r"missing trie node|historical state|state .{0,80}(not|un)available|no state available"
    r"|prun(ed|ing)",
    re.I,
)
_MISSING_BLOCK_WORDS = re.compile(
    r"(header|block) .{0,90}not found|header not found|unknown (block|header)|resource not found"
    r"|could not find (block|header)|cannot find (block|header)|out ?of ?range",
    re.I,
)
_REVERT_WORDS = re.compile(r"(vm )?execution (reverted|error)|revert|vm exception|evm error", re.I)
_PASSING_WORDS = re.compile(
    r"timed? ?out|timeout|^internal (server )?error\b|unavailable|overloaded|try again|upstream"
    r"|connection|busy",
    re.I,
)
_TOO_MUCH_WORDS = re.compile(r"batch|too (large|big)|exceeds? .{0,40}size", re.I)


class Call(NamedTuple):
    method: str
    params: Sequence[object]


class NodeError(Exception):
    """The node cannot serve now: no connection, time-out, 429, 5xx, or no sensible answer."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BatchRefused(NodeError):
    """An answer that a smaller batch may avoid."""


class TimedOut(BatchRefused):
    """No answer, or not all of it, in time; waiting as long again for half of it comes later."""


class AnswerTooLarge(Exception):
    """More than the caller of one call wanted to read; no fault of the node."""


class RpcError(Exception):
    """A JSON-RPC error object: the node understood and refused."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data

    def __reduce__(self) -> tuple[type["RpcError"], tuple[int, str, object]]:
        """To be whole on its way from another process: args hold the sentence alone."""
        return type(self), (self.code, self.message, self.data)

    @property
    def is_revert(self) -> bool:
        """The contract failed. What follows in the message is the contract's own words."""
        return self.code in _REVERT_CODES or bool(_REVERT_WORDS.match(self.message))

    @property
    def is_missing_method(self) -> bool:
        return self.code == METHOD_NOT_FOUND or self._matches(_MISSING_METHOD_WORDS)

    @property
    def is_missing_state(self) -> bool:
        """The block is known, its state is pruned."""
        return self._matches(_MISSING_STATE_WORDS)

    @property
    def is_missing_block(self) -> bool:
        """The block itself is not there: reorganised away, or not there yet."""
        return self.code == RESOURCE_NOT_FOUND or self._matches(_MISSING_BLOCK_WORDS)

    @property
    def is_invalid_params(self) -> bool:
        return self.code == INVALID_PARAMS or "cannot unmarshal" in self.message

    @property
    def is_transient(self) -> bool:
        """The node's own trouble, which has nothing to do with the call."""
        return self._matches(_PASSING_WORDS)

    @property
    def is_rate_limit(self) -> bool:
        return self.code in _RATE_LIMIT_CODES or self._matches(_RATE_LIMIT_WORDS)

    @property
    def is_too_much(self) -> bool:
        return self._matches(_TOO_MUCH_WORDS)

    def _matches(self, words: re.Pattern[str]) -> bool:
        return not self.is_revert and bool(words.search(self.message))


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

    def each(self) -> list["Node"]:
        """Its nodes one by one, but those that rest after a failure."""
        now = time.monotonic()
        return [
            Node([url], timeout_s=self._timeout_s, ca_bundle=self._ca_bundle)
            for url in self._urls
            if self._resting_until.get(url, 0.0) <= now
        ]

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

    def batch(
        self,
        calls: Sequence[Call],
        timeout_s: float | None = None,
        most_bytes: int = MAX_RESPONSE_BYTES,
    ) -> list[Any]:
        """Results in the order of the calls; a call that the node refused gives an RpcError value.

        Batches halve when the node refuses or breaks one and grow back as they pass. `timeout_s`
        is for all of it; without one each exchange has the node's own. Raises AnswerTooLarge for
        an exchange past `most_bytes`.
        """
        results: list[Any] = []
        ends_at = None if timeout_s is None else time.monotonic() + timeout_s
        while len(results) < len(calls):
            left_s = self._timeout_s if ends_at is None else ends_at - time.monotonic()
            if left_s <= 0:
                raise NodeError("the node did not answer in time")
            size = self._batch_size
            chunk = calls[len(results) : len(results) + size]
            try:
                results += self._exchange(chunk, left_s, most_bytes)
            except NodeError as error:
                self._batch_size = max(1, len(chunk) // 2)
                if not _is_worth_halving(error, len(chunk)):
                    raise
            else:
                if len(chunk) == size:
                    self._batch_size = min(MAX_BATCH, size + max(1, size // 8))
        return results

    def _exchange(
        self, calls: Sequence[Call], timeout_s: float, most_bytes: int = MAX_RESPONSE_BYTES
    ) -> list[Any]:
        """From the first node that answers; one that fails is left alone for a while."""
        failure: NodeError | None = None
        for url in self._usable_urls():
            try:
                return _results(self._post(url, calls, timeout_s, most_bytes), len(calls))
            except NodeError as error:
                if _is_worth_halving(error, len(calls)):
                    raise
                failure = error
                rest_s = max(REST_AFTER_FAILURE_S, error.retry_after_s or 0.0)
                self._resting_until[url] = time.monotonic() + rest_s
        raise failure or NodeError("no node is configured (RPC_URL)")

    def _usable_urls(self) -> list[str]:
        """Those not resting first; the others after them, since a resting node beats none."""
        now = time.monotonic()
        return sorted(self._urls, key=lambda url: self._resting_until.get(url, 0.0) > now)

    @metrics.observed_rpc
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
            raise TimedOut("the node did not answer in time") from None
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


def _is_worth_halving(error: NodeError, calls: int) -> bool:
    return calls > 1 and isinstance(error, BatchRefused) and not isinstance(error, TimedOut)


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
    """Retry-After in seconds, whichever of its two forms it has; at most five minutes."""
    text = response.headers.get("Retry-After", "")
    if re.fullmatch(r"[0-9]{1,6}", text, re.ASCII):
        return min(float(text), MAX_RETRY_AFTER_S)
    try:
        until = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(until - time.time(), 0.0), MAX_RETRY_AFTER_S)


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
            raise TimedOut("the node did not finish its answer in time")
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
    by_id = {item["id"]: item for item in answer if _has_number(item)}
    if any(number not in by_id for number in range(count)):
        raise BatchRefused("the node left calls of a batch unanswered")
    refusals = [_rpc_error(item["error"]) for item in by_id.values() if item.get("error")]
    for refusal in refusals if count > 1 else []:
        # geth answers what fits into 25 MB and "response too large" for the rest.
        if refusal.is_too_much:
            raise BatchRefused(f"the node refused calls of a batch of {count}: {refusal.message}")
    return [_result(by_id[number]) for number in range(count)]


def _has_number(item: Any) -> bool:
    return isinstance(item, dict) and type(item.get("id")) is int


def _result(answer: dict[str, Any]) -> Any:
    if answer.get("error") is not None:
        error = _rpc_error(answer["error"])
        if error.is_rate_limit:
            raise NodeError(f"the node asks for fewer requests: {error.message}")
        metrics.count_rpc_error()
        return error
    if "result" not in answer:
        raise NodeError("the node's answer has neither result nor error")
    return answer["result"]


def _rpc_error(error: Any) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, str(error)[:200])
    code = error.get("code")
    return RpcError(
        code if isinstance(code, int) else 0, str(error.get("message"))[:500], error.get("data")
    )
