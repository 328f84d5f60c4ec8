"""Batches of calls that a client waits for: few at once, each in bounded time and size."""

from collections.abc import Sequence
from typing import Any

from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.rate_limits.concurrency import ConcurrencyLimit

TIMEOUT_S = 8.0
PLACE_TIMEOUT_S = 2.0
MOST_BYTES = 32 * 1024 * 1024  # of one exchange
NOT_ANSWERING = "The node does not answer; try again shortly."


def read_batch(
    node: Node, places: ConcurrencyLimit, calls: Sequence[Call], timeout_s: float = TIMEOUT_S
) -> list[Any]:
    """Results in the order of the calls, none of them an error.

    Raises RpcError, UpstreamFailed, Unavailable, AnswerTooLarge past MOST_BYTES.
    """
    try:
        with places.place(wait_s=PLACE_TIMEOUT_S):
            results = node.batch(calls, timeout_s, MOST_BYTES)
    except NodeError:
        raise UpstreamFailed(NOT_ANSWERING) from None
    refusal = next((each for each in results if isinstance(each, RpcError)), None)
    if refusal is not None:
        raise refusal
    return results
