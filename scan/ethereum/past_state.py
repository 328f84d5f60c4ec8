"""State at an indexed block, which only nodes that keep history (archive nodes) have."""

from collections.abc import Sequence
from typing import Any

from scan.errors import HistoryUnavailable, UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import MOST_BYTES, NodeSession
from scan.hex import to_hex


def read(
    node: NodeSession, block: BlockId, calls: Sequence[Call], most_bytes: int = MOST_BYTES
) -> list[Any]:
    """Return the results of calls whose parameters name `block`, in their order, with an RpcError
    where a call is refused for another reason than the block's age.

    Raises HistoryUnavailable where the node has the block but not its state, UpstreamFailed where
    it does not have the block, and the errors of NodeSession.
    """
    results = node.results(calls, most_bytes)
    refusals = [result for result in results if isinstance(result, RpcError)]
    if any(refusal.is_missing_state for refusal in refusals):
        raise HistoryUnavailable(_message(block))
    # A node may say of pruned state that it lacks the block; and where it does have a block of this
    # number, it may be another fork's.
    if any(refusal.is_missing_block for refusal in refusals):
        [header] = node.results([Call("eth_getBlockByNumber", (hex(block.number), False))])
        if isinstance(header, dict) and header.get("hash") == to_hex(block.hash):
            raise HistoryUnavailable(_message(block))
        raise UpstreamFailed(f"The node does not have block {block.number} now; try again shortly.")
    return results


def _message(block: BlockId) -> str:
    return (
        f"The node does not keep the state of block {block.number}: that needs an archive node."
        " Ask for a newer block, or leave block out."
    )
