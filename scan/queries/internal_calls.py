"""Calls that contracts make inside a transaction, read from the node's trace of it."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.ethereum.traces import walk_calls
from scan.hex import BadHex, data, quantity, to_hex
from scan.queries.reader import Reader

TIMEOUT_S = 4.0
MAX_TRACE_BYTES = 8 * 1024 * 1024
MAX_CALLS = 500


class InternalCall(NamedTuple):
    """A call that a contract made; `failed` is set where it, or one around it, was reverted."""

    depth: int
    kind: str
    from_address: str
    to_address: str | None
    value: int
    failed: bool


def of_transaction(reader: Reader, record: Mapping[str, Any]) -> Sequence[InternalCall] | None:
    """The first MAX_CALLS; None where the node has no traces, or does not give this one now."""
    if reader.sources.traces == "off":
        return None
    tracer = {"tracer": "callTracer"}
    node = reader.node.within(TIMEOUT_S)
    try:
        trace = node.call(
            "debug_traceTransaction", record["hash"], tracer, most_bytes=MAX_TRACE_BYTES
        )
        # The outermost call is the transaction itself.
        return [
            InternalCall(
                frame.depth,
                str(frame.call["type"])[:20],
                to_hex(data(frame.call["from"], 20)),
                None if frame.call.get("to") is None else to_hex(data(frame.call["to"], 20)),
                quantity(frame.call.get("value") or "0x0"),
                frame.undone,
            )
            for frame in islice(walk_calls(trace), 1, MAX_CALLS + 1)
        ]
    except (UpstreamFailed, Unavailable):
        return None
    except (AnswerTooLarge, BadHex, KeyError, TypeError, AttributeError):
        reader.do_not_cache()
        return None
    except RpcError:
        return None
