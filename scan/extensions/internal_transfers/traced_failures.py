"""Why a traced call failed, and the call in which the failure began. Pure."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.call_failures import MAX_DATA, MAX_WORDS, OTHER, REVERT, CallFailure, kind_of
from scan.extensions.internal_transfers.traces import is_creation
from scan.hex import data

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
    return own_failure(frame)._replace(
        type=str(frame["type"])[:20],
        trace_address=tuple(path),
        selector=b"" if is_creation(frame["type"]) else data(frame.get("input") or "0x")[:4],
        code_addresses=(*distinct[: MAX_CODE_ADDRESSES - 1], *distinct[-1:])
        if len(distinct) > MAX_CODE_ADDRESSES
        else distinct,
        address=None if frame.get("to") is None else data(frame["to"], 20),
    )


def own_failure(frame: Any) -> CallFailure:
    """Return the failure of one failed call, without regard to the calls that it made."""
    words = str(frame["error"])[:MAX_WORDS]
    kind = kind_of(words)
    if kind == REVERT and "output" in frame and frame["output"] is None:
        raise Undisclosed
    returned = data(frame.get("output") or "0x") if kind == REVERT else b""
    return CallFailure(kind, words if kind == OTHER else "", returned[:MAX_DATA], len(returned))


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
    positions = range(len(inner) - 1, -1, -1)
    return next(
        (n for n in positions if inner[n].get("error") and inner[n].get("output") == returned), None
    )
