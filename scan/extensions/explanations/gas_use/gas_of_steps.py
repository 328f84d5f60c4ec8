"""The gas of a transaction's steps, by code and offset, and so by lines of verified sources,
without the gas of calls inside.

A step's gas is what is left before it less what is left before the next one of its call, without
the gas of calls inside; that of a call's last step is the rest of the call's. It counts for the
step, or the last one before it in its call, that comes from a function which the call may run:
others are of the compiler's helpers, or of code that optimizers merged. The node sums it up
by a tracer in JavaScript, where it runs one (geth, Erigon, reth, anvil). Else it is summed up from
the steps of the whole transaction without stack, memory and storage (structLogs), as far as they
are within the bound of a trace; then the deposit of created code counts as gas of the step that
creates.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.errors import UpstreamFailed
from scan.extensions.explanations.transactions import compiler_findings, mapped_code
from scan.extensions.traces.step_traces import MOST_GAS, MOST_STEPS, bounded, whole_number
from scan.extensions.traces.traces import is_creation
from scan.extensions.traces.transaction_traces import MALFORMED, TraceFrame, TraceKind
from scan.hex import data, to_hex
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


def read_gas(places: Mapping[CallPath, Collection[int]], answer: Mapping[str, Any]) -> GasOfSteps:
    """Read an answer of either way; `places` are the offsets of functions by call. Raises
    TypeError, KeyError, AttributeError or ValueError for a malformed one."""
    if "structLogs" in answer:
        return _struct_log_gas(answer["structLogs"], places)
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


def _struct_log_gas(logs: Sequence[Any], places: Mapping[CallPath, Collection[int]]) -> GasOfSteps:
    codes: list[CodeGas] = []
    frames: list[tuple[CallPath, int, Counter[int]]] = []  # the gas at their start, and of steps
    made: list[int] = []  # the calls that each of them has made
    # The offset that their last step counts for, the gas before it, its end.
    last: list[tuple[int, int, int]] = []
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
            in_function = places.get(frames[-1][0], ())
            if offset not in in_function and before in in_function:
                offset = before
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


def _kind(ran: Mapping[CallPath, "_Ran"], keys: Mapping[CallPath, str]) -> TraceKind:
    """Return how the gas of steps is read of a transaction whose calls ran these codes."""
    config = {"places": {keys[path]: code.bits for path, code in ran.items()}}
    options = TRACER | {"tracerConfig": config}, mapped_code.STRUCT_LOGS
    ways = [("debug_traceTransaction", options_of) for options_of in options]
    read = partial(read_gas, {path: code.lines for path, code in ran.items()})
    variant = hashlib.sha256(orjson.dumps(config, option=orjson.OPT_SORT_KEYS)).digest()
    marks = "codes", "structLogs"
    return TraceKind("gas of steps", ways, marks, read, _size, CACHE_BYTES, variant)


TRANSACTION_GAS = 21_000  # that a transaction costs which runs no code
MAX_LINES = 200  # the costliest
MAX_CONTRACTS = 20  # whose source maps are read; the costliest: 24 KiB of code take 0.1 s
MAX_BITS = 512 * 1024  # of all codes, by function called


_Line = tuple[bytes | None, mapped_code.SourceFile, int, str | None]


class _Ran(NamedTuple):
    """Code that a call ran: the lines, with their functions, of the offsets that come from
    functions which the call may run; the bits of these offsets as hex, the first ones lowest."""

    size: int
    lines: Mapping[int, _Line]
    bits: str


class LineGas(NamedTuple):
    """The gas of a line. `address` is the contract whose source it is, None of a build's."""

    address: bytes | None
    file: mapped_code.SourceFile
    line: int
    function: str | None
    text: str
    gas: int

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
    sources: Sources,
    frames: Sequence[TraceFrame],
    record: Mapping[str, Any],
    read: Callable[[TraceKind], GasOfSteps],
) -> GasByLine:
    """Return the gas of a transaction by line; `frames` are its calls, `record` is its, and `read`
    reads its trace."""
    keys = {frame.trace_address: _key(frame) for frame in frames}
    ran = _ran(sources, frames, record["blockNumber"])
    by_key = {keys[path]: code for path, code in ran.items()}
    gas = read(_kind(ran, keys))
    sums: Counter[_Line] = Counter()
    for address, path, by_offset, selector in gas.codes:
        key = keys.get(path, "") if address is None else f"{to_hex(address)}{selector.hex()}"
        code = by_key.get(key)
        if code is not None and all(offset < code.size for offset in by_offset):
            for offset, used in by_offset.items():
                if offset in code.lines:
                    sums[code.lines[offset]] += used
    lines_gas, intrinsic, refunded = sum(sums.values()), None, None
    if gas.first is not None and record["gasLimit"] is not None:
        if gas.first > int(record["gasLimit"]):
            raise UpstreamFailed(MALFORMED)
        intrinsic = int(record["gasLimit"]) - gas.first
        refunded = intrinsic + gas.total - int(record["gasUsed"])
        # Input may cost more than what was executed (EIP-7623).
        intrinsic, refunded = intrinsic - min(refunded, 0), max(refunded, 0)
    costliest = sorted(sums, key=lambda line: (-sums[line], line[1].path, line[2]))[:MAX_LINES]
    lines = [
        LineGas(address, file, number, function, file.text.line(number), sums[line])
        for line in costliest
        for address, file, number, function in (line,)
    ]
    return GasByLine(lines, len(sums), lines_gas, gas.total - lines_gas, intrinsic, refunded)


def _key(frame: TraceFrame) -> str:
    """Return what the tracer has the code of a call by."""
    if not frame.trace_address:
        return ""
    if is_creation(frame.type):
        return " ".join(map(str, frame.trace_address))
    return f"{to_hex(frame.to_address or b'')}{frame.input[:4].hex()}"


def _ran(sources: Sources, frames: Sequence[TraceFrame], block_number: int) -> dict[CallPath, _Ran]:
    """Return the codes that calls ran, of those that have a source map: of the contracts that used
    most gas, and of creations."""
    own: Counter[bytes | None] = Counter()
    addresses = {frame.trace_address: frame.to_address for frame in frames}
    for frame in frames:
        used, path = frame.gas_used or 0, frame.trace_address
        own[frame.to_address] += used if path else used - TRANSACTION_GAS
        if path:
            own[addresses[path[:-1]]] -= used
    created = {
        frame.trace_address: frame.input
        for frame in frames
        if is_creation(frame.type) and len(frame.input) == frame.input_size
    }
    called = {
        frame.to_address for frame in frames if frame.to_address and not is_creation(frame.type)
    }
    costliest = [address for address, _ in own.most_common() if address in called][:MAX_CONTRACTS]
    contracts = mapped_code.of_contracts(sources.database, {*costliest} - {None}, block_number)
    creations = mapped_code.of_creations(sources, created)
    files = mapped_code.SourceFiles(sources.database)
    places: dict[int, dict[int, mapped_code.Place]] = {}
    codes: dict[tuple[int, bytes | None], _Ran] = {}
    ran: dict[CallPath, _Ran] = {}
    left = MAX_BITS
    for frame in frames:
        is_created = is_creation(frame.type)
        mapped = creations.get(frame.trace_address)
        if not is_created:
            mapped = contracts.get(frame.to_address or b"")
        if mapped is None:
            continue
        key = id(mapped), None if is_created else frame.input[:4]
        if key not in codes:
            left -= len(mapped.code)
            if left < 0:
                break
            address = mapped.verified_address if is_created else frame.to_address
            if id(mapped) not in places:
                places[id(mapped)] = _places(mapped, files)
            codes[key] = _code(address, mapped, places[id(mapped)], mapped.run_by(key[1]))
        ran[frame.trace_address] = codes[key]
    return ran


def _places(
    mapped: mapped_code.MappedCode, files: mapped_code.SourceFiles
) -> dict[int, mapped_code.Place]:
    """Return the places in sources by offset."""
    offsets = [*compiler_findings.offsets_in(mapped.code)]
    spans = compiler_findings.spans_at(mapped.code, mapped.source_map, offsets)
    known = {span: files.place(mapped, span) for span in {*spans} if span is not None}
    listed = (
        (offset, known.get(span)) for offset, span in zip(offsets, spans, strict=True) if span
    )
    return {offset: place for offset, place in listed if place is not None}


def _code(
    address: bytes | None,
    mapped: mapped_code.MappedCode,
    places: Mapping[int, mapped_code.Place],
    run: mapped_code.RunFunctions | None,
) -> _Ran:
    lines_of: dict[compiler_findings.Span, _Line | None] = {}
    lines: dict[int, _Line] = {}
    for offset, place in places.items():
        if place.span not in lines_of:
            number, function = place.file.text.line_number(place.span), place.function
            is_run = run.has(place) if run else function and "reached" not in mapped.functions
            line = (address, place.file, number or 0, function and function.name)
            lines_of[place.span] = line if is_run and number else None
        if (line_of := lines_of[place.span]) is not None:
            lines[offset] = line_of
    bits = bytearray(len(mapped.code) // 4 + 1)
    for offset in lines:
        bits[offset >> 2] |= 1 << (offset & 3)
    return _Ran(len(mapped.code), lines, "".join(f"{digit:x}" for digit in bits))
