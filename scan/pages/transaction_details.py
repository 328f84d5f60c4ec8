"""What the index does not have of a transaction, asked of the node: input, nonce, logs, calls."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import Decoded
from scan.contracts.transaction_details import DecodedLog, TransactionDetails
from scan.errors import Unavailable
from scan.ethereum.client import AnswerTooLarge, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.records import Record
from scan.pages.site import site
from scan.queries import transactions

TRACE_TIMEOUT_S = 4.0
MAX_TRACE_BYTES = 8 * 1024 * 1024
MAX_LOGS = 100
MAX_CALLS = 500


class ShownLog(NamedTuple):
    log_index: int
    address: str
    topics: Sequence[str]
    data: str
    event: Decoded | None


class InternalCall(NamedTuple):
    """A call that a contract made; `failed` is set where it, or one around it, was reverted."""

    depth: int
    kind: str
    from_address: str
    to_address: str | None
    value: int
    failed: bool


class ShownDetails(NamedTuple):
    """None where the node does not give it now; `internal` also where it was not asked for."""

    nonce: int | None
    gas_limit: int | None
    input: str | None
    method: Decoded | None
    logs: Sequence[ShownLog] | None
    log_count: int | None
    unavailable: str | None
    internal: Sequence[InternalCall] | None

    def addresses(self) -> Iterator[str]:
        """Those to be shown with their names."""
        for log in self.logs or ():
            yield log.address
            yield from _addresses(log.event)
        yield from _addresses(self.method)
        for call in self.internal or ():
            yield call.from_address
            if call.to_address is not None:
                yield call.to_address


def shown_details(transaction: Record, *, with_internal: bool) -> ShownDetails:
    found = transactions.details(reader(), transaction)
    return ShownDetails(
        found.nonce,
        found.gas_limit,
        None if found.input is None else to_hex(found.input),
        found.method,
        None if found.logs is None else [_shown(log) for log in found.logs[:MAX_LOGS]],
        found.log_count,
        found.unavailable,
        _internal(transaction, found) if with_internal else None,
    )


def _shown(decoded: DecodedLog) -> ShownLog:
    log = decoded.log
    topics = [to_hex(topic) for topic in log.topics]
    return ShownLog(log.log_index, to_hex(log.address), topics, to_hex(log.data), decoded.event)


def _internal(transaction: Record, found: TransactionDetails) -> list[InternalCall] | None:
    """None where the node has no traces, or does not answer now, or answers nonsense."""
    if found.input is None:
        return None  # it may have the transaction in another block
    try:
        with site().node_reads.place():
            return _internal_calls(transaction["hash"])
    except (NodeError, AnswerTooLarge, BadHex, Unavailable, KeyError, TypeError, AttributeError):
        reader().do_not_cache()
        return None


def _internal_calls(transaction_hash: str) -> list[InternalCall] | None:
    """None where the node has no traces."""
    if services().settings.traces == "off":
        return None
    try:
        trace = services().sources.node.call(
            "debug_traceTransaction",
            transaction_hash,
            {"tracer": "callTracer"},
            timeout_s=TRACE_TIMEOUT_S,
            most_bytes=MAX_TRACE_BYTES,
        )
    except RpcError:
        return None
    # The outermost call is the transaction itself.
    return list(_calls_in(trace, 1, bool(trace.get("error"))))[:MAX_CALLS]


def _calls_in(call: Any, depth: int, failed: bool) -> Iterator[InternalCall]:
    """Depth first, as they were made."""
    ahead = [(depth, each, failed) for each in reversed(call.get("calls", []))]
    while ahead:
        depth, each, failed = ahead.pop()
        failed = failed or bool(each.get("error"))
        target = each.get("to")
        yield InternalCall(
            depth,
            str(each["type"])[:20],
            to_hex(data(each["from"], 20)),
            None if target is None else to_hex(data(target, 20)),
            quantity(each.get("value") or "0x0"),
            failed,
        )
        ahead += [(depth + 1, inner, failed) for inner in reversed(each.get("calls", []))]


def _addresses(decoded: Decoded | None) -> Iterator[str]:
    for argument in decoded.arguments if decoded else ():
        if argument.type == "address" and not argument.hashed:
            yield argument.value
