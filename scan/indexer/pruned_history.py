"""Blocks that a node has dropped, as many do with old ones, and the first block that it has kept.

For a dropped block nodes answer null, error 4444 (execution-apis 636) or another error, or they
return the block, but for its receipts null or an empty list.
"""

from typing import Any

from scan import registry
from scan.ethereum.client import (
    MAX_ANSWER_BYTES,
    AnswerTooLarge,
    HistoryPruned,
    Node,
    NodeError,
    RpcError,
)
from scan.hex import BadHex, quantity
from scan.indexer.hooks import PrunedHistory
from scan.indexer.node_reader import MissingPart
from scan.settings import Settings

# Behind one URL there may be several nodes, of which some lack the newest blocks yet.
RECENT_BLOCKS = 16
EMPTY_BLOCKS = 16  # read until one has transactions, whose receipts may be missing


def explained(node: Node, missing: MissingPart) -> NodeError:
    """Return the reason why a part of a block is missing: HistoryPruned, or an error that passes.
    Where there are several nodes, the next one is asked from then on."""
    number = missing.number
    try:
        head = quantity(node.call("eth_blockNumber"))
        if number >= head:
            return NodeError(f"{missing} yet")
        node.rest()
        if is_kept(node, number):
            return missing
        if head - RECENT_BLOCKS < number != 0:  # block 0 is never too new
            return NodeError(f"{missing}, but has block {head}")
        first = first_kept(node, number, head)
    except (NodeError, RpcError, BadHex):
        return missing
    return missing if first is None else HistoryPruned(reason(number, first))


def reason(number: int, first: int) -> str:
    return (
        f"the node has pruned blocks before {first}, and block {number} is needed: use a node that"
        f" has it{other_cures()}, or set SCAN_START_BLOCK={first} for an empty index"
    )


def other_cures() -> str:
    """Return what extensions advise, each after a comma."""
    return "".join(f", {part.cure}" for part in registry.parts(PrunedHistory))


def are_elsewhere(settings: Settings) -> bool:
    """Return whether an extension has the blocks that the node has pruned."""
    return any(part.has_blocks(settings) for part in registry.parts(PrunedHistory))


def first_kept(node: Node, dropped: int, head: int) -> int | None:
    """Return the first block after `dropped` that the node has, by bisection; None if it has not
    even `head`. Raises NodeError."""
    if not is_kept(node, head):
        return None
    while head - dropped > 1:
        middle = (dropped + head) // 2
        if is_kept(node, middle):
            head = middle
        else:
            dropped = middle
    return head


def is_kept(node: Node, number: int) -> bool:
    """Return whether the node has a block and its receipts. If the block has no transactions, the
    receipts of the next block that has some decide. Raises NodeError."""
    for candidate in range(number, number + EMPTY_BLOCKS):
        block = _ask(node, "eth_getBlockByNumber", hex(candidate), False)
        if isinstance(block, AnswerTooLarge):
            return True
        if not isinstance(block, dict):
            return candidate > number
        if transactions := block.get("transactions"):
            return _has_receipts(node, candidate, transactions)
    return True


def _has_receipts(node: Node, number: int, transactions: Any) -> bool:
    receipts = _ask(node, "eth_getBlockReceipts", hex(number))
    if isinstance(receipts, RpcError) and receipts.is_missing_method:
        receipts = _ask(node, "eth_getTransactionReceipt", transactions[0])
    if isinstance(receipts, RpcError):
        return isinstance(receipts, AnswerTooLarge)
    return bool(receipts)


def _ask(node: Node, method: str, *params: object) -> Any:
    """Return the result, or the node's error; raise NodeError for an error that passes."""
    try:
        return node.call(method, *params, most_bytes=MAX_ANSWER_BYTES)
    except RpcError as error:
        if error.is_transient:
            raise NodeError(str(error)) from None
        return error
