"""The block of another chain that a development node forks, as `anvil --fork-url` and Hardhat's
`forking` do.
"""

from contextlib import suppress
from typing import Any

from scan.ethereum.client import MalformedResponse, Node, RpcError
from scan.hex import BadHex, quantity

# Methods that name the fork, with where they do: Hardhat's, which anvil has too, and older anvils'.
_METHODS = (("hardhat_metadata", "forkedNetwork"), ("anvil_nodeInfo", "forkConfig"))


def forked_block(node: Node) -> int | None:
    """Return the number of the newest block that a development node has of the chain that it forks;
    None of a node that forks none. Its own blocks are those after it.

    Raises NodeError where the node does not respond, or names a block that it cannot have.
    """
    for method, member in _METHODS:
        with suppress(RpcError):
            answer = node.call(method)
            fork = answer.get(member) if isinstance(answer, dict) else None
            number = fork.get("forkBlockNumber") if isinstance(fork, dict) else fork
            return None if number is None else _known_block(node, method, number)
    return None


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
