"""The block whose state a call reads, by its hash where the node takes hashes (EIP-1898).

A node that has moved to another fork, or one of several behind a balancer, refuses a hash that it
does not have, but answers a number from its own fork. Where a node takes no hashes, state is read
by number, and the block's hash is compared afterwards.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from scan.ethereum.node_errors import NodeError, RpcError, StateUnavailable
from scan.hex import to_hex

ATTEMPTS = 3  # behind one URL there may be several nodes, of which some lack the block yet
NO_BLOCK = {"blockHash": "0x" + 32 * "e1"}
ADDRESS = "0x" + 40 * "0"  # any address would do

Ask = Callable[[str, tuple[object, ...]], Any]  # returns the result, or an RpcError


class BlockId(NamedTuple):
    number: int
    hash: bytes


def write(params: Iterable[object], *, by_hash: bool) -> list[object]:
    """Return the parameters with each BlockId in the form that the node takes."""
    return [
        _written(param, by_hash=by_hash) if isinstance(param, BlockId) else param
        for param in params
    ]


def _written(block: BlockId, *, by_hash: bool) -> object:
    return {"blockHash": to_hex(block.hash)} if by_hash else hex(block.number)


def try_block_hashes(ask: Ask) -> bool:
    """Return whether a node takes block hashes, by a call whose answer by number is known.

    The node has to give the same answer for the block's hash, and none for an unknown hash. A node
    that has pruned even its newest states is taken to accept hashes.
    Raises NodeError for a malformed block, StateUnavailable where the node gives no balance.
    """
    header = ask("eth_getBlockByNumber", ("latest", False))
    try:
        block = {"blockHash": header["parentHash"]}  # more nodes have the parent than the newest
        number = max(int(header["number"], 16) - 1, 0)
        if int(header["number"], 16) == 0:
            block = {"blockHash": header["hash"]}
    except (TypeError, KeyError, ValueError) as error:
        raise NodeError(f"the node's newest block is malformed: {error!r}") from error
    by_number = ask("eth_getBalance", (ADDRESS, hex(number)))
    if isinstance(by_number, RpcError) and by_number.is_missing_state:
        return True
    if not isinstance(by_number, str):
        raise StateUnavailable(f"the node does not have the state of block {number}: {by_number}")
    if isinstance(ask("eth_getBalance", (ADDRESS, NO_BLOCK)), str):
        return False
    return any(ask("eth_getBalance", (ADDRESS, block)) == by_number for _ in range(ATTEMPTS))


def require_canonical(blocks: Iterable[BlockId], headers: Iterable[Any]) -> None:
    """Raise StateUnavailable unless each header has its block's hash: state that was read by number
    is then of these blocks."""
    for block, header in zip(blocks, headers, strict=True):
        if not isinstance(header, dict) or header.get("hash") != to_hex(block.hash):
            raise StateUnavailable(f"block {block.number} changed while its state was read")


def is_malformed_request(result: Any) -> bool:
    """Return whether a result is an error by which JSON-RPC 2.0 refuses a parameter."""
    return isinstance(result, RpcError) and result.code in (-32700, -32600, -32602)
