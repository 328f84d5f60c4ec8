"""The gas of a transaction's steps, by code and offset, summed up by the node.

A tracer in JavaScript, where the node runs one (geth, Erigon, reth, anvil). Else the steps of the
whole transaction without stack, memory and storage (structLogs), as far as they are within the
bound of a trace; then the deposit of created code counts as gas of the step that creates.

A step's gas is what is left before it less what is left before the next one of its call, without
the gas of calls inside; that of a call's last step is the rest of the call's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers.step_tracers import (
    MOST_GAS,
    MOST_STEPS,
    bounded,
    whole_number,
)
from scan.extensions.internal_transfers.transaction_traces import TraceKind
from scan.extensions.transaction_details.explanations.failing_steps import (
    CALLS,
    STRUCT_LOGS,
)
from scan.hex import data

# A step takes the tracer 10 us; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 2_500
MAX_CODES = 500
MAX_OFFSETS = 200_000  # of all codes together
MAX_PATHS = 200_000  # numbers in the paths of all calls: the 63/64 of gas end them far before
MAX_KEY = 2_000  # characters
ENTRY_BYTES = 200
OFFSET_BYTES = 120
CACHE_BYTES = 16 * 1024 * 1024
_REVERT, _RETURN = 0xFD, 0xF3

_TRACER = """{
    calls: [], now: null, codes: {}, count: 0, first: -1, other: 0,
    frame: function(path, key) {
        var code = this.codes[key];
        if (code === undefined && this.count < MAX_CODES) {
            this.count++;
            code = this.codes[key] = {};
        }
        return {path: path, code: code, made: 0, pc: -1, start: 0, gas: 0, inner: 0};
    },
    add: function(now, gas) {
        if (now.pc < 0 || now.code === undefined) this.other += gas;
        else now.code[now.pc] = (now.code[now.pc] || 0) + gas;
    },
    expansion: function(log) {
        var offset = parseInt(log.stack.peek(0).toString(10), 10);
        var size = parseInt(log.stack.peek(1).toString(10), 10);
        var words = Math.ceil((offset + size) / 32), before = Math.ceil(log.memory.length() / 32);
        if (!size || words <= before) return 0;
        return 3 * (words - before) + Math.floor(words * words / 512)
            - Math.floor(before * before / 512);
    },
    step: function(log, db) {
        var gas = log.getGas(), now = this.now, code, pc;
        if (now === null) {
            this.first = gas;
            now = this.now = this.frame([], "");
        }
        pc = now.pc;
        if (pc < 0) now.start = gas;
        else if ((code = now.code) !== undefined)
            code[pc] = (code[pc] || 0) + now.gas - gas - now.inner;
        else this.other += now.gas - gas - now.inner;
        now.pc = log.getPC();
        now.gas = gas;
        now.inner = 0;
        if (this.calls.length === 0) {
            now.op = log.op.toNumber();
            now.end = now.op === REVERT || now.op === RETURN ? this.expansion(log) : 0;
        }
    },
    fault: function(log, db) {},
    enter: function(frame) {
        var outer = this.now, type = frame.getType();
        if (outer === null) outer = this.frame([], "");
        var path = outer.path.concat([outer.made++]);
        this.calls.push(outer);
        this.now = this.frame(path, type === "CREATE" || type === "CREATE2"
            ? path.join(" ") : toHex(frame.getTo()));
    },
    exit: function(result) {
        var now = this.now, used = result.getGasUsed();
        this.add(now, used - (now.start - now.gas) - now.inner);
        this.now = this.calls.pop();
        this.now.inner += used;
    },
    result: function(context, db) {
        var now = this.now;
        if (now !== null && now.pc >= 0) {
            var all = context.error !== undefined && now.op !== REVERT;
            var created = context.type === "CREATE" && context.error === undefined;
            var deposit = created && context.output ? 200 * context.output.length : 0;
            this.add(now, (all ? now.gas : Math.min(now.end, now.gas) + deposit) - now.inner);
        }
        return {first: this.first, other: this.other, codes: this.codes};
    }
}"""
TRACER = bounded(_TRACER, MAX_MS, MAX_CODES=MAX_CODES, REVERT=_REVERT, RETURN=_RETURN)
WAYS = (("debug_traceTransaction", TRACER), ("debug_traceTransaction", STRUCT_LOGS))
_ENDS = frozenset("STOP RETURN REVERT SELFDESTRUCT".split())

CallPath = tuple[int, ...]


class CodeGas(NamedTuple):
    """The gas of a code's steps, by their offsets. The code is that at `address`, or else that of
    the call or creation at `path`."""

    address: bytes | None
    path: CallPath
    by_offset: Mapping[int, int]


class GasOfSteps(NamedTuple):
    """The gas left before the first step, None of a transaction that runs no code; the gas of
    codes, and that of calls without steps, such as of precompiled contracts."""

    first: int | None
    codes: Sequence[CodeGas]
    other: int

    @property
    def total(self) -> int:
        return self.other + sum(sum(code.by_offset.values()) for code in self.codes)


def _is_gas(_method: str, answer: Any) -> bool:
    return isinstance(answer, dict) and ("codes" in answer or "structLogs" in answer)


def read_gas(answer: Mapping[str, Any]) -> GasOfSteps:
    """Read an answer of either way. Raises TypeError, KeyError, AttributeError or ValueError for a
    malformed one."""
    if "structLogs" in answer:
        return _of_struct_logs(answer["structLogs"])
    first = None if answer["first"] == -1 else whole_number(answer["first"], MOST_GAS)
    if sum(map(len, answer["codes"].values())) > MAX_OFFSETS:
        raise ValueError("too many steps")
    codes = [*_codes(answer["codes"])]
    return _consistent(GasOfSteps(first, codes, whole_number(answer["other"], MOST_GAS)))


def _consistent(gas: GasOfSteps) -> GasOfSteps:
    """Raise ValueError where an offset has negative gas, or the steps took more than there was."""
    least = min((least for code in gas.codes for least in code.by_offset.values()), default=0)
    if least < 0 or gas.total > (gas.first or 0):
        raise ValueError("the gas of steps does not add up")
    return gas


def _codes(given: Mapping[str, Mapping[str, Any]]) -> Iterator[CodeGas]:
    if len(given) > MAX_CODES:
        raise ValueError("too many codes")
    for key, by_offset in given.items():
        if len(key) > MAX_KEY:
            raise ValueError("too many calls")
        is_address = key.startswith("0x")
        yield CodeGas(
            data(key, 20) if is_address else None,
            () if is_address else tuple(map(int, key.split())),
            {
                whole_number(int(offset), MOST_STEPS): whole_number(gas, MOST_GAS)
                for offset, gas in by_offset.items()
            },
        )


class _Frame(NamedTuple):
    path: CallPath
    start: int
    by_offset: Counter[int]


def _of_struct_logs(logs: Sequence[Any]) -> GasOfSteps:
    codes: list[CodeGas] = []
    frames: list[_Frame] = []
    made: list[int] = []  # the calls that each of them has made
    last: list[
        tuple[int, int, int]
    ] = []  # the offset of their last step, the gas before it, its end
    inner: list[int] = []  # the gas of calls inside of that step
    in_paths = 0

    def end() -> None:
        path, start, by_offset = frames.pop()
        offset, gas, cost = last.pop()
        by_offset[offset] += cost - inner.pop()
        made.pop()
        codes.append(CodeGas(None, path, by_offset))
        if inner:
            inner[-1] += start - gas + cost

    for step in logs:
        depth, offset = (whole_number(step[name], MOST_STEPS) for name in ("depth", "pc"))
        gas, cost = (whole_number(step[name], MOST_GAS) for name in ("gas", "gasCost"))
        while 1 <= depth < len(frames):
            end()
        if depth > len(frames):
            path = (*frames[-1].path, made[-1] - 1) if frames else ()
            in_paths += len(path)
            if in_paths > MAX_PATHS:
                raise ValueError("too many calls")
            frames.append(_Frame(path, gas, Counter()))
            made.append(0)
            last.append((offset, gas, 0))
            inner.append(0)
        else:
            before, left, _ = last[-1]
            frames[-1].by_offset[before] += left - gas - inner[-1]
            inner[-1] = 0
        op = str(step["op"])
        has_ended = op in _ENDS and not step.get("error")
        is_paid = has_ended or op == "REVERT"
        last[-1] = offset, gas, min(gas, cost) if is_paid else gas
        made[-1] += op in CALLS
    while frames:
        end()
    first = whole_number(logs[0]["gas"], MOST_GAS) if logs else None
    return _consistent(GasOfSteps(first, codes, 0))


def _size(gas: GasOfSteps) -> int:
    return sum(ENTRY_BYTES + OFFSET_BYTES * len(code.by_offset) for code in gas.codes)


def _read(_indexed: IndexedTransaction, _method: str, answer: Any) -> GasOfSteps:
    return read_gas(answer)


GAS_OF_STEPS = TraceKind("gas of steps", WAYS, _is_gas, _read, _size, CACHE_BYTES)
