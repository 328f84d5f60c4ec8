"""Traces of the EVM's steps, for what a node's own tracers do not tell: a transaction's calls, in
callTracer's form, from nodes that have no tracers (Hardhat, Ganache, EthereumJS), and the failure
of a call with the call in which it began. Pure.

A step (structLogs) has the depth of its call, the name of its instruction and the stack before it;
the result of a call or creation is on top of the stack of the next step at its depth. Tracers in
JavaScript, which a node calls at each step, are bounded in time by themselves: geth ends one after
the time-out of its options, but anvil ignores that, goes on when nobody waits any more, and serves
no other request meanwhile.
"""

from collections.abc import Sequence
from typing import Any

from scan.ethereum import node_errors
from scan.ethereum.blocks import DecodedTransaction
from scan.ethereum.node_errors import MAX_DATA, MAX_WORDS, OTHER, REVERT, CallFailure, kind_of
from scan.extensions.traces.traces import is_creation
from scan.hex import BadHex, data, to_hex

# Positions of operands on the stack, from its top: the called address, and the value (0: none).
_CALLS = {"CALL": (2, 3), "CALLCODE": (2, 3), "DELEGATECALL": (2, 0), "STATICCALL": (2, 0)}
UNKNOWN_INPUT = "0x00000000"  # the memory that has it is not asked for
_BORROWING = ("DELEGATECALL", "CALLCODE")

Frame = dict[str, Any]


def read_steps(transaction: DecodedTransaction, steps: Sequence[Any]) -> tuple[Frame, bool]:
    """Return the outermost frame of a transaction that succeeded, and whether all moved value is
    known.

    It is unknown where a contract destroyed itself, as its balance is on no stack, and without
    steps, which some nodes do not record. Raises BadHex, KeyError, TypeError, IndexError or
    ValueError for malformed steps.
    """
    to = transaction.contract_address or transaction.to_address
    outermost: Frame = {
        "type": "CALL" if transaction.contract_address is None else "CREATE",
        "from": to_hex(transaction.from_address),
        "to": None if to is None else to_hex(to),
        "value": hex(transaction.value),
        "calls": [],
    }
    running: list[Frame] = [outermost]
    begun: Frame | None = None
    for step in steps:
        depth = step["depth"]
        if begun is not None and depth == len(running) + 1:
            running.append(begun)
            begun = None
        elif depth == len(running) - 1:
            begun = running.pop()
        elif depth != len(running):
            raise BadHex(f"a step of depth {depth} follows one of depth {len(running)}")
        if begun is not None:
            # An instruction's result on the stack: the created address, or 0 if it failed.
            result = _operand(step, 1)
            if result == 0:
                begun["error"] = "failed"
            elif is_creation(begun["type"]):
                begun["to"] = _address(result)
            begun = None
        begun = _called(running[-1], step)
    if begun is not None or len(running) > 1:
        raise BadHex("the steps end inside a call")
    return outermost, _complete(outermost) and len(steps) > 0


def _called(frame: Frame, step: Any) -> Frame | None:
    """Return the frame that a step begins, and add it to its caller's calls; None if it begins
    none."""
    kind = step["op"]
    if kind == "SELFDESTRUCT":
        frame["calls"].append({"type": kind, "to": None, "calls": []})
        return None
    if kind in _CALLS:
        party, value = _CALLS[kind]
        to = _address(_operand(step, party))
        inner: Frame = {"to": to, "value": hex(_operand(step, value)) if value else "0x0"}
    elif is_creation(kind):
        inner = {"to": None, "value": hex(_operand(step, 1))}
    else:
        return None
    inner |= {"type": kind, "input": UNKNOWN_INPUT, "calls": []}
    frame["calls"].append(inner)
    return inner


def _complete(outermost: Frame) -> bool:
    """Set the caller of each frame that did not fail, now that created contracts have addresses.
    Return whether no contract destroyed itself."""
    pending, destroys = [outermost], False
    while pending:
        frame = pending.pop()
        caller = frame["from" if frame["type"] in _BORROWING else "to"]
        inner = [called for called in frame["calls"] if "error" not in called]
        for called in inner:
            called["from"] = caller
            destroys = destroys or called["type"] == "SELFDESTRUCT"
        pending += inner
    return not destroys


def _operand(step: Any, depth: int) -> int:
    return int(step["stack"][-depth], 16)


def _address(word: int) -> str:
    return f"0x{word % 2**160:040x}"


TIMEOUT = "3s"  # of geth, which by default goes on for 5 s
TOO_SLOW = "too slow"  # the result of a tracer that ended itself, or what it throws
LEAST_STEPS = 20_000  # whatever they take: 0.2 s of anvil, on a busy machine 1 s
_STEPS = 64  # after which the time is looked at again
MOST_GAS = 2**53 - 1  # exact in JavaScript
MOST_STEPS = 2**31 - 1  # offsets, depths and numbers of calls
_STEP, _RESULT = "step: function(log, db) {", "result: function(context, db) {"


def bounded(source: str, most_ms: int, **bounds: int) -> dict[str, Any]:
    """Return the options of a tracer that runs `source`, an object with the functions step and
    result, for at most `most_ms`, or LEAST_STEPS. `bounds` are numbers by their names in it.

    Where step throws, anvil ends a call alone, whose caller may go on: so each later step does.
    """
    is_time = f"++this.stepped > {LEAST_STEPS} && this.stepped % {_STEPS} === 0"
    late = f"{is_time} && Date.now() - this.began > {most_ms}"
    stop = f"if (this.late || (this.late = {late})) throw '{TOO_SLOW}';"
    text = source.replace("{", "{ stepped: 0, late: false, began: Date.now(),", 1)
    text = text.replace(_STEP, f"{_STEP} {stop}")
    text = text.replace(_RESULT, f"{_RESULT} if (this.late) return '{TOO_SLOW}';")
    for name, value in bounds.items():
        text = text.replace(name, str(value))
    return {"tracer": " ".join(text.split()), "timeout": TIMEOUT}


def whole_number(value: object, most: int) -> int:
    """Return a number of a tracer's result or of a step, from 0 to `most`; JavaScript has one type
    of numbers. Raises ValueError for another value."""
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError("a number of the trace is not one, or out of its range")
    return int(value)


MAX_CODE_ADDRESSES = 16


class Undisclosed(Exception):
    """The node does not give the data that a reverting call returned, as some old nodes."""


def failure_in(outermost: Any) -> CallFailure | None:
    """Return the failure in a trace in callTracer's format; None where the transaction succeeded.

    Raises Undisclosed, and BadHex, KeyError, TypeError or AttributeError for a malformed trace.
    """
    if not outermost.get("error"):
        return None
    frames, path = [outermost], []
    while (position := _cause(frames[-1])) is not None:
        path.append(position)
        frames.append(frames[-1]["calls"][position])
    addresses = [data(f["to"], 20) for f in reversed(frames) if f.get("to") is not None]
    distinct = tuple(dict.fromkeys(addresses))
    *_, frame = frames
    if len(distinct) > MAX_CODE_ADDRESSES:
        distinct = (*distinct[: MAX_CODE_ADDRESSES - 1], *distinct[-1:])
    return own_failure(frame)._replace(
        type=str(frame["type"])[:20],
        trace_address=tuple(path),
        selector=b"" if is_creation(frame["type"]) else data(frame.get("input") or "0x")[:4],
        code_addresses=distinct,
        address=None if frame.get("to") is None else data(frame["to"], 20),
    )


def own_failure(frame: Any) -> CallFailure:
    """Return the failure of one failed call, without regard to the calls that it made."""
    words = str(frame["error"])[:MAX_WORDS]
    kind = kind_of(words)
    if kind == REVERT and "output" in frame and frame["output"] is None:
        raise Undisclosed
    returned = data(frame.get("output") or "0x") if kind == REVERT else b""
    words = node_errors.without_addresses(words) if kind == OTHER else ""
    return CallFailure(kind, words, returned[:MAX_DATA], len(returned))


def _cause(frame: Any) -> int | None:
    """Return the position of the inner call whose failure a call passes on, as Solidity does by
    default; None where the call failed by itself.

    It is the last inner call that failed with the same data. A call that reverts without data
    passes on the failure of its last inner call if that returned none either (out of gas, a revert
    without a reason). A call that did not revert failed by itself.
    """
    inner: Sequence[Any] = frame.get("calls") or ()
    if not inner or kind_of(str(frame["error"])[:MAX_WORDS]) != REVERT:
        return None
    returned = frame.get("output") or "0x"
    if returned == "0x":
        last = inner[-1]
        passes_on = last.get("error") and (last.get("output") or "0x") == "0x"
        return len(inner) - 1 if passes_on else None
    for position in range(len(inner) - 1, -1, -1):
        if inner[position].get("error") and inner[position].get("output") == returned:
            return position
    return None
