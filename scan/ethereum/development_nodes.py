"""Whether a node is one for development, as anvil and Hardhat's are under any chain id, and the
block of another chain that it forks, as `anvil --fork-url` and Hardhat's `forking` do.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from scan.ethereum.client import MalformedResponse, Node, RpcError
from scan.hex import BadHex, quantity

# Methods that name the fork, with where they do: Hardhat's, which anvil has too, and older anvils'.
_METHODS = (("hardhat_metadata", "forkedNetwork"), ("anvil_nodeInfo", "forkConfig"))


class NodeKind(NamedTuple):
    """Whether a node is one for development, and the number of the newest block that it has of the
    chain that it forks; None of one that forks none. Its own blocks are those after it."""

    is_development: bool = False
    forked_block: int | None = None


def kind_of(node: Node) -> NodeKind:
    """Return what a node is. Raises NodeError where it does not respond, or names a block that it
    cannot have."""
    for method, member in _METHODS:
        with suppress(RpcError):
            answer = node.call(method)
            fork = answer.get(member) if isinstance(answer, dict) else None
            number = fork.get("forkBlockNumber") if isinstance(fork, dict) else fork
            forked = None if number is None else _known_block(node, method, number)
            return NodeKind(isinstance(answer, dict), forked)
    return NodeKind()


def _known_block(node: Node, method: str, value: Any) -> int:
    """Return a block's number that is an integer of JSON or a quantity."""
    try:
        number = value if type(value) is int else quantity(value)
        head = quantity(node.call("eth_blockNumber"))
    except BadHex:
        number, head = -1, 0
    if not 0 <= number <= head:
        text = str(value)[:40]
        raise MalformedResponse(f"the node's {method} names {text} as the block that it forks")
    return number
