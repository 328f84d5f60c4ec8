"""The gas of a transaction's steps, by code and offset, and so by lines of verified sources,
without the gas of calls inside.

A step's gas is what is left before it less what is left before the next one of its call, without
the gas of calls inside; that of a call's last step is the rest of the call's. The node sums it up
by a tracer in JavaScript, where it runs one (geth, Erigon, reth, anvil). Else it is summed up from
the steps of the whole transaction without stack, memory and storage (structLogs), as far as they
are within the bound of a trace; then the deposit of created code counts as gas of the step that
creates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.extensions.explanations.transactions import compiler_findings, mapped_code
from scan.extensions.traces.step_traces import MOST_GAS, MOST_STEPS, bounded, whole_number
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import TraceFrame, TraceKind
from scan.hex import data
from scan.queries.reader import Sources

recorded = recording(__file__)

# A step takes the tracer 10 us; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 2_500
MAX_CODES = 500
MAX_OFFSETS = 200_000  # of all codes together
MAX_PATHS = 200_000  # numbers in the paths of all calls: the 63/64 of gas end them far before
ADDRESS_CHARACTERS = 42  # of a key, before the selector
MAX_KEY = 2_000  # characters
ENTRY_BYTES = 200
OFFSET_BYTES = 120
CACHE_BYTES = 16 * 1024 * 1024
_REVERT, _RETURN = 0xFD, 0xF3

_TRACER = Path(__file__).with_name("gas_of_steps.js").read_text(encoding="utf-8")
TRACER = bounded(_TRACER, MAX_MS, MAX_CODES=MAX_CODES, REVERT=_REVERT, RETURN=_RETURN)
WAYS = (("debug_traceTransaction", TRACER), ("debug_traceTransaction", mapped_code.STRUCT_LOGS))
_ENDS = frozenset("STOP RETURN REVERT SELFDESTRUCT".split())

CallPath = tuple[int, ...]


class CodeGas(NamedTuple):
    """The gas of a code's steps, by their offsets. The code is that at `address` in calls with a
    selector, or else that of the call or creation at `path`."""

    address: bytes | None
    path: CallPath
    by_offset: Mapping[int, int]
    selector: bytes = b""


class GasOfSteps(NamedTuple):
    """The gas left before the first step, None of a transaction that runs no code; the gas of
    codes, and that of calls without steps, such as of precompiled contracts."""

    first: int | None
    codes: Sequence[CodeGas]
    other: int

    @property
    def total(self) -> int:
        return self.other + sum(sum(code.by_offset.values()) for code in self.codes)


def read_gas(answer: Mapping[str, Any]) -> GasOfSteps:
    """Read an answer of either way. Raises TypeError, KeyError, AttributeError or ValueError for a
    malformed one."""
    if "structLogs" in answer:
        return _struct_log_gas(answer["structLogs"])
    first = None if answer["first"] == -1 else whole_number(answer["first"], MOST_GAS)
    if sum(map(len, answer["codes"].values())) > MAX_OFFSETS:
        raise ValueError("too many steps")
    other = whole_number(answer["other"], MOST_GAS)
    return _consistent(GasOfSteps(first, [*_codes(answer["codes"])], other))


def _consistent(gas: GasOfSteps) -> GasOfSteps:
    """Raise ValueError where an offset has negative gas, or the steps took more than there was."""
    least = min((least for code in gas.codes for least in code.by_offset.values()), default=0)
    if least < 0 or gas.total > (gas.first or 0):
        raise ValueError("the gas of steps does not add up")
    return gas


def _codes(gas_by_code: Mapping[str, Mapping[str, Any]]) -> Iterator[CodeGas]:
    if len(gas_by_code) > MAX_CODES:
        raise ValueError("too many codes")
    for key, by_offset in gas_by_code.items():
        if len(key) > MAX_KEY:
            raise ValueError("too many calls")
        sums = {
            whole_number(int(offset), MOST_STEPS): whole_number(gas, MOST_GAS)
            for offset, gas in by_offset.items()
        }
        if key.startswith("0x"):
            selector = data(f"0x{key[ADDRESS_CHARACTERS:]}")[:4]
            yield CodeGas(data(key[:ADDRESS_CHARACTERS], 20), (), sums, selector)
        else:
            yield CodeGas(None, tuple(map(int, key.split())), sums)


def _struct_log_gas(logs: Sequence[Any]) -> GasOfSteps:
    codes: list[CodeGas] = []
    frames: list[tuple[CallPath, int, Counter[int]]] = []  # the gas at their start, and of steps
    made: list[int] = []  # the calls that each of them has made
    last: list[tuple[int, int, int]] = []  # their last step's offset, the gas before it, its end
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
            path = (*frames[-1][0], made[-1] - 1) if frames else ()
            in_paths += len(path)
            if in_paths > MAX_PATHS:
                raise ValueError("too many calls")
            frames.append((path, gas, Counter()))
            made.append(0)
            last.append((offset, gas, 0))
            inner.append(0)
        else:
            before, left, _ = last[-1]
            frames[-1][2][before] += left - gas - inner[-1]
            inner[-1] = 0
        op = str(step["op"])
        is_paid = op == "REVERT" or (op in _ENDS and not step.get("error"))
        last[-1] = offset, gas, min(gas, cost) if is_paid else gas
        made[-1] += op in mapped_code.CALLS
    while frames:
        end()
    first = whole_number(logs[0]["gas"], MOST_GAS) if logs else None
    return _consistent(GasOfSteps(first, codes, 0))


def _size(gas: GasOfSteps) -> int:
    return sum(ENTRY_BYTES + OFFSET_BYTES * len(code.by_offset) for code in gas.codes)


GAS_OF_STEPS = TraceKind(
    "gas of steps", WAYS, ("codes", "structLogs"), read_gas, _size, CACHE_BYTES
)


MAX_LINES = 200  # the costliest
MAX_CONTRACTS = 20  # whose source maps are read; the costliest: 24 KiB of code take 0.1 s


# Code that ran, with the address that pages show it by, and a line of such code.
_Code = tuple[bytes | None, mapped_code.MappedCode]
_Line = tuple[bytes | None, mapped_code.SourceFile, int]


class LineGas(NamedTuple):
    """The gas of a line. `address` is the contract whose source it is, None of a build's. `shared`
    is what code took that the optimizer merged with another function's: of a line of `function`,
    which is not known."""

    address: bytes | None
    file: mapped_code.SourceFile
    line: int
    function: str | None
    text: str
    gas: int
    shared: int

    def record(self) -> dict[str, Any]:
        return recorded("line_gas", self)

    @property
    def anchor(self) -> str:
        """The id of the line on the page of the file."""
        return self.file.anchor(self.line)


class GasByLine(NamedTuple):
    """The gas of a transaction: of the costliest lines, of all `line_count` lines, of code without
    a line and calls without code, of the transaction itself, and what was refunded. The last two
    are None where the transaction's limit, or its first step, is not known."""

    lines: Sequence[LineGas]
    line_count: int
    lines_gas: int
    other_gas: int
    intrinsic_gas: int | None
    refunded_gas: int | None

    @property
    def is_truncated(self) -> bool:
        return len(self.lines) < self.line_count


def gas_by_line(
    sources: Sources, gas: GasOfSteps, frames: Sequence[TraceFrame], record: Mapping[str, Any]
) -> GasByLine:
    """Return the gas of a transaction by line; `frames` are its calls, and `record` is its."""
    codes = _mapped_codes(sources, gas.codes, frames, record["blockNumber"])
    files = mapped_code.SourceFiles(sources.database)
    sums: Counter[_Line] = Counter()
    shared: Counter[_Line] = Counter()
    functions: dict[_Line, str | None] = {}
    selectors = {frame.trace_address: frame.input[:4] for frame in frames}
    for (address, mapped), by_selector in _merged(codes, gas.codes, selectors):
        offsets = sorted(set().union(*by_selector.values()))
        spans = compiler_findings.spans_at(mapped.code, mapped.source_map, offsets)
        listed = [span and files.place(mapped, span) for span in spans]
        places = dict(zip(offsets, listed, strict=True))
        for selector, by_offset in by_selector.items():
            run = mapped.run_by(selector)
            called = files.place(mapped, run.called) if run and run.called else None
            for offset, used in by_offset.items():
                place = places[offset]
                is_shared = bool(run and place and not run.has(place))
                place = called if is_shared else place
                number = place and place.file.text.line_number(place.span)
                if place is None or number is None:
                    continue
                line = (address, place.file, number)
                sums[line] += used
                shared[line] += used * is_shared
                functions.setdefault(line, place.function and place.function.name)
    lines_gas, intrinsic, refunded = sum(sums.values()), None, None
    if gas.first is not None and record["gasLimit"] is not None:
        intrinsic = int(record["gasLimit"]) - gas.first
        refunded = intrinsic + gas.total - int(record["gasUsed"])
        # Input may cost more than what was executed (EIP-7623).
        intrinsic, refunded = intrinsic - min(refunded, 0), max(refunded, 0)
    costliest = sorted(sums, key=lambda line: (-sums[line], line[1].path, line[2]))[:MAX_LINES]
    lines = [
        LineGas(*line, functions[line], line[1].text.line(line[2]), sums[line], shared[line])
        for line in costliest
    ]
    return GasByLine(lines, len(sums), lines_gas, gas.total - lines_gas, intrinsic, refunded)


def _merged(
    codes: Mapping[bytes | CallPath, _Code],
    used: Sequence[CodeGas],
    selectors: Mapping[CallPath, bytes],
) -> Iterable[tuple[_Code, Mapping[bytes, Mapping[int, int]]]]:
    """Return codes with the gas of all calls that ran them, by selector; not of calls that ran
    other code. `selectors` are those of calls."""
    merged: dict[int, tuple[_Code, defaultdict[bytes, Counter[int]]]] = {}
    for address, path, by_offset, selector in used:
        code = codes.get(address or path)
        if code is not None and all(offset < len(code[1].code) for offset in by_offset):
            _, sums = merged.setdefault(id(code[1]), (code, defaultdict(Counter)))
            sums[selector if address else selectors.get(path, b"")].update(by_offset)
    return merged.values()


def _mapped_codes(
    sources: Sources, used: Sequence[CodeGas], frames: Sequence[TraceFrame], block_number: int
) -> dict[bytes | CallPath, _Code]:
    """Return the codes that have a source map, by their addresses or the places of their calls."""
    calls = {frame.trace_address: frame for frame in frames}
    addresses: dict[bytes | CallPath, bytes] = {}
    creations: dict[CallPath, bytes] = {}
    for address, path, *_ in used:
        call = calls.get(path)
        if address is not None:
            addresses[address] = address
        elif call is not None and is_creation(call.type):
            if len(call.input) == call.input_size:
                creations[path] = call.input
        elif call is not None and call.to_address is not None:
            addresses[path] = call.to_address
    sums: Counter[bytes] = Counter()
    for address, path, by_offset, _ in used:
        if (key := address or path) in addresses:
            sums[addresses[key]] += sum(by_offset.values())
    costliest = {address for address, _ in sums.most_common(MAX_CONTRACTS)}
    contracts = mapped_code.of_contracts(sources.database, costliest, block_number)
    codes: dict[bytes | CallPath, _Code] = {
        key: (address, contracts[address])
        for key, address in addresses.items()
        if address in contracts
    }
    created = mapped_code.of_creations(sources, creations)
    return codes | {path: (mapped.verified_address, mapped) for path, mapped in created.items()}
