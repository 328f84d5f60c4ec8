"""Calls that the node simulates, each on the state that the one before leaves.

debug_traceCall gives the calls inside and all changes of the state, which are the overrides of the
next call. Where a node lacks it, eth_simulateV1 gives results and logs, and eth_call the result of
a single call.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum import node_errors, request_node
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.extensions.explanations.storage.mapping_keys import TRACER as HASHING_TRACER
from scan.extensions.explanations.storage.mapping_keys import HashedValues, read_values
from scan.extensions.explanations.transactions import state_changes
from scan.extensions.explanations.transactions.failing_steps import (
    SIMULATION_TRACER,
    STRUCT_LOGS,
    FailingSteps,
    read_steps,
)
from scan.extensions.simulation.request import Overrides, SimulatedCall
from scan.extensions.traces import step_traces, transaction_traces
from scan.hex import BadHex, data, quantity, to_hex

REVERTED = "execution reverted"
MALFORMED = "The node's answer to the simulation is malformed."
ONE_AT_MOST = (
    "The node simulates a single call only: several need debug_traceCall or eth_simulateV1."
)
TOGETHER = "The node cannot simulate these calls one after another; send the first ones alone."
IGNORES_OVERRIDES = "The node ignores overrides of the state, which this simulation needs."
NOT_OFFERED = "The node offers none of debug_traceCall, eth_simulateV1 and eth_call."
TOO_MANY_CALLS = "too many calls"
# callTracer takes anvil 5 s for 30,000 calls, and four times as long for twice as many, which it
# goes on with when nobody waits: so they are counted first where the gas is enough for many.
MAX_INNER_CALLS = 10_000
MAX_INNER_BYTES = 2 * 1024 * 1024  # of their inputs
UNCOUNTED_GAS = 1_000_000
COUNTER = {
    "tracer": "{calls: 0, bytes: 0, enter: function(frame) {"
    " this.calls++; this.bytes += frame.getInput().length;"
    f" if (this.calls > {MAX_INNER_CALLS} || this.bytes > {MAX_INNER_BYTES})"
    f" throw '{TOO_MANY_CALLS}'; }}, exit: function(result) {{}}, fault: function(log, db) {{}},"
    " result: function(context, db) { return [this.calls, this.bytes]; }}"
}
MANY_CALLS = (
    f"The call makes more than {MAX_INNER_CALLS:,} calls, or passes more than"
    f" {MAX_INNER_BYTES >> 20} MiB to them, more than are traced."
)
STEPS_S = 3.0
# All steps are listed up to this: 100,000 steps, of 68 bytes each, take anvil 0.3 s.
MAX_LISTED_GAS = 500_000
NOTHING: Mapping[str, Any] = {"balance": "0x0", "nonce": "0x0", "code": "0x", "state": {}}

_MALFORMED = (BadHex, KeyError, TypeError, AttributeError, IndexError, ValueError)


class Outcome(NamedTuple):
    """What a call would do. `is_traced`: `trace` has the calls inside, not the call alone.
    `changes` is None where the node does not give them, or refused the call. `overrides` are those
    on which it was simulated; what earlier calls changed is among them of traced calls alone."""

    trace: transaction_traces.TransactionTrace
    is_traced: bool
    changes: state_changes.StateChanges | None = None
    overrides: Overrides = {}

    @property
    def replaced(self) -> list[bytes]:
        """The addresses that had other code than the chain's."""
        return [data(address, 20) for address, values in self.overrides.items() if "code" in values]


class _NotOffered(Exception):
    """The node lacks a method."""


Way = Callable[[NodeSession, BlockId, Sequence[SimulatedCall], Overrides], list[Outcome]]


class Simulator:
    """Simulates calls in the fullest way that the node offers, which it remembers."""

    def __init__(self) -> None:
        self._not_offered: dict[Way, float] = {}  # until when

    def simulate(
        self,
        node: NodeSession,
        block: BlockId,
        calls: Sequence[SimulatedCall],
        overrides: Overrides,
        *,
        traces: bool,
    ) -> list[Outcome]:
        """Return the outcomes of calls on the state after a block, in their order; without `traces`
        none is traced.

        Raises HistoryUnavailable, TracesUnavailable, UpstreamFailed, Unavailable.
        """
        ways: tuple[Way, ...] = (_traced, _simulated, _called) if traces else (_simulated, _called)
        for way in ways:
            if self._not_offered.get(way, 0.0) > time.monotonic():
                continue
            try:
                return way(node, block, calls, overrides)
            except _NotOffered:
                self._not_offered[way] = time.monotonic() + transaction_traces.ASK_AGAIN_S
            except _MALFORMED:
                node.record_failed()
                raise UpstreamFailed(MALFORMED) from None
        raise TracesUnavailable(NOT_OFFERED)


def _traced(
    node: NodeSession, block: BlockId, calls: Sequence[SimulatedCall], overrides: Overrides
) -> list[Outcome]:
    outcomes = []
    for call in calls:
        if call.gas > UNCOUNTED_GAS:
            [count] = _read_traces(node, block, call, overrides, COUNTER)
            _require_few_calls(count)
        tracers = (transaction_traces.CALL_TRACER, state_changes.STATE_TRACER)
        answers = _read_traces(node, block, call, overrides, *tracers)
        refusal = next((answer for answer in answers if isinstance(answer, RpcError)), None)
        if refusal is not None:
            outcomes.append(Outcome(_refused(call, refusal), is_traced=True, overrides=overrides))
            continue
        trace, state = answers
        if "structLogs" in trace or (isinstance(state, dict) and "pre" not in state):
            raise _NotOffered  # it ignores the tracer, or the tracer's options
        changes = state_changes.read_prestate(state)
        frames = transaction_traces.read_call_trace(trace)
        outcomes.append(Outcome(frames, is_traced=True, changes=changes, overrides=overrides))
        _require_overridden(overrides, state)
        overrides = _after(overrides, state)
    return outcomes


def _read_traces(
    node: NodeSession,
    block: BlockId,
    call: SimulatedCall,
    overrides: Overrides,
    *tracers: Mapping[str, Any],
) -> list[Any]:
    of_each = {"timeout": step_traces.TIMEOUT, "stateOverrides": overrides}
    traces = [
        Call("debug_traceCall", (call.param(), block, {**tracer, **of_each})) for tracer in tracers
    ]
    return request_node.read(node, block, traces, transaction_traces.MAX_TRACE_BYTES)


def _require_few_calls(count: Any) -> None:
    """Raise TracesUnavailable where a node has counted too many calls inside; geth returns what
    the tracer throws. A node without tracers in JavaScript counts none."""
    is_counted = isinstance(count, list) and len(count) == 2
    if isinstance(count, RpcError):
        is_few = TOO_MANY_CALLS not in count.words
    else:
        is_few = not is_counted or (count[0] <= MAX_INNER_CALLS and count[1] <= MAX_INNER_BYTES)
    if not is_few:
        raise TracesUnavailable(MANY_CALLS)


def failing_steps(
    node: NodeSession, block: BlockId, call: SimulatedCall, overrides: Overrides, gas_used: int
) -> FailingSteps:
    """Return the last steps of calls that fail; none where the node does not give them."""
    tracers = [SIMULATION_TRACER]
    if gas_used <= MAX_LISTED_GAS:
        tracers.append(STRUCT_LOGS)
    for tracer in tracers:
        answer = _traced_by(tracer, node, block, call, overrides)
        if isinstance(answer, list | dict):
            try:
                return read_steps(answer)
            except _MALFORMED:
                return {}
    return {}


def hashed_values(
    node: NodeSession, block: BlockId, call: SimulatedCall, overrides: Overrides
) -> HashedValues:
    """Return what contracts hash in a call; nothing where the node does not give it."""
    try:
        return read_values(_traced_by(HASHING_TRACER, node, block, call, overrides))
    except _MALFORMED:
        return ()


def _traced_by(
    tracer: Mapping[str, Any],
    node: NodeSession,
    block: BlockId,
    call: SimulatedCall,
    overrides: Overrides,
) -> Any:
    """Return the result of a tracer; an empty list where the node does not answer."""
    try:
        [answer] = _read_traces(node.within(STEPS_S), block, call, overrides, tracer)
    except (UpstreamFailed, Unavailable):
        return []
    return answer


def _simulated(
    node: NodeSession, block: BlockId, calls: Sequence[SimulatedCall], overrides: Overrides
) -> list[Outcome]:
    params = [call.param() for call in calls]
    simulation = {
        "blockStateCalls": [{"stateOverrides": overrides, "calls": params}],
        "traceTransfers": True,
        "validation": False,
    }
    simulate = Call("eth_simulateV1", (simulation, block))
    [answer] = request_node.read(node, block, [simulate], transaction_traces.MAX_TRACE_BYTES)
    if isinstance(answer, RpcError):
        alone = Outcome(_refused(calls[0], answer), is_traced=False, overrides=overrides)
        if len(calls) > 1:  # it does not say which of them it refuses
            raise TracesUnavailable(TOGETHER)
        return [alone]
    [simulated] = answer
    return [
        Outcome(_alone(call, result), is_traced=False, overrides=overrides)
        for call, result in zip(calls, simulated["calls"], strict=True)
    ]


def _called(
    node: NodeSession, block: BlockId, calls: Sequence[SimulatedCall], overrides: Overrides
) -> list[Outcome]:
    if len(calls) > 1:
        raise TracesUnavailable(ONE_AT_MOST)
    [call] = calls
    params = (call.param(), block, overrides) if overrides else (call.param(), block)
    [returned] = request_node.read(
        node, block, [Call("eth_call", params)], transaction_traces.MAX_TRACE_BYTES
    )
    if isinstance(returned, RpcError):
        return [Outcome(_refused(call, returned), is_traced=False, overrides=overrides)]
    return [Outcome(_own_frame(call, output=returned), is_traced=False, overrides=overrides)]


def _own_frame(call: SimulatedCall, **results: Any) -> transaction_traces.TransactionTrace:
    """Return the trace of a call alone; `results` are those of a frame of callTracer."""
    kind = "CREATE" if call.to is None else "CALL"
    param = call.param()
    frame = {"type": kind, "to": None, **param, "input": param["data"], **results}
    return transaction_traces.read_call_trace(frame)


def _alone(call: SimulatedCall, result: Any) -> transaction_traces.TransactionTrace:
    """Return the trace of a call alone by its result of eth_simulateV1."""
    frame = {"output": result["returnData"], "gasUsed": result["gasUsed"], "logs": result["logs"]}
    if quantity(result["status"]):
        return _own_frame(call, **frame)
    error = result.get("error") or {}
    returned = node_errors.revert_data(error.get("data"))
    output = frame["output"] if returned is None else to_hex(returned)
    # Only a revert returns data, whatever the node's words are.
    has_reverted = output != "0x" or RpcError(error.get("code", 0), "").is_refusal
    message = REVERTED if has_reverted else str(error.get("message") or REVERTED)
    return _own_frame(call, **{**frame, "output": output, "error": message})


def _refused(call: SimulatedCall, error: RpcError) -> transaction_traces.TransactionTrace:
    """Return the trace of a call that failed with an error instead of a result. Raises _NotOffered,
    TracesUnavailable, UpstreamFailed where not the call is the reason."""
    if isinstance(error, AnswerTooLarge):
        raise TracesUnavailable(transaction_traces.TOO_LARGE)
    if error.is_missing_method:
        raise _NotOffered
    returned = node_errors.revert_data(error.data)
    if returned is not None:
        return _own_frame(call, error=REVERTED, output=to_hex(returned))
    if error.is_refusal:
        return _own_frame(call, error=error.message)
    raise UpstreamFailed("The node rejected the simulation.")


def _require_overridden(overrides: Overrides, state: Any) -> None:
    """Raise TracesUnavailable where an account had other values before the call than overrides
    give it: then the node ignores them."""
    for address, account in _accounts_by_address(state["pre"]).items():
        override = overrides.get(address, {})
        slots = account.get("storage") or {}
        own_slots = override.get("state", override.get("stateDiff", {}))
        names = {"balance", "nonce"} & account.keys() & override.keys()
        pairs = [(account[name], override[name]) for name in names]
        pairs += [(slots[slot], own_slots[slot]) for slot in slots.keys() & own_slots.keys()]
        if any(_number(value) != _number(given) for value, given in pairs):
            raise TracesUnavailable(IGNORES_OVERRIDES)


def _number(value: Any) -> int:
    return value if isinstance(value, int) else quantity(value)


def _after(overrides: Overrides, state: Any) -> Overrides:
    """Return the overrides that have the state which a call left, by prestateTracer's answer."""
    pre, post = (_accounts_by_address(state[side]) for side in ("pre", "post"))
    merged = {address: dict(account) for address, account in overrides.items()}
    for address in {*pre, *post}:
        if address not in post:
            merged[address] = dict(NOTHING)
            continue
        account, total = post[address], merged.setdefault(address, {})
        total |= {name: account[name] for name in ("balance", "code") if name in account}
        if "nonce" in account:
            total["nonce"] = hex(_number(account["nonce"]))
        emptied = dict.fromkeys(pre.get(address, {}).get("storage") or {}, to_hex(bytes(32)))
        if slots := {**emptied, **(account.get("storage") or {})}:
            kind = "state" if "state" in total else "stateDiff"
            total[kind] = {**total.get(kind, {}), **slots}
    return merged


def _accounts_by_address(accounts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {to_hex(data(address, 20)): account for address, account in accounts.items()}
