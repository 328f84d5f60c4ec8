"""Calls of JSON-RPC 2.0, single and in batches, to a node and their answers back, over HTTP with
one deadline and a bound on the answer.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec
import orjson
import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from scan.cached_values import json_decoder
from scan.deadlines import Deadline, retry_after_s
from scan.ethereum import nested_json
from scan.ethereum.node_errors import (
    AnswerTooLarge,
    BatchRefused,
    NodeError,
    RateLimited,
    RpcError,
    TimedOut,
    too_large,
)
from scan.ethereum.node_sockets import IpcConnection
from scan.hex import excerpt
from scan.observability import metrics

CONNECT_TIMEOUT_S = 3.0
MAX_RETRY_AFTER_S = 300.0
MAX_REFUSAL_BYTES = 64 * 1024
READ_BYTES = 1024 * 1024
MAX_REPLIES = 1000  # in one answer; an answer with more has its elements counted first
# Parsed, an array of empty arrays takes 21 times the memory of its text; nodes' answers take 1 to 3
# times.
BYTES_PER_ELEMENT = 64
_TIMEOUTS = (requests.Timeout, urllib3.exceptions.TimeoutError)
_OF_LARGE_BATCHES = (400, 408, 413, 414, 500, 502, 504)
MAX_EXPANSION = 4
_ZEROS = bytes.maketrans(b"123456789", b"000000000")

_NONE, _NULL = msgspec.Raw(b""), msgspec.Raw(b"null")


class _Reply(msgspec.Struct, gc=False):
    """The reply to one call, with its result as text."""

    id: int
    result: msgspec.Raw = _NONE
    error: msgspec.Raw = _NULL


_REPLY_TYPES: Any = list[_Reply] | _Reply
_REPLIES = json_decoder(_REPLY_TYPES)


class _Request(threading.local):
    """The request of a thread: when it ends, by time.monotonic(), the deadline of its connection,
    and whether one has opened a connection."""

    ends_at = 0.0
    deadline: Deadline | None = None
    has_connected = False


_request = _Request()


def note_connection() -> None:
    """Note that a request of this thread opens a connection."""
    _request.has_connected = True


class _Thread(threading.local):
    """A thread's connections, and the seconds that it has waited for whole answers."""

    def __init__(self, ca_bundle: str) -> None:
        self.waited_s = 0.0
        self.sockets: dict[str, IpcConnection] = {}  # of nodes, by path
        self.session = requests.Session()
        self.session.trust_env = False  # looking for a proxy or netrc costs more than the call
        self.session.verify = ca_bundle or True
        self.session.headers["Content-Type"] = "application/json"
        self.session.headers["Accept-Encoding"] = "gzip, deflate"
        self.session.mount("http://", _DeadlineAdapter())
        self.session.mount("https://", _DeadlineAdapter())
        self._prepared: dict[str, requests.PreparedRequest] = {}  # by URL

    def prepared(self, url: str, body: bytes) -> requests.PreparedRequest:
        """Return a request, of which all but the body is prepared once for a URL: that takes longer
        than sending it. A cookie that a node has set may change or end."""
        request = None if self.session.cookies else self._prepared.get(url)
        if request is None:
            request = self.session.prepare_request(requests.Request("POST", url))
            if not self.session.cookies:
                self._prepared[url] = request
        request.prepare_body(body, None)
        return request


class Transport:
    """Sessions that post JSON to nodes, one session for each thread."""

    def __init__(self, ca_bundle: str) -> None:
        self.thread = _Thread(ca_bundle)

    def take_connected(self) -> bool:
        """Return whether a request of this thread has opened a connection since the last call."""
        has_connected, _request.has_connected = _request.has_connected, False
        return has_connected

    def post(
        self,
        url: str,
        calls: Sequence["Call"],
        timeout_s: float,
        most_bytes: int,
        raw: bool = False,
    ) -> tuple[Any, int]:
        """Return the parsed answer to calls, and its size in bytes. A path as `url` is an IPC
        socket's.

        With `raw`, results may be msgspec.Raw, for a caller who knows their types.
        Raises NodeError, BatchRefused where fewer calls may help, and AnswerTooLarge.
        """
        requests_ = [
            {"jsonrpc": "2.0", "id": index, "method": call.method, "params": list(call.params)}
            for index, call in enumerate(calls)
        ]
        body = orjson.dumps(requests_ if len(calls) > 1 else requests_[0])
        began = time.monotonic()
        ends_at = began + timeout_s
        received_at = failure = None
        try:
            if timeout_s <= 0:
                raise TimedOut("the node did not respond in time")
            if url.startswith("/"):
                return self._post_ipc(url, body, ends_at, most_bytes)
            text = self._post_http(url, body, ends_at, most_bytes)
            received_at = time.monotonic()
            return read_answer(text, most_bytes, raw=raw), len(text)
        except Exception as error:
            failure = type(error).__name__
            raise
        finally:
            ended_at = time.monotonic()
            self.thread.waited_s += (received_at or ended_at) - began
            methods = Counter(call.method for call in calls)
            metrics.count_rpc(metrics.RpcObservation(methods, ended_at - began, failure, 0))

    def _post_ipc(self, path: str, body: bytes, ends_at: float, most_bytes: int) -> tuple[Any, int]:
        """Post on this thread's connection to a socket, which is kept after a complete answer
        alone."""
        connection = self.thread.sockets.pop(path, None)
        if connection is None or not connection.is_idle:
            note_connection()
            connection = IpcConnection(path, CONNECT_TIMEOUT_S)
        try:
            answer = connection.exchange(
                body, ends_at, most_bytes, partial(_json, most_bytes=most_bytes)
            )
        except BaseException:
            connection.close()
            raise
        self.thread.sockets[path] = connection
        return answer

    def _post_http(self, url: str, body: bytes, ends_at: float, most_bytes: int) -> bytes:
        _request.ends_at, _request.deadline = ends_at, None
        timeout_s = ends_at - time.monotonic()
        try:
            response = self.thread.session.send(
                self.thread.prepared(url, body),
                timeout=(min(CONNECT_TIMEOUT_S, timeout_s), timeout_s),
                allow_redirects=False,
                stream=True,
            )
            with response:
                if (status := response.status_code) == 200:
                    answer = _read_body(response, most_bytes)
                    if time.monotonic() < ends_at:  # else the end may be that of the connection
                        return answer
                    raise TimedOut("the node did not respond in time")
                if (
                    status == 400
                ):  # with which some send errors for parameters that they do not take
                    with suppress(AnswerTooLarge, ValueError):
                        body = _read_body(response, MAX_REFUSAL_BYTES)
                        refusal = orjson.loads(body)
                        if isinstance(refusal, dict) and isinstance(refusal.get("error"), dict):
                            return body
                after_s = retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC))
                after_s = None if after_s is None else min(after_s, MAX_RETRY_AFTER_S)
                if status == 429:
                    reason = "the node's rate limit is exceeded (429)"
                    raise RateLimited(reason, retry_after_s=after_s)
                kind = BatchRefused if status in _OF_LARGE_BATCHES else NodeError
                raise kind(f"the node returned HTTP {status}", retry_after_s=after_s)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            if isinstance(error, _TIMEOUTS) or time.monotonic() >= ends_at:
                raise TimedOut("the node did not respond in time") from None
            if isinstance(error, requests.ConnectionError | urllib3.exceptions.ProtocolError):
                raise NodeError("the node cannot be reached or cut the connection") from None
            raise NodeError(f"the node's response is not HTTP ({type(error).__name__})") from None
        finally:
            if _request.deadline is not None:
                _request.deadline.end()


class _Connection(HTTPConnection):
    """A connection that is shut down at the deadline of the thread's request. A socket's own
    time-out begins anew with every byte, so a slow node could exceed the deadline."""

    def connect(self) -> None:
        note_connection()
        super().connect()
        self._deadline = Deadline(self.sock.fileno)  # which the response may have to itself

    def request(self, *arguments: Any, **keywords: Any) -> None:
        super().request(*arguments, **keywords)
        _request.deadline = self._deadline
        self._deadline.begin(_request.ends_at - time.monotonic())


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _DeadlineAdapter(HTTPAdapter):
    def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
        super().init_poolmanager(*arguments, **keywords)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        self._pools: dict[str, Any] = {}

    def get_connection_with_tls_context(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the pool of a node's URL, which is parsed once."""
        if request.url not in self._pools:
            pool = super().get_connection_with_tls_context(request, *args, **kwargs)
            self._pools[request.url] = pool
        return self._pools[request.url]


def _read_body(response: requests.Response, most_bytes: int) -> bytes:
    """Return the body, decompressed. The bound is on the size before and after."""
    declared = response.headers.get("Content-Length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > most_bytes:
        raise too_large(most_bytes)
    pieces: list[bytes] = []
    size = 0
    while piece := response.raw.read1(READ_BYTES, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise too_large(most_bytes)
    return b"".join(pieces)


def read_answer(text: bytes, most_bytes: int, *, raw: bool) -> Any:
    """Return a parsed answer; with `raw` each result unparsed, so the caller applies
    require_few_elements() to it, unless the answer has errors or is not JSON."""
    if not raw:
        return _json(text, most_bytes)
    try:
        answer = _REPLIES.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return _json(text, most_bytes)
    replies = answer if isinstance(answer, list) else [answer]
    is_usual = len(replies) <= MAX_REPLIES and all(
        reply.error == _NULL and reply.result != _NONE for reply in replies
    )
    if not is_usual:
        return _json(text, most_bytes)
    return [
        {"id": reply.id, "result": None if reply.result == _NULL else reply.result}
        for reply in replies
    ]


def require_few_elements(text: bytes | bytearray | memoryview, most_bytes: int) -> None:
    """Raise AnswerTooLarge where the JSON, parsed, would take much more memory than its text."""
    max_elements = MAX_EXPANSION * most_bytes // BYTES_PER_ELEMENT
    if len(text) > 2 * max_elements:  # an element takes two bytes, and counting takes time
        elements = len(text) - len(bytes(text).translate(None, b",[{"))
        if elements > max_elements:
            # Numbers of one digit, as a deep call's place has (traceAddress), take 24 bytes.
            digits = bytes(text).translate(_ZEROS, b" \n")
            elements -= 5 * (digits.count(b",0") - digits.count(b",00")) // 8
        if elements > max_elements:
            raise AnswerTooLarge(0, f"the node's response has too many elements, {elements}")


def _json(text: bytes | bytearray, most_bytes: int) -> Any:
    require_few_elements(text, most_bytes)
    try:
        return orjson.loads(text)
    except ValueError as error:
        is_deep = "depth limit" in str(error) or "ecursion" in str(error)
    try:  # orjson refuses lone surrogates, which a node may quote in a message
        return nested_json.parse(text) if is_deep else json.loads(text)
    except nested_json.TooDeep:
        raise AnswerTooLarge(0, "the node's response is nested too deeply") from None
    except (ValueError, RecursionError):
        raise BatchRefused("the node's response is not JSON, or is truncated") from None


class Call(NamedTuple):
    """A JSON-RPC call. Its parameters may have a BlockId, which is written as the node takes it:
    see served_chain.py."""

    method: str
    params: Sequence[object]


def results_of(answer: Any, count: int) -> list[Any]:
    """Return the results of `count` calls, an RpcError in the place of each that failed. Raises
    BatchRefused, RateLimited, NodeError."""
    if count == 1 and isinstance(answer, list) and len(answer) == 1:
        [answer] = answer
    if count == 1 and isinstance(answer, dict):
        answer = [{**answer, "id": 0}]
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        error = _rpc_error(answer["error"])
        raise BatchRefused(f"the node rejected a batch of {count} calls: {error.words}")
    if not isinstance(answer, list):
        raise BatchRefused("the node's response to a batch is not a list")
    by_id = {
        item["id"]: item
        for item in answer
        if isinstance(item, dict) and type(item.get("id")) is int
    }
    if any(number not in by_id for number in range(count)):
        raise BatchRefused("the node did not respond to all calls of a batch")
    if len(answer) != count:
        raise BatchRefused(f"the node returned {len(answer)} responses to {count} calls")
    errors = {
        number: _rpc_error(item["error"])
        for number, item in by_id.items()
        if item.get("error") is not None
    }
    for error in errors.values():
        # geth answers what fits into 25 MB and "response too large" for the rest.
        if count > 1 and error.is_too_much:
            raise BatchRefused(f"the node rejected calls of a batch of {count}: {error.words}")
    for number in range(count):
        if number in errors and errors[number].is_rate_limit:
            words = errors[number].words
            raise RateLimited(f"the node's rate limit is exceeded: {words}")
        if number not in errors and "result" not in by_id[number]:
            raise NodeError("the node's response has neither result nor error")
    if errors:
        metrics.count_rpc(metrics.RpcObservation({}, None, None, len(errors)))
    return [errors.get(number) or by_id[number]["result"] for number in range(count)]


def _rpc_error(error: Any) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, _clean(error, 200))
    code = error.get("code")
    message = _clean(error.get("message"), 500)
    return RpcError(code if isinstance(code, int) else 0, message, error.get("data"))


def _clean(value: object, max_characters: int) -> str:
    """Return how a text begins, with NUL, which PostgreSQL cannot hold, and halves of surrogate
    pairs, which UTF-8 cannot, replaced."""
    text = value[:max_characters] if isinstance(value, str) else excerpt(value, max_characters)
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
