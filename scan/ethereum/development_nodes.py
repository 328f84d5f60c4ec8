"""Whether a node is one for development, as anvil, Hardhat's and Ganache are under any chain id,
and the block of another chain that it forks, as `anvil --fork-url` and Hardhat's `forking` do.

Its program says so; no chain id does, nor anything that blocks or contracts have.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from scan.ethereum.client import MalformedResponse, Node, RpcError
from scan.hex import BadHex, quantity

# Methods that name the fork, a member that their answers always have, and the fork's member:
# Hardhat's, which anvil has too, and older anvils'.
_METHODS = (
    ("hardhat_metadata", "instanceId", "forkedNetwork"),
    ("anvil_nodeInfo", "forkConfig", "forkConfig"),
)
# The first words of web3_clientVersion.
_PROGRAMS = frozenset(("anvil", "hardhatnetwork", "ganache"))


class NodeKind(NamedTuple):
    """Whether a node is one for development, and the number of the newest block that it has of the
    chain that it forks; None of one that forks none. Its own blocks are those after it."""

    is_development: bool = False
    forked_block: int | None = None


def kind_of(node: Node) -> NodeKind:
    """Return what a node is. Raises NodeError where it does not respond, or names a block that it
    cannot have."""
    for method, sign, member in _METHODS:
        with suppress(RpcError):
            answer = node.call(method)
            if isinstance(answer, dict) and sign in answer:
                fork = answer.get(member)
                number = fork.get("forkBlockNumber") if isinstance(fork, dict) else fork
                forked = None if number is None else _known_block(node, method, number)
                return NodeKind(True, forked)
    return NodeKind(program_of(node) in _PROGRAMS)


def program_of(node: Node) -> str:
    """Return the name of a node's program, lower case, "" where it does not say. Raises NodeError
    where it does not respond."""
    with suppress(RpcError):
        return str(node.call("web3_clientVersion")).lower().split("/")[0]
    return ""


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
