"""Calls of the node: few at once, each in bounded time and size."""

from collections.abc import Sequence
from typing import Any

from scan.errors import UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Call, NodeError
from scan.etherscan.parts import parts
from scan.etherscan.replies import Failure
from scan.http.services import services
from scan.queries.node_batches import (
    MOST_BYTES,
    NOT_ANSWERING,
    PLACE_TIMEOUT_S,
    TIMEOUT_S,
    read_batch,
)


def call_node(method: str, *params: object) -> Any:
    """The result; raises RpcError, UpstreamFailed, Unavailable, Failure past MOST_BYTES."""
    try:
        with parts().node_calls.place(wait_s=PLACE_TIMEOUT_S):
            return services().sources.node.call(
                method, *params, timeout_s=TIMEOUT_S, most_bytes=MOST_BYTES
            )
    except NodeError:
        raise UpstreamFailed(NOT_ANSWERING) from None
    except AnswerTooLarge:
        raise Failure("Error! The node's answer is too large; ask for less") from None


def batch_node(calls: Sequence[Call]) -> list[Any]:
    """As read_batch()."""
    return read_batch(services().sources.node, parts().node_calls, calls)
