"""The gas of calls: each alone and with the calls inside, by function, and as boxes of a picture.

Pure. Gas is as the node's trace has it. That of the transaction's own call has the gas that every
transaction costs and that of its input, less what was refunded.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scan.extensions.transaction_details.explanations.trace_decoding import DecodedFrame
from scan.hex import to_hex

MAX_FUNCTIONS = 200
MAX_BOXES = 400
MAX_DEPTH = 20
LEAST_WIDTH = 0.1  # percent; narrower boxes are not visible
COLOURS = 6
ROW = 26  # pixels

Path = tuple[int, ...]


class CallGas(NamedTuple):
    """A call: its gas without and with that of the calls inside."""

    decoded: DecodedFrame
    own: int
    total: int

    @property
    def function(self) -> tuple[bytes | None, bytes, str | None]:
        """The address of the code, the selector, and the function's signature if it is known."""
        frame, function = self.decoded.frame, self.decoded.function
        selector = b"" if frame.type.startswith("CREATE") else frame.input[:4]
        return frame.to_address, selector, None if function is None else function.signature


class FunctionGas(NamedTuple):
    """A function of a contract: how often it was called, and its gas. `total` counts a call inside
    of another of the same function once."""

    address: bytes | None
    selector: bytes
    signature: str | None
    calls: int
    own: int
    total: int

    def record(self) -> dict[str, Any]:
        return {
            "address": None if self.address is None else to_hex(self.address),
            "methodId": to_hex(self.selector) if len(self.selector) == 4 else None,
            "function": self.signature,
            "calls": self.calls,
            "ownGas": str(self.own),
            "totalGas": str(self.total),
        }


class Box(NamedTuple):
    """A call in the picture: its top in pixels, and its left side and width in percent. `colour` is
    the same for all calls of a contract."""

    top: int
    left: float
    width: float
    colour: int
    call: CallGas


def gas_of_calls(frames: Sequence[DecodedFrame]) -> list[CallGas] | None:
    """Return the gas of a trace's calls, in their order; None where the node does not give it."""
    inside: defaultdict[Path, int] = defaultdict(int)
    for decoded in frames:
        if decoded.frame.gas_used is None:
            return None
        if decoded.frame.trace_address:
            inside[decoded.frame.trace_address[:-1]] += decoded.frame.gas_used
    return [
        CallGas(
            decoded,
            max(0, (decoded.frame.gas_used or 0) - inside[decoded.frame.trace_address]),
            decoded.frame.gas_used or 0,
        )
        for decoded in frames
    ]


def by_function(calls: Sequence[CallGas]) -> list[FunctionGas]:
    """Return the functions that were called, those that took most by themselves first."""
    counts: defaultdict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
    around: dict[Path, frozenset[Any]] = {}  # the functions that a call is inside of, and its own
    for call in calls:
        path = call.decoded.frame.trace_address
        outer = around.get(path[:-1], frozenset()) if path else frozenset()
        around[path] = outer | {call.function}
        of_function = counts[call.function]
        of_function[0] += 1
        of_function[1] += call.own
        of_function[2] += 0 if call.function in outer else call.total
    functions = [FunctionGas(*function, *of_function) for function, of_function in counts.items()]
    return sorted(functions, key=lambda function: -function.own)[:MAX_FUNCTIONS]


def own_gas(calls: Sequence[CallGas]) -> int:
    """Return the gas of all calls, each without those inside."""
    return sum(call.own for call in calls)


def boxes(calls: Sequence[CallGas]) -> list[Box]:
    """Return the calls that are wide enough to be seen, as boxes below the call that made them."""
    return list(_boxes(calls))[:MAX_BOXES]


def height(boxes: Sequence[Box]) -> int:
    """Return the height of the picture in pixels."""
    return ROW + max((box.top for box in boxes), default=0)


def _boxes(calls: Sequence[CallGas]) -> Iterator[Box]:
    widths: defaultdict[Path, int] = defaultdict(int)
    for call in calls:
        if len(path := call.decoded.frame.trace_address) == 1:
            widths[()] += call.total
    # A refund may make the whole less than its parts.
    whole = max([1, widths[()], *(call.total for call in calls[:1])])
    colours: dict[bytes | None, int] = {}
    next_at: dict[Path, float] = {}  # where the next call inside of a call begins
    for call in calls:
        path = call.decoded.frame.trace_address
        left = next_at.get(path[:-1], 0.0) if path else 0.0
        width = 100 * call.total / whole if path else 100.0
        next_at[path] = left
        if path:
            next_at[path[:-1]] = left + width
        colour = colours.setdefault(call.decoded.frame.to_address, len(colours) % COLOURS)
        if width >= LEAST_WIDTH and len(path) < MAX_DEPTH:
            yield Box(ROW * len(path), round(left, 3), round(width, 3), colour, call)
