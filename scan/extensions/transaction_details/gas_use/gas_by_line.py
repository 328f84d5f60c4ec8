"""The gas of a transaction by lines of verified sources, without the gas of calls inside."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.explanations import mapped_code
from scan.extensions.transaction_details.explanations.mapped_code import (
    MappedCode,
    SourceFile,
    SourceFiles,
)
from scan.extensions.transaction_details.gas_use.gas_of_steps import CallPath, CodeGas, GasOfSteps
from scan.hex import to_hex
from scan.queries.reader import Sources
from scan.verification import source_maps

MAX_LINES = 200  # the costliest
MAX_CONTRACTS = 20  # whose source maps are read; the costliest: 24 KiB of code take 0.1 s


class LineGas(NamedTuple):
    """The gas of a line. `address` is the contract whose source it is, None of a build's."""

    address: bytes | None
    file: SourceFile
    line: int
    function: str | None
    text: str
    gas: int

    def record(self) -> dict[str, Any]:
        return {
            "address": None if self.address is None else to_hex(self.address),
            "file": self.file.path,
            "line": self.line,
            "function": self.function,
            "source": self.text,
            "gas": str(self.gas),
        }

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

    def record(self) -> dict[str, Any]:
        return {
            "lines": [line.record() for line in self.lines],
            "lineCount": self.line_count,
            "linesGas": str(self.lines_gas),
            "otherGas": str(self.other_gas),
            "intrinsicGas": None if self.intrinsic_gas is None else str(self.intrinsic_gas),
            "refundedGas": None if self.refunded_gas is None else str(self.refunded_gas),
            "truncated": len(self.lines) < self.line_count,
            "unproven": "lines lineCount linesGas otherGas intrinsicGas refundedGas".split(),
        }


class _Code(NamedTuple):
    """Code that ran: at the address that pages show it by, with its source map."""

    address: bytes | None
    mapped: MappedCode


def by_line(
    sources: Sources,
    gas: GasOfSteps,
    frames: Sequence[TraceFrame],
    record: Mapping[str, Any],
) -> GasByLine:
    """Return the gas of a transaction by line; `frames` are its calls, and `record` is its."""
    codes = _codes(sources, gas.codes, frames, record["blockNumber"])
    files = SourceFiles(sources.database)
    sums: Counter[tuple[bytes | None, SourceFile, int]] = Counter()
    functions: dict[tuple[bytes | None, SourceFile, int], str | None] = {}
    for code, by_offset in _merged(codes, gas.codes):
        offsets = sorted(by_offset)
        spans = source_maps.spans_at(code.mapped.code, code.mapped.source_map, offsets)
        for offset, span in zip(offsets, spans, strict=True):
            file = None if span is None else files.file(code.mapped, span.file)
            number = None if span is None or file is None else file.text.line_number(span)
            if span is None or file is None or number is None:
                continue
            line = (code.address, file, number)
            sums[line] += by_offset[offset]
            function = file.text.function_at(span)
            functions.setdefault(line, function and function.name)
    lines_gas, intrinsic, refunded = sum(sums.values()), None, None
    if gas.first is not None and record["gasLimit"] is not None:
        intrinsic = int(record["gasLimit"]) - gas.first
        refunded = intrinsic + gas.total - int(record["gasUsed"])
        # Input may cost more than what was executed (EIP-7623).
        intrinsic, refunded = intrinsic - min(refunded, 0), max(refunded, 0)
    costliest = sorted(sums, key=lambda line: (-sums[line], line[1].path, line[2]))[:MAX_LINES]
    return GasByLine(
        [
            LineGas(address, file, number, functions[line], file.text.line(number), sums[line])
            for line in costliest
            for address, file, number in [line]
        ],
        len(sums),
        lines_gas,
        gas.total - lines_gas,
        intrinsic,
        refunded,
    )


def _merged(
    codes: Mapping[bytes | CallPath, _Code], used: Sequence[CodeGas]
) -> Iterable[tuple[_Code, Mapping[int, int]]]:
    """Return codes with the gas of all calls that ran them; not of calls that ran other code."""
    merged: dict[int, tuple[_Code, Counter[int]]] = {}
    for address, path, by_offset in used:
        code = codes.get(address or path)
        if code is not None and all(offset < len(code.mapped.code) for offset in by_offset):
            _, sums = merged.setdefault(id(code.mapped), (code, Counter()))
            sums.update(by_offset)
    return merged.values()


def _codes(
    sources: Sources,
    used: Sequence[CodeGas],
    frames: Sequence[TraceFrame],
    block_number: int,
) -> dict[bytes | CallPath, _Code]:
    """Return the codes that have a source map, by their addresses or the places of their calls."""
    calls = {frame.trace_address: frame for frame in frames}
    addresses: dict[bytes | CallPath, bytes] = {}
    creations: dict[CallPath, bytes] = {}
    for address, path, _ in used:
        call = calls.get(path)
        if address is not None:
            addresses[address] = address
        elif call is not None and is_creation(call.type):
            if len(call.input) == call.input_size:
                creations[path] = call.input
        elif call is not None and call.to_address is not None:
            addresses[path] = call.to_address
    sums: Counter[bytes] = Counter()
    for address, path, by_offset in used:
        if (key := address or path) in addresses:
            sums[addresses[key]] += sum(by_offset.values())
    costliest = {address for address, _ in sums.most_common(MAX_CONTRACTS)}
    contracts = mapped_code.of_contracts(sources.database, costliest, block_number)
    codes: dict[bytes | CallPath, _Code] = {
        key: _Code(address, contracts[address])
        for key, address in addresses.items()
        if address in contracts
    }
    created = mapped_code.of_creations(sources, creations)
    codes |= {path: _Code(mapped.verified_address, mapped) for path, mapped in created.items()}
    return codes
