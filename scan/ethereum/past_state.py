"""State as it stood at an indexed block: only nodes that keep history (archive nodes) have it."""

from collections.abc import Sequence
from typing import Any

from scan.errors import HistoryUnavailable, UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.client import Call, RpcError
from scan.ethereum.gateway import MOST_BYTES, NodeSession
from scan.hex import to_hex


def read(
    node: NodeSession, block: BlockId, calls: Sequence[Call], most_bytes: int = MOST_BYTES
) -> list[Any]:
    """Return the results in the order of the calls, which name the block; an RpcError where one is
    refused for another reason than its age.

    Raises HistoryUnavailable where the node has the block but not its state, UpstreamFailed where
    it does not have the block, besides what NodeSession raises.
    """
    results = node.results(calls, most_bytes)
    refusals = [result for result in results if isinstance(result, RpcError)]
    if any(refusal.is_missing_state for refusal in refusals):
        raise HistoryUnavailable(_message(block))
    # A node may say of pruned state that the block is not there, and know blocks of other forks.
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
