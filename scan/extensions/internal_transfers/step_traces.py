"""A transaction's steps through the EVM (structLogs), read into callTracer's frames. Pure.

Nodes that have no tracers need it, such as those of Hardhat, Ganache and EthereumJS. A step has the
depth of its call, the name of its instruction and the stack before it; the result of a call or
creation is on top of the stack of the next step at its depth.
"""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.blocks import DecodedTransaction
from scan.extensions.internal_transfers.traces import is_creation
from scan.hex import BadHex, to_hex

# Positions of operands on the stack, from its top: the called address, and the value (0: none).
_CALLS = {"CALL": (2, 3), "CALLCODE": (2, 3), "DELEGATECALL": (2, 0), "STATICCALL": (2, 0)}
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
        frame["destroys"] = True
        return None
    if kind in _CALLS:
        party, value = _CALLS[kind]
        to = _address(_operand(step, party))
        inner: Frame = {"to": to, "value": hex(_operand(step, value)) if value else "0x0"}
    elif is_creation(kind):
        inner = {"to": None, "value": hex(_operand(step, 1))}
    else:
        return None
    inner |= {"type": kind, "calls": []}
    frame["calls"].append(inner)
    return inner


def _complete(outermost: Frame) -> bool:
    """Set the caller of each frame that did not fail, now that created contracts have addresses.
    Return whether no contract destroyed itself."""
    pending, destroys = [outermost], False
    while pending:
        frame = pending.pop()
        destroys = destroys or "destroys" in frame
        caller = frame["from" if frame["type"] in _BORROWING else "to"]
        inner = [called for called in frame["calls"] if "error" not in called]
        for called in inner:
            called["from"] = caller
        pending += inner
    return not destroys


def _operand(step: Any, depth: int) -> int:
    return int(step["stack"][-depth], 16)


def _address(word: int) -> str:
    return f"0x{word % 2**160:040x}"
