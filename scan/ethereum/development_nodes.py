"""Whether a node is one for development, as anvil and Hardhat's are under any chain id, and the
block of another chain that it forks, as `anvil --fork-url` and Hardhat's `forking` do.
"""

from contextlib import suppress
from typing import NamedTuple

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
            named = fork.get("forkBlockNumber") if isinstance(fork, dict) else fork
            if named is None:
                return NodeKind(isinstance(answer, dict))
            try:
                number = named if type(named) is int else quantity(named)
                head = quantity(node.call("eth_blockNumber"))
            except BadHex:
                number, head = -1, 0
            if not 0 <= number <= head:
                forked = f"{str(named)[:40]} as the block that it forks"
                raise MalformedResponse(f"the node's {method} names {forked}")
            return NodeKind(isinstance(answer, dict), number)
    return NodeKind()
