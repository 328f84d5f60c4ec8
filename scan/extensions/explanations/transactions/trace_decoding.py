"""A transaction's trace with its calls, their results, errors and logs decoded."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.api.renamed_fields import recording
from scan.contracts import abi_decoding, revert_reasons
from scan.contracts.proxy_contracts import Proxy
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeSession
from scan.ethereum.stored_blocks import TransactionLog
from scan.extensions.decoding import contract_abis, decoding
from scan.extensions.decoding.details import MAX_CONTRACTS
from scan.extensions.explanations.transactions import console_logs, precompiles
from scan.extensions.explanations.transactions.failure_locations import Location
from scan.extensions.traces import traces, transaction_traces
from scan.hex import to_hex

recorded = recording(__file__)

LAST_PRECOMPILED = 0xFFFF  # addresses up to this one have no functions


class DecodedFrame(NamedTuple):
    """A decoded call of a trace. `result` is None where the function's outputs are unknown, and
    `location` the line in which it failed; `contradiction` says in a sentence that it was passed on
    to another contract than the implementation that is stated; `console_text` is what a call of
    console.log says."""

    frame: transaction_traces.TraceFrame
    function: abi_decoding.Decoded | None
    result: Sequence[abi_decoding.Argument] | None
    reason: revert_reasons.Reason | None
    logs: Sequence[tuple[TransactionLog, abi_decoding.Decoded | None]] | None
    location: Location | None = None
    contradiction: str | None = None
    console_text: str | None = None

    def record(self) -> dict[str, Any]:
        fields = recorded("frame", self)
        fields["depth"] = len(self.frame.trace_address)
        fields["logs"] = None if self.logs is None else [log_record(*log) for log in self.logs]
        if self.reason is not None:
            location = None if self.location is None else self.location.record()
            fields["error"] = {**self.reason.record(), "location": location}
        return fields


def log_record(log: TransactionLog, event: abi_decoding.Decoded | None) -> dict[str, Any]:
    """Return a log with its event as JSON's values."""
    return decoding.recorded("log", log) | {"event": None if event is None else event.record()}


def decode_trace(
    trace: transaction_traces.TransactionTrace,
    block: contract_abis.Block,
    abis: contract_abis.ContractAbis,
    node: NodeSession,
    implementations: Mapping[bytes, Sequence[bytes]] = {},
) -> list[DecodedFrame]:
    """Decode a trace with the ABIs, at a block, of its first MAX_CONTRACTS contracts, within one
    budget: those of proxies with the ABIs of what they passed the calls on to. `implementations`
    are those of proxies that have others than at the block."""
    budget = abi_decoding.DecodingBudget()
    addresses = dict.fromkeys(
        address
        for frame in trace.frames
        for address in (frame.to_address, *(log.address for log in frame.logs or ()))
        if address is not None
    )
    first = [*addresses][:MAX_CONTRACTS]
    seen = {**transaction_traces.implementations_in(trace.frames), **implementations}
    contracts = abis.find_at_or_now(first, block, node, budget, seen)
    imported = abis.imported_if_needed(_selectors(trace.frames))
    targets = transaction_traces.passed_on(trace.frames)
    # Those that logged are in the trace, and not of what proxies have at the block.
    emitters = {contract_abis.Emitter(address, block) for address in first}
    own = {e.address: contract for e, contract in abis.contracts(emitters, budget).items()}
    codes = transaction_traces.codes_in(trace.frames)
    others = [abi for contract in own.values() for abi in contract.abis]
    said = dict(console_logs.printed(trace).lines)
    last = {frame.trace_address[:-1]: frame for frame in trace.frames if frame.trace_address}
    frames = [
        _decoded(
            frame,
            [*islice(_passed(last, frame), revert_reasons.MAX_INNER_DEPTH)],
            _of_call(frame, contracts, targets),
            [own[code] for code in codes[frame.trace_address] if code in own],
            others,
            imported,
            budget,
        )._replace(console_text=said.get(frame.trace_address))
        for frame in trace.frames
    ]
    if not implementations:
        stated = _stated(abis, [*seen, *first][:MAX_CONTRACTS], block, node)
        frames = [
            decoded._replace(contradiction=_contradiction(trace, decoded.frame, stated, targets))
            for decoded in frames
        ]
    return frames


def is_function_call(frame: transaction_traces.TraceFrame) -> bool:
    """Return whether a call's input begins with a selector: not that of a precompiled contract."""
    return (
        len(frame.input) >= 4
        and not traces.is_creation(frame.type)
        and frame.to_address != console_logs.ADDRESS
        and int.from_bytes(frame.to_address or b"", "big") > LAST_PRECOMPILED
    )


Targets = Mapping[tuple[int, ...], Mapping[bytes, None]]


def _of_call(
    frame: transaction_traces.TraceFrame,
    contracts: Mapping[bytes, contract_abis.Contract],
    targets: Targets,
) -> contract_abis.Contract:
    """Return the called contract, with the ABIs of what it passed this call on to first."""
    contract = contracts.get(frame.to_address or b"", contract_abis.NO_CONTRACT)
    ran = targets.get(frame.trace_address, ())
    abis = [abi for a in ran for abi in contracts.get(a, contract_abis.NO_CONTRACT).abis]
    return contract._replace(abis=(*abis, *contract.abis)) if abis else contract


def _stated(
    abis: contract_abis.ContractAbis,
    addresses: Sequence[bytes],
    block: contract_abis.Block,
    node: NodeSession,
) -> Mapping[bytes, Proxy]:
    """Return the proxies with the implementations that are stated; none where the node does not
    respond."""
    try:
        return abis.stated_at(addresses, block, node)
    except (UpstreamFailed, Unavailable):
        if not node.failed:
            raise
        return {}


def _contradiction(
    trace: transaction_traces.TransactionTrace,
    frame: transaction_traces.TraceFrame,
    stated: Mapping[bytes, Proxy],
    targets: Targets,
) -> str | None:
    """Return what a call did otherwise than is stated of the proxy that was called."""
    proxy = stated.get(frame.to_address or b"")
    own_storage = frame.type in ("CALL", "STATICCALL")
    if proxy is None or not own_storage or not is_function_call(frame):
        return None
    ran = targets.get(frame.trace_address, {})
    others = [address for address in ran if address not in proxy.implementations]
    if not others:
        return None
    return (
        f"The implementation of this proxy is {to_hex(proxy.implementation)} elsewhere, but this"
        f" call was passed on to {', '.join(map(to_hex, others))}."
    )


def _passed(
    last: Mapping[tuple[int, ...], transaction_traces.TraceFrame],
    frame: transaction_traces.TraceFrame,
) -> Iterator[bytes]:
    """Yield what the last call inside of a call returned as it failed, and so on inwards."""
    while (inner := last.get(frame.trace_address)) is not None and inner.failure is not None:
        yield inner.failure.data
        frame = inner


def _decoded(
    frame: transaction_traces.TraceFrame,
    passed: Sequence[bytes],
    contract: contract_abis.Contract,
    codes: Sequence[contract_abis.Contract],
    others: Sequence[abi_decoding.AbiIndex],
    imported: Mapping[bytes, Sequence[str]],
    budget: abi_decoding.DecodingBudget,
) -> DecodedFrame:
    function, result = precompiles.decode(frame)
    reason = None
    is_data = contract.has_code is False and not frame.trace_address
    is_unnamed = len(frame.input) < 4 and not traces.is_creation(frame.type)
    if (is_function_call(frame) or is_unnamed) and not is_data:
        function = decoding.method_of(frame.input, contract, imported, budget)
    if frame.failure is not None:
        abis = [*contract.abis, *others]
        reason = revert_reasons.decode_reason(frame.failure, abis, imported, budget, passed)
    elif function is not None and result is None:
        entries = abi_decoding.functions_of(frame.input[:4], contract.abis, contract.token_type)
        declared = function.signature, function.source
        functions = (e for e in entries if (e.signature, e.source) == declared)
        if (entry := next(functions, None)) is not None:
            result = decoding.decode_result(entry, frame.output, budget)
            inner = revert_reasons.InnerErrors(others, imported, budget)
            result = result and inner.in_arguments(result)
    logs = []
    for log in frame.logs or ():
        emitting = contract_abis.emitting(codes, log.topics)
        logs.append((log, decoding.event_of(log, emitting, imported, budget, others)))
    return DecodedFrame(frame, function, result, reason, None if frame.logs is None else logs)


def _selectors(frames: Sequence[transaction_traces.TraceFrame]) -> Iterator[bytes]:
    """Yield the selectors of functions, events and errors."""
    yield from (frame.input[:4] for frame in frames if is_function_call(frame))
    yield from (log.topics[0][:4] for f in frames for log in f.logs or () if log.topics)
    failures = [frame.failure for frame in frames if frame.failure is not None]
    yield from revert_reasons.selectors_of(failures)
