"""What the index does not have of a transaction, asked of the node: input, nonce, logs, calls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import Decoded, decode_call, decode_log
from scan.errors import Unavailable
from scan.ethereum.client import AnswerTooLarge, Call, NodeError, RpcError
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.services import services
from scan.pages.records import Record
from scan.pages.site import site

TIMEOUT_S = 1.5
TRACE_TIMEOUT_S = 4.0
MAX_TRACE_BYTES = 8 * 1024 * 1024
MAX_LOGS = 100
MAX_CALLS = 500
MAX_ABIS = 10

Abis = Mapping[str, list[dict[str, Any]]]


class Log(NamedTuple):
    log_index: int
    address: str
    topics: Sequence[str]
    data: str
    decoded: Decoded | None


class InternalCall(NamedTuple):
    """A call that a contract made; `failed` is set where it, or one around it, was reverted."""

    depth: int
    kind: str
    from_address: str
    to_address: str | None
    value: int
    failed: bool


class TransactionDetails(NamedTuple):
    """None where the node was not asked, or did not say."""

    nonce: int | None = None
    gas_limit: int | None = None
    input: str | None = None
    call: Decoded | None = None
    logs: Sequence[Log] | None = None
    log_count: int = 0
    internal: Sequence[InternalCall] | None = None

    def addresses(self) -> Iterator[str]:
        """Those to be shown with their names."""
        for log in self.logs or ():
            yield log.address
            yield from _addresses(log.decoded)
        yield from _addresses(self.call)
        for call in self.internal or ():
            yield call.from_address
            if call.to_address is not None:
                yield call.to_address


def read_details(transaction: Record, *, with_internal: bool) -> TransactionDetails | None:
    """None where the node does not answer now, or answers of another block."""
    try:
        with site().node_reads.place():
            sent, receipt = _ask(transaction["hash"])
            internal = _internal_calls(transaction["hash"]) if with_internal else None
        if not _are_of(transaction, sent, receipt):
            return None
        return _details(transaction, sent, receipt)._replace(internal=internal)
    except (NodeError, AnswerTooLarge, BadHex, Unavailable, KeyError, TypeError, AttributeError):
        return None  # a node that answers otherwise than nodes do is as good as none


def _ask(transaction_hash: str) -> list[Any]:
    return services().node.once(
        [
            Call("eth_getTransactionByHash", (transaction_hash,)),
            Call("eth_getTransactionReceipt", (transaction_hash,)),
        ],
        TIMEOUT_S,
    )


def _are_of(transaction: Record, sent: Any, receipt: Any) -> bool:
    return all(
        isinstance(each, dict) and quantity(each["blockNumber"]) == transaction["blockNumber"]
        for each in (sent, receipt)
    )


def _details(transaction: Record, sent: Any, receipt: Any) -> TransactionDetails:
    logs = receipt["logs"]
    shown = logs[:MAX_LOGS]
    emitters = [transaction["toAddress"], *(str(log["address"]).lower() for log in shown)]
    abis = _abis([address for address in dict.fromkeys(emitters) if address][:MAX_ABIS])
    calldata = data(sent["input"])
    is_call = transaction["toAddress"] is not None and len(calldata) >= 4
    abi = abis.get(transaction["toAddress"] or "", [])
    return TransactionDetails(
        nonce=quantity(sent["nonce"]),
        gas_limit=quantity(sent["gas"]),
        input=to_hex(calldata),
        call=decode_call(calldata, abi) if is_call else None,
        logs=[_log(log, abis) for log in shown],
        log_count=len(logs),
    )


def _abis(addresses: Sequence[str]) -> Abis:
    rows = services().reads.rows(
        "pages/abis_list", addresses=[data(address) for address in addresses]
    )
    return {to_hex(bytes(address)): entries for address, entries in rows}


def _log(log: Any, abis: Abis) -> Log:
    address = to_hex(data(log["address"], 20))
    topics = [data(topic, 32) for topic in log["topics"]]
    content = data(log["data"])
    return Log(
        quantity(log["logIndex"]),
        address,
        [to_hex(topic) for topic in topics],
        to_hex(content),
        decode_log(topics, content, abis.get(address, [])),
    )


def _internal_calls(transaction_hash: str) -> list[InternalCall] | None:
    """None where the node has no traces."""
    if services().settings.traces == "off":
        return None
    try:
        trace = services().node.call(
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
        if argument.type == "address":
            yield argument.value
