"""Where the code of failed calls ended: the offsets of their last instructions, by the node.

A tracer in JavaScript, which runs in the node, at most MAX_MS, and returns little, where the node
runs one (geth, Erigon, reth, anvil; the last gives no error of a creation, only a fault). Else the
steps of the whole transaction without stack, memory and storage (structLogs), as far as they are
within the bound of a trace.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers.step_tracers import (
    MOST_STEPS,
    TIMEOUT,
    bounded,
    whole_number,
)
from scan.extensions.internal_transfers.transaction_traces import TraceKind

# A step takes the tracer 7 us, where the node is busy 50; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 2_500
MAX_SIMULATION_MS = 1_000
STEPS = 256  # of a call that are kept: panics and checks of arguments are in code of the compiler's
MAX_CALLS = 1000
ENTRY_BYTES = 100
CACHE_BYTES = 8 * 1024 * 1024

_TRACER = """{
    calls: [], now: {path: [], inner: 0, steps: [], count: 0, fault: false}, failed: [],
    end: function(call) {
        if (this.failed.length >= MAX_CALLS) return;
        var last = call.count % STEPS;
        this.failed.push([call.path, call.count > STEPS
            ? call.steps.slice(last).concat(call.steps.slice(0, last)) : call.steps]);
    },
    step: function(log, db) { var now = this.now; now.steps[now.count++ % STEPS] = log.getPC(); },
    fault: function(log, db) { this.step(log, db); this.now.fault = true; },
    enter: function(frame) {
        var outer = this.now;
        this.calls.push(outer);
        var path = outer.path.concat([outer.inner++]);
        this.now = {path: path, inner: 0, steps: [], count: 0, fault: false};
    },
    exit: function(result) {
        if (result.getError() !== undefined || this.now.fault) this.end(this.now);
        this.now = this.calls.pop();
    },
    result: function(context, db) {
        if (context.error !== undefined) this.end(this.now);
        return this.failed;
    }
}"""
TRACER, SIMULATION_TRACER = (
    bounded(_TRACER, most_ms, STEPS=STEPS, MAX_CALLS=MAX_CALLS)
    for most_ms in (MAX_MS, MAX_SIMULATION_MS)
)
STRUCT_LOGS = {
    "disableStack": True,
    "disableStorage": True,
    "disableMemory": True,
    "timeout": TIMEOUT,
}
WAYS = (("debug_traceTransaction", TRACER), ("debug_traceTransaction", STRUCT_LOGS))
CALLS = frozenset("CALL CALLCODE DELEGATECALL STATICCALL CREATE CREATE2".split())
_SUCCEEDED = frozenset("STOP RETURN SELFDESTRUCT".split())

FailingSteps = Mapping[tuple[int, ...], Sequence[int]]


class _Call(NamedTuple):
    path: tuple[int, ...]
    steps: list[int]


def _is_steps(_method: str, answer: Any) -> bool:
    return isinstance(answer, list) or (isinstance(answer, dict) and "structLogs" in answer)


def _read(_indexed: IndexedTransaction, _method: str, answer: Any) -> FailingSteps:
    return read_steps(answer)


def read_steps(answer: Any) -> FailingSteps:
    """Return the last offsets of failed calls, in their order, by the place of the call in the
    trace. Raises TypeError, KeyError or ValueError for a malformed answer."""
    if isinstance(answer, dict):
        return _of_struct_logs(answer["structLogs"])
    return {
        tuple(whole_number(index, MOST_STEPS) for index in path): [
            whole_number(step, MOST_STEPS) for step in steps[:STEPS]
        ]
        for path, steps in answer[:MAX_CALLS]
    }


def _of_struct_logs(logs: Sequence[Any]) -> FailingSteps:
    failed: dict[tuple[int, ...], Sequence[int]] = {}
    calls = [_Call((), [])]
    inner = [0]  # the calls that each of them has made
    last = [""]  # what each of them did last, empty where that failed

    def end() -> None:
        call = calls.pop()
        inner.pop()
        if last.pop() not in _SUCCEEDED and len(failed) < MAX_CALLS:
            failed[call.path] = call.steps[-STEPS:]

    for step in logs:
        depth = whole_number(step["depth"], MOST_STEPS)
        while 1 <= depth < len(calls):
            end()
        if depth > len(calls):
            calls.append(_Call((*calls[-1].path, inner[-1] - 1), []))
            inner.append(0)
            last.append("")
        calls[-1].steps.append(whole_number(step["pc"], MOST_STEPS))
        last[-1] = "" if step.get("error") else str(step["op"])
        inner[-1] += last[-1] in CALLS
    while calls:
        end()
    return failed


def _size(steps: FailingSteps) -> int:
    return sum(ENTRY_BYTES + 8 * (len(path) + len(own)) for path, own in steps.items())


FAILING_STEPS = TraceKind("failing steps", WAYS, _is_steps, _read, _size, CACHE_BYTES)
