"""One transaction traced by the node: the calls made in it, or what a TraceKind reads.

Of several requests for one transaction's trace, one calls the node and the others wait. Traces are
cached in bounded memory, by the hashes of the transaction and of its block.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.errors import TracesUnavailable, UpstreamFailed
from scan.ethereum import node_errors, transaction_checks
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.forms.matching import ETHEREUM_TYPES
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import ADDRESS, BlockId
from scan.ethereum.stored_blocks import TransactionLog
from scan.ethereum.transaction_reader import IndexedTransaction, require_same
from scan.extensions.traces import step_traces, traces
from scan.hex import BadHex, data, quantity, quantity_or_none

TIMEOUT_S = 4.0
MAX_TRACE_BYTES = 8 * 1024 * 1024
MAX_FRAMES = 1000
MAX_LOGS = 1000
MAX_DATA_BYTES = 1024 * 1024  # of all inputs, outputs and logs together
MAX_TYPE = 20
MAX_CODES = 8  # that are told to have done what a call did
DELEGATING = ("DELEGATECALL", "CALLCODE")
MAX_UINT64 = 2**64 - 1  # of gas (EIP-1985)
CACHE_BYTES = 32 * 1024 * 1024
FRAME_BYTES = 900  # memory of a frame or a log besides its data, measured
ASK_AGAIN_S = 600.0  # after which a method that the node did not offer is tried again

CALL_TRACER = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}
FLAT = "trace_transaction"
CALLS = (("debug_traceTransaction", CALL_TRACER), (FLAT, None))
LIST = "[]"  # in place of a field, of an answer that is a list
NOT_OFFERED = (
    "The node offers no traces of transactions: they need debug_traceTransaction with a tracer, or"
    " the trace_ methods."
)
PRUNED = "The node does not keep the state that a trace of this transaction needs."
TOO_LARGE = f"The trace is larger than {MAX_TRACE_BYTES >> 20} MiB, or nested too deeply."
REFUSED = "The node does not trace this transaction."
TURNED_OFF = "Traces are not requested from the node, since SCAN_TRACES is off."
MALFORMED = "The node's trace of this transaction is malformed."

_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)


class TraceFrame(NamedTuple):
    """A call in callTracer's terms. `to_address` is the address of its code, None for a failed
    creation.

    Sizes are those of the whole input and output; both are cut where a trace has too much of them.
    `is_undone`: the call failed, or a call around it did. `failure` is set where the call itself
    failed. `logs` is None where the node does not give them; `log_positions` are the numbers of
    calls that this one had made before each log, -1 where the node does not report it.
    """

    trace_address: tuple[int, ...]
    type: str
    from_address: bytes
    to_address: bytes | None
    value: int
    gas: int | None
    gas_used: int | None
    input: bytes
    input_size: int
    output: bytes
    output_size: int
    failure: node_errors.CallFailure | None
    is_undone: bool
    logs: tuple[TransactionLog, ...] | None
    log_positions: tuple[int, ...] = ()


class TransactionTrace(NamedTuple):
    """The first MAX_FRAMES of a trace's `frame_count` calls, in their order.

    `failure` is the transaction's; None where it succeeded or the node does not disclose it.
    """

    frames: Sequence[TraceFrame]
    frame_count: int
    is_truncated: bool
    failure: node_errors.CallFailure | None

    def creation_input(self, address: bytes) -> bytes | None:
        """Return the input of the last creation at an address; None if there is none, or the trace
        was cut."""
        created = (f for f in self.frames if traces.is_creation(f.type) and f.to_address == address)
        *_, last = [None, *(frame for frame in created if not frame.is_undone)]
        is_whole = last is not None and last.input_size == len(last.input)
        return last.input if last and is_whole and self.frame_count == len(self.frames) else None


def passed_on(frames: Sequence[TraceFrame]) -> dict[tuple[int, ...], dict[bytes, None]]:
    """Return the contracts to which calls passed their whole input on by DELEGATECALL, by the place
    of each call that did."""
    by_place = {frame.trace_address: frame for frame in frames}
    targets: dict[tuple[int, ...], dict[bytes, None]] = {}
    for frame in frames:
        if frame.type in DELEGATING and frame.to_address and frame.trace_address:
            caller = by_place[frame.trace_address[:-1]]
            if (frame.input, frame.input_size) == (caller.input, caller.input_size):
                targets.setdefault(caller.trace_address, {})[frame.to_address] = None
    return targets


def implementations_in(frames: Sequence[TraceFrame]) -> dict[bytes, tuple[bytes, ...]]:
    """Return the same by the contracts that were called."""
    called = {frame.trace_address: frame.to_address for frame in frames}
    targets: dict[bytes, dict[bytes, None]] = {}
    for place, implementations in passed_on(frames).items():
        if (proxy := called[place]) is not None:
            targets.setdefault(proxy, {}).update(implementations)
    return {proxy: tuple(implementations) for proxy, implementations in targets.items()}


def passed_on_to(frames: Sequence[TraceFrame]) -> tuple[bytes, ...]:
    """Return the contracts to which the outermost call was passed on, the innermost first."""
    own, *others = frames
    passing, codes = {own.trace_address}, dict[bytes, None]()
    for frame in others:
        is_same = (frame.input, frame.input_size) == (own.input, own.input_size)
        if is_same and frame.type in DELEGATING and frame.trace_address[:-1] in passing:
            passing.add(frame.trace_address)
            codes |= {frame.to_address: None} if frame.to_address else {}
    return tuple(reversed(codes))[:MAX_CODES]


def codes_in(frames: Sequence[TraceFrame]) -> dict[tuple[int, ...], tuple[bytes, ...]]:
    """Return the contracts whose code may have done what a call did, by its place: its own code,
    and of a DELEGATECALL those for which it ran, at most MAX_CODES of them."""
    codes: dict[tuple[int, ...], tuple[bytes, ...]] = {}
    for frame in frames:
        place, own = frame.trace_address, filter(None, [frame.to_address])
        outer = codes[place[:-1]] if place and frame.type in DELEGATING else ()
        codes[place] = (*own, *outer)[:MAX_CODES]
    return codes


class TraceKind(NamedTuple):
    """What is read of a transaction, by a name: the methods that trace it, with their options, in
    the order in which they are tried; the fields of which an answer with such a trace has one, or
    LIST; the trace in an answer; its size in memory."""

    name: str
    ways: Sequence[tuple[str, Any]]
    marks: Collection[str]
    read: Callable[[Any], Any]
    size_of: Callable[[Any], int]
    cache_bytes: int

    def is_trace(self, answer: Any) -> bool:
        """Return whether an answer is such a trace. Nodes that ignore a tracer return steps
        (structLogs) instead."""
        names = answer if isinstance(answer, dict) else (LIST,) if isinstance(answer, list) else ()
        return any(mark in names for mark in self.marks)


class TransactionTraces:
    """A reader of traces, which remembers the methods that the node does not offer. A read takes at
    most TIMEOUT_S."""

    def __init__(self, setting: str) -> None:
        """`setting` is SCAN_TRACES: where it is "off", no method is called."""
        self._is_off = setting == "off"
        self._caches: dict[str, SizedCache[Any]] = {}  # by the name of a kind
        self._not_offered: dict[tuple[str, int], float] = {}  # until when, by kind and way
        self._readers: Counter[Hashable] = Counter()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()

    def calls(self, node: NodeSession, indexed: IndexedTransaction) -> TransactionTrace:
        """Return the calls of a transaction. Raises TracesUnavailable where the node has no trace
        of it, UpstreamFailed where it may have one later, and the errors of NodeSession."""
        trace: TransactionTrace = self.read(node, indexed, CALL_TRACE)
        return trace

    def read(self, node: NodeSession, indexed: IndexedTransaction, kind: TraceKind) -> Any:
        """Return a trace of a kind. Raises as calls() does."""
        if self._is_off:
            raise TracesUnavailable(TURNED_OFF)
        cache = self._caches.setdefault(kind.name, SizedCache(kind.cache_bytes))
        node = node.within(TIMEOUT_S)
        key = (indexed.hash, indexed.block_hash)
        cached = cache.get(key)
        if cached is None:
            with self._alone((kind.name, key), node):
                cached = cache.get(key)
                if cached is None:
                    cached = self._ask(node, indexed, kind)
                    # A trace that is too large stays so; other reasons may pass.
                    if not isinstance(cached, TracesUnavailable):
                        cache.store(key, cached, kind.size_of(cached))
                    elif cached.message == TOO_LARGE:
                        cache.store(key, cached, FRAME_BYTES)
        if isinstance(cached, TracesUnavailable):
            raise TracesUnavailable(cached.message)
        return cached

    @contextmanager
    def _alone(self, key: Hashable, node: NodeSession) -> Iterator[None]:
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
            self._readers[key] += 1
        try:
            node.acquire(lock)
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._guard:
                self._readers[key] -= 1
                if not self._readers[key]:
                    del self._readers[key], self._locks[key]

    def _ask(self, node: NodeSession, indexed: IndexedTransaction, kind: TraceKind) -> Any:
        reason = NOT_OFFERED
        for number, (method, options) in enumerate(kind.ways):
            way = kind.name, number
            if self._not_offered.get(way, 0.0) > time.monotonic():
                continue
            params = (indexed.hash,) if options is None else (indexed.hash, options)
            calls = [Call(method, params), Call("eth_getTransactionByHash", (indexed.hash,))]
            answer, sent = node.results(calls, MAX_TRACE_BYTES)
            block = BlockId(indexed.block_number, data(indexed.block_hash))
            answer = or_pruned(answer, block, node.results)
            if isinstance(answer, RpcError):
                if answer.is_transient:
                    raise UpstreamFailed("The node cannot trace this transaction now.")
                reason = _reason(answer) or reason
            elif answer == step_traces.TOO_SLOW:
                node.record_failed()
                raise UpstreamFailed("The node traces this transaction too slowly.")
            elif kind.is_trace(answer):
                try:
                    require_same(indexed, sent)
                    transaction_checks.proof_of(sent)
                    if method == FLAT:
                        block_hash, hash_ = data(indexed.block_hash), data(indexed.hash)
                        answer = traces.nested(answer, block_hash, hash_)
                    trace = kind.read(answer)
                    if isinstance(trace, TransactionTrace):
                        _require_own_call(trace.frames[0], sent)
                    return trace
                except (*_MALFORMED, transaction_checks.Contradiction):
                    raise UpstreamFailed(MALFORMED) from None
            elif answer is None:
                reason = REFUSED
                continue
            elif not (isinstance(answer, dict) and "structLogs" in answer):
                reason = MALFORMED
                continue
            if not isinstance(answer, RpcError) or answer.is_missing_method:
                self._not_offered[way] = time.monotonic() + ASK_AGAIN_S
        if reason == MALFORMED:  # may pass, so it is neither cached nor held against the method
            raise UpstreamFailed(MALFORMED)
        return TracesUnavailable(reason)


def or_pruned(answer: Any, block: BlockId, ask: Callable[[list[Call]], Iterable[Any]]) -> Any:
    """Return a trace, or where the node has pruned the state that it needs, the error of a query of
    that: each client has its own words for it."""
    is_error = isinstance(answer, RpcError) and not isinstance(answer, AnswerTooLarge)
    if is_error and not answer.is_missing_method:
        [state] = ask([Call("eth_getBalance", (ADDRESS, block))])
        if isinstance(state, RpcError) and state.is_missing_state:
            return state
    return answer


def _reason(error: RpcError) -> str | None:
    """Return why the node has no trace; None where it lacks the method, so another is tried."""
    if isinstance(error, AnswerTooLarge):
        return TOO_LARGE
    if error.is_missing_method:
        return None
    return PRUNED if error.is_missing_state else REFUSED


def _require_own_call(frame: TraceFrame, sent: Any) -> None:
    """Raise Contradiction where a trace's outermost call is not that of the transaction, of one of
    Ethereum's types, whose hash was compared."""
    if sent.get("type") not in ETHEREUM_TYPES:
        return
    to, calldata = sent.get("to"), data(sent["input"])
    kind = "CREATE" if to is None else "CALL"
    outermost = kind, data(sent["from"], 20), quantity(sent["value"])
    if (
        (frame.type, frame.from_address, frame.value) != outermost
        or (to is not None and frame.to_address != data(to, 20))
        or (frame.input_size, frame.input) != (len(calldata), calldata[: len(frame.input)])
    ):
        raise transaction_checks.Contradiction("a transaction and its trace")


def read_call_trace(answer: Any) -> TransactionTrace:
    """Read a result of callTracer. Raises BadHex, KeyError, TypeError, AttributeError, IndexError,
    ValueError or RecursionError where it is malformed."""
    try:
        failure = step_traces.failure_in(answer)
    except step_traces.Undisclosed:
        failure = None
    budget = _Budget()
    frames: list[TraceFrame] = []
    path: list[int] = []
    count = 0
    for depth, _outer, call, undone in traces.walk_calls(answer):
        count += 1
        if count > MAX_FRAMES:
            continue
        if depth > len(path):
            path.append(0)
        elif depth:
            del path[depth:]
            path[-1] += 1
        frames.append(_frame(call, tuple(path), undone, budget))
    if not any(frame.logs for frame in frames):
        # Either the transaction has no logs, or the node does not know the option withLog.
        frames = [frame._replace(logs=None) for frame in frames]
    return TransactionTrace(frames, count, count > MAX_FRAMES or budget.is_exceeded, failure)


class _Budget:
    """The bytes and logs of a trace that may still be kept."""

    def __init__(self) -> None:
        self.bytes_left = MAX_DATA_BYTES
        self.logs_left = MAX_LOGS
        self.is_exceeded = False

    def cut(self, whole: bytes) -> bytes:
        """Return the whole data as long as there is room, afterwards its first four bytes."""
        if len(whole) <= self.bytes_left:
            self.bytes_left -= len(whole)
            return whole
        self.is_exceeded = True
        return whole[:4]

    def logs(self, logs: Sequence[Any]) -> Sequence[Any]:
        kept = logs[: self.logs_left]
        self.logs_left -= len(kept)
        self.is_exceeded = self.is_exceeded or len(kept) < len(logs)
        return kept


def _frame(call: Any, path: tuple[int, ...], undone: bool, budget: _Budget) -> TraceFrame:
    kind = call["type"]
    if not isinstance(kind, str) or not kind.isidentifier() or len(kind) > MAX_TYPE:
        raise BadHex("a call has no type")
    whole_input = data(call.get("input") or "0x")
    whole_output = data(call.get("output") or "0x")
    logs = budget.logs(call.get("logs") or ())
    is_moving = kind not in ("DELEGATECALL", "STATICCALL")
    return TraceFrame(
        path,
        kind,
        data(call["from"], 20),
        None if call.get("to") is None else data(call["to"], 20),
        quantity(call.get("value") or "0x0") if is_moving else 0,
        _gas(call.get("gas")),
        _gas(call.get("gasUsed")),
        budget.cut(whole_input),
        len(whole_input),
        budget.cut(whole_output),
        len(whole_output),
        _failure(call, budget),
        undone,
        tuple(_log(log, budget) for log in logs),
        tuple(quantity(log["position"]) if "position" in log else -1 for log in logs),
    )


def _gas(value: Any) -> int | None:
    gas = quantity_or_none(value)
    if gas is not None and gas > MAX_UINT64:
        raise BadHex("a call has more gas than there can be")
    return gas


def _failure(call: Any, budget: _Budget) -> node_errors.CallFailure | None:
    if not call.get("error"):
        return None
    try:
        failure = step_traces.own_failure(call)
    except step_traces.Undisclosed:
        return node_errors.CallFailure("revert")
    return failure._replace(data=budget.cut(failure.data))


def _log(log: Any, budget: _Budget) -> TransactionLog:
    """Return a log with the index -1: few nodes give the index in traces."""
    topics = tuple(data(topic, 32) for topic in log["topics"])
    if len(topics) > 4:
        raise BadHex("a log has more than four topics")
    return TransactionLog(
        data(log["address"], 20), topics, budget.cut(data(log.get("data") or "0x")), -1
    )


def _size_of_trace(trace: TransactionTrace) -> int:
    return sum(
        FRAME_BYTES
        + 8 * len(frame.trace_address)
        + len(frame.input)
        + len(frame.output)
        + (0 if frame.failure is None else len(frame.failure.data))
        + sum(FRAME_BYTES + len(log.data) for log in frame.logs or ())
        for frame in trace.frames
    )


CALL_TRACE = TraceKind("calls", CALLS, ("type", LIST), read_call_trace, _size_of_trace, CACHE_BYTES)
