"""Calls of the node: few at once, each in bounded time and size."""

from collections.abc import Sequence
from typing import Any

from scan.errors import UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Call, NodeError, RpcError
from scan.etherscan.parts import PLACE_TIMEOUT_S, parts
from scan.etherscan.replies import Failure
from scan.http.services import services

TIMEOUT_S = 8.0
MOST_BYTES = 32 * 1024 * 1024
NOT_ANSWERING = "The node does not answer; try again shortly."


def call_node(method: str, *params: object) -> Any:
    """The result; raises RpcError, UpstreamFailed, Unavailable, Failure past MOST_BYTES."""
    try:
        with parts().node_calls.place(wait_s=PLACE_TIMEOUT_S):
            return services().node.call(method, *params, timeout_s=TIMEOUT_S, most_bytes=MOST_BYTES)
    except NodeError:
        raise UpstreamFailed(NOT_ANSWERING) from None
    except AnswerTooLarge:
        raise Failure("Error! The node's answer is too large; ask for less") from None


def batch_node(calls: Sequence[Call], timeout_s: float = TIMEOUT_S) -> list[Any]:
    """Results in the order of the calls, none of them an error.

    Raises RpcError, UpstreamFailed, Unavailable, AnswerTooLarge past MOST_BYTES.
    """
    try:
        with parts().node_calls.place(wait_s=PLACE_TIMEOUT_S):
            results = services().node.batch(calls, timeout_s, MOST_BYTES)
    except NodeError:
        raise UpstreamFailed(NOT_ANSWERING) from None
    refusal = next((each for each in results if isinstance(each, RpcError)), None)
    if refusal is not None:
        raise refusal
    return results
