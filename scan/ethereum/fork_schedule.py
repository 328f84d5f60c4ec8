"""Hard forks that a node has scheduled (EIP-7910), and whether this version of Scan knows them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from scan.ethereum.client import Node, NodeError, RpcError
from scan.hex import quantity

# The deposit contracts of mainnet and Hoodi, of Sepolia, of Holesky.
DEPOSIT_CONTRACTS = frozenset(
    (
        bytes.fromhex("00000000219ab540356cbb839cbe05303d7705fa"),
        bytes.fromhex("7f02c3e3c98b133055b8b348b2ac625669ed295d"),
        bytes.fromhex("4242424242424242424242424242424242424242"),
    )
)
WITHDRAWAL_CONTRACT = bytes.fromhex("00000961ef480eb55e80d19ad83579a64c007002")
CONSOLIDATION_CONTRACT = bytes.fromhex("0000bbddc7ce488642fb579f8b00f3a590007251")
BUILDER_DEPOSIT_CONTRACT = bytes.fromhex("0000bff46984e3725691fa540a8c7589300d8282")
BUILDER_EXIT_CONTRACT = bytes.fromhex("000064d678505ad48f8ccb093bc65613800e8282")
# System contracts of the forks up to Amsterdam: those of requests, of EIP-4788 and of EIP-2935.
_KNOWN_CONTRACTS = {
    *("0x" + address.hex() for address in DEPOSIT_CONTRACTS),
    "0x" + WITHDRAWAL_CONTRACT.hex(),
    "0x" + CONSOLIDATION_CONTRACT.hex(),
    "0x" + BUILDER_DEPOSIT_CONTRACT.hex(),
    "0x" + BUILDER_EXIT_CONTRACT.hex(),
    "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
    "0x0000f90827f1c53a10cb7a02335b175320002935",
}
_MOST_CHARACTERS = 100
# The newest forks whose times are decided, by chain id: EIP-7773 for Sepolia. Hoodi's time was
# withdrawn, and mainnet has none yet.
NEWEST_FORKS: Mapping[int, tuple[str, int]] = {11_155_111: ("Amsterdam", 1_791_294_816)}


def unknown_fork(node: Node) -> str:
    """Return a sentence about the next scheduled fork where this version does not know it, "" where
    there is none, or the node has no eth_config.

    A fork that changes nothing but blobs' parameters (EIP-7892) changes no block's form. Amsterdam
    is known by its time or its system contracts. Raises NodeError.
    """
    return _read(node, _unknown_fork)


def missed_fork(node: Node) -> str:
    """Return a sentence about the chain's newest fork where the node has another schedule, and so
    leaves the chain at its time; "" where it has the same, or no eth_config. Raises NodeError."""
    return _read(node, _missed_fork)


def _read(node: Node, read: Callable[[Any], str]) -> str:
    try:
        schedule = node.call("eth_config")
    except RpcError:
        return ""
    try:
        return read(schedule)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, OSError) as error:
        raise NodeError(f"the node's eth_config is malformed: {error!r}"[:200]) from None


def _unknown_fork(schedule: Any) -> str:
    current, following = schedule["current"], schedule["next"] or schedule["last"]
    if following is None or _is_known(current, following):
        return ""
    fork_id = str(following["forkId"])[:_MOST_CHARACTERS]
    return (
        f"a fork is scheduled for {_moment(following['activationTime'])} (fork id {fork_id})"
        " that this version does not know"
    )


def _missed_fork(schedule: Any) -> str:
    current = schedule["current"]
    name, time_s = _newest_fork(current)
    forks = (current, schedule["next"], schedule["last"])
    times = {fork["activationTime"] for fork in forks if fork is not None}
    if current["activationTime"] >= time_s or time_s in times:
        return ""
    return f"the node does not know the fork {name} of {_moment(time_s)}"


def _newest_fork(fork: dict[str, Any]) -> tuple[str, int]:
    chain_id = fork.get("chainId")
    return NEWEST_FORKS.get(quantity(chain_id) if chain_id is not None else 0, ("", 0))


def _moment(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _is_known(current: dict[str, Any], following: dict[str, Any]) -> bool:
    time_s = following["activationTime"]
    if time_s <= current["activationTime"] or time_s == _newest_fork(current)[1]:
        return True
    before, after = _contracts(current), _contracts(following)
    has_same_code = current["precompiles"] == following["precompiles"]
    if has_same_code and before == after:
        return bool(current["blobSchedule"] != following["blobSchedule"])
    return has_same_code and before < after <= _KNOWN_CONTRACTS | before


def _contracts(fork: dict[str, Any]) -> set[str]:
    return {str(address).lower() for address in fork["systemContracts"].values()}
