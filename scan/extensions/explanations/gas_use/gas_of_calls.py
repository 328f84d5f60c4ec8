"""The gas of calls: of a transaction's, from the node's trace, each alone and with the calls
inside, by function, and as boxes of a picture; and of a contract's functions, from the index. The
transaction's own call has the gas that every transaction costs and that of its input, less what was
refunded.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.contracts.abi_decoding import DecodingBudget
from scan.extensions.decoding import contract_abis
from scan.extensions.explanations.transactions import queries as explanations
from scan.extensions.explanations.transactions import trace_decoding
from scan.extensions.traces.transaction_traces import TransactionTrace
from scan.hex import data
from scan.queries.reader import Reader

recorded = recording(__file__)

MAX_FUNCTIONS = 200
MAX_BOXES = 400
MAX_DEPTH = 20
LEAST_WIDTH = 0.1  # percent; narrower boxes are not visible
COLOURS = 6
ROW = 26  # pixels

Path = tuple[int, ...]
_Function = tuple[bytes | None, bytes, str | None]


class CallGas(NamedTuple):
    """A call: its gas without and with that of the calls inside; None where the trace lacks the gas
    of any of these, or of the call itself."""

    decoded: trace_decoding.DecodedFrame
    own: int | None
    total: int | None

    @property
    def selector(self) -> bytes:
        """The selector of the called function; empty where none is called."""
        frame = self.decoded.frame
        return frame.input[:4] if trace_decoding.is_function_call(frame) else b""

    @property
    def function(self) -> "_Function":
        """The address of the code, the selector, and the function's signature if it is known."""
        function = self.decoded.function
        signature = None if function is None else function.signature
        return self.decoded.frame.to_address, self.selector, signature


class FunctionGas(NamedTuple):
    """A function of a contract: how often it was called, and its gas. `total` counts a call inside
    of another of the same function once. Both are None where a call's is not known."""

    address: bytes | None
    selector: bytes
    signature: str | None
    calls: int
    own: int | None
    total: int | None

    def record(self) -> dict[str, Any]:
        return recorded("function_gas", self) | ({} if self.selector else {"methodId": None})


class Box(NamedTuple):
    """A call in the picture: its top in pixels, and its left side and width in percent. `colour` is
    the same for all calls of a contract."""

    top: int
    left: float
    width: float
    colour: int
    call: CallGas


def gas_of_calls(frames: Sequence[trace_decoding.DecodedFrame], call_count: int) -> list[CallGas]:
    """Return the gas of the first calls of a trace, which has `call_count`, in their order.

    Flat traces lack the gas of calls that failed. Of calls that are left out, which come after
    those that are not, it is known only inside of which calls they may be.
    """
    inside: defaultdict[Path, int] = defaultdict(int)
    unknown: set[Path] = set()  # of calls that have such calls inside
    if call_count > len(frames) and frames:
        last = frames[-1].frame.trace_address
        unknown.update(last[:depth] for depth in range(len(last) + 1))
    calls: list[CallGas] = []
    # A call comes before those inside.
    for decoded in reversed(frames):
        path, total = decoded.frame.trace_address, decoded.frame.gas_used
        if total is None and decoded.frame.type == "SELFDESTRUCT":
            total = 0
        if path and total is None:
            unknown.add(path[:-1])
        elif path:
            inside[path[:-1]] += total or 0
        # A refund may make the whole less than its parts.
        own = None if total is None or path in unknown else max(0, total - inside[path])
        calls.append(CallGas(decoded, own, total))
    return calls[::-1]


def gas_by_function(calls: Sequence[CallGas]) -> list[FunctionGas]:
    """Return the functions that were called, those that took most by themselves first."""
    functions: dict[_Function, FunctionGas] = {}
    # The functions that a call is inside of, and its own.
    around: dict[Path, frozenset[_Function]] = {}
    for call in calls:
        path = call.decoded.frame.trace_address
        outer = around.get(path[:-1], frozenset()) if path else frozenset()
        around[path] = outer | {call.function}
        gas = functions.get(call.function) or FunctionGas(*call.function, 0, 0, 0)
        functions[call.function] = gas._replace(
            calls=gas.calls + 1,
            own=_plus(gas.own, call.own),
            total=gas.total if call.function in outer else _plus(gas.total, call.total),
        )
    return sorted(
        functions.values(),
        # The own gas may be all where it is not known.
        key=lambda gas: -((gas.total or 0) if gas.own is None else gas.own),
    )[:MAX_FUNCTIONS]


def _plus(sum_: int | None, gas: int | None) -> int | None:
    return None if sum_ is None or gas is None else sum_ + gas


def whole_gas(calls: Sequence[CallGas]) -> int:
    """Return the gas of which the calls' own are parts: with that which was refunded."""
    return max(sum(call.own or 0 for call in calls), *(call.total or 0 for call in calls[:1]), 0)


def boxes(calls: Sequence[CallGas]) -> list[Box]:
    """Return the calls that are wide enough to be seen, as boxes below the call that made them."""
    boxes: list[Box] = []
    children = [call.total or 0 for call in calls if len(call.decoded.frame.trace_address) == 1]
    # A refund may make the whole less than its parts.
    whole = max(1, sum(children), *(call.total or 0 for call in calls[:1]))
    colours: dict[bytes | None, int] = {}
    next_at: dict[Path, float] = {}  # where the next call inside of a call begins
    for call in calls:
        path = call.decoded.frame.trace_address
        left = next_at.get(path[:-1], 0.0) if path else 0.0
        width = 100 * (call.total or 0) / whole if path else 100.0
        next_at[path] = left
        if path:
            next_at[path[:-1]] = left + width
        colour = colours.setdefault(call.decoded.frame.to_address, len(colours) % COLOURS)
        if width >= LEAST_WIDTH and len(path) < MAX_DEPTH:
            boxes.append(Box(ROW * len(path), round(left, 3), round(width, 3), colour, call))
    return boxes[:MAX_BOXES]


def height(boxes: Sequence[Box]) -> int:
    """Return the height of the picture in pixels."""
    return ROW + max((box.top for box in boxes), default=0)


MAX_CALLS = 2_000  # of a contract: the newest
MAX_OF_METHOD = 1_000


class MethodGas(NamedTuple):
    """What calls of a method took, of the newest calls of a contract: the gas of those that did not
    fail, None where all did."""

    method_id: str | None
    function: str | None
    calls: int
    failed: int
    median: str | None
    p90: str | None
    worst: str | None

    @property
    def succeeded(self) -> int:
        return self.calls - self.failed

    def record(self) -> dict[str, Any]:
        return recorded("method_gas", self)


def transaction_gas(
    reader: Reader, record: Mapping[str, Any]
) -> tuple[TransactionTrace, list[CallGas]]:
    """Return a transaction's trace and the gas of its first calls. Raises TracesUnavailable,
    UpstreamFailed."""
    trace, frames = explanations.calls(reader, record)
    return trace, gas_of_calls(frames, trace.frame_count)


def contract_gas(reader: Reader, address: bytes) -> list[MethodGas]:
    """Return what the newest calls of a contract took, by method, those with most calls first."""
    (text,) = reader.row(
        "gas_use/transactions_list_gas", address=address, limit=MAX_CALLS, most=MAX_OF_METHOD
    )
    methods = orjson.loads(text)
    abis = reader.sources.get(contract_abis.ContractAbis)
    contract = abis.find([address], DecodingBudget()).get(address, contract_abis.NO_CONTRACT)
    return [
        MethodGas(
            method_id=method["method"],
            function=abis.function_text(data(method["method"] or "0x"), contract),
            calls=method["calls"],
            failed=method["failed"],
            median=method["median"],
            p90=method["p90"],
            worst=method["worst"],
        )
        for method in methods
    ]
