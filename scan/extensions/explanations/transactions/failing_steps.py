"""The offsets at which failed calls ended.

They come from a tracer in JavaScript, which runs in the node for at most MAX_MS and returns little,
where the node runs one (geth, Erigon, reth, anvil; the last gives no error of a creation, only a
fault); else from the steps of the whole transaction without stack, memory and storage (structLogs),
as far as they are within the bound of a trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scan.extensions.traces import step_traces
from scan.extensions.traces.transaction_traces import LIST, TraceKind

# A step takes the tracer 7 us, where the node is busy 50; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 2_500
MAX_SIMULATION_MS = 1_000
STEPS = 256  # of a call that are kept: panics and checks of arguments are in code of the compiler's
MAX_CALLS = 1000
ENTRY_BYTES = 100
CACHE_BYTES = 8 * 1024 * 1024

_TRACER = Path(__file__).with_name("failing_steps.js").read_text(encoding="utf-8")
TRACER, SIMULATION_TRACER = (
    step_traces.bounded(_TRACER, most_ms, STEPS=STEPS, MAX_CALLS=MAX_CALLS)
    for most_ms in (MAX_MS, MAX_SIMULATION_MS)
)
STRUCT_LOGS = {
    "disableStack": True,
    "disableStorage": True,
    "disableMemory": True,
    "timeout": step_traces.TIMEOUT,
}
WAYS = (("debug_traceTransaction", TRACER), ("debug_traceTransaction", STRUCT_LOGS))
CALLS = frozenset("CALL CALLCODE DELEGATECALL STATICCALL CREATE CREATE2".split())
_SUCCEEDED = frozenset("STOP RETURN SELFDESTRUCT".split())

FailingSteps = Mapping[tuple[int, ...], Sequence[int]]


@dataclass
class _Call:
    """A call with its steps, how many calls it has made, and what it did last, empty where that
    failed."""

    path: tuple[int, ...]
    steps: list[int] = field(default_factory=list)
    inner: int = 0
    last: str = ""


def read_steps(answer: Any) -> FailingSteps:
    """Return the last offsets of failed calls, in their order, by the place of the call in the
    trace. Raises TypeError, KeyError or ValueError for a malformed answer."""
    if isinstance(answer, dict):
        return _failing_steps(answer["structLogs"])
    return {
        tuple(step_traces.whole_number(index, step_traces.MOST_STEPS) for index in path): [
            step_traces.whole_number(step, step_traces.MOST_STEPS) for step in steps[:STEPS]
        ]
        for path, steps in answer[:MAX_CALLS]
    }


def _failing_steps(logs: Sequence[Any]) -> FailingSteps:
    failed: dict[tuple[int, ...], Sequence[int]] = {}
    calls = [_Call(())]

    def end() -> None:
        call = calls.pop()
        if call.last not in _SUCCEEDED and len(failed) < MAX_CALLS:
            failed[call.path] = call.steps[-STEPS:]

    for step in logs:
        depth = step_traces.whole_number(step["depth"], step_traces.MOST_STEPS)
        while 1 <= depth < len(calls):
            end()
        if depth > len(calls):
            calls.append(_Call((*calls[-1].path, calls[-1].inner - 1)))
        call = calls[-1]
        call.steps.append(step_traces.whole_number(step["pc"], step_traces.MOST_STEPS))
        call.last = "" if step.get("error") else str(step["op"])
        call.inner += call.last in CALLS
    while calls:
        end()
    return failed


def _size(steps: FailingSteps) -> int:
    return sum(ENTRY_BYTES + 8 * (len(path) + len(offsets)) for path, offsets in steps.items())


FAILING_STEPS = TraceKind(
    "failing steps", WAYS, (LIST, "structLogs"), read_steps, _size, CACHE_BYTES
)
