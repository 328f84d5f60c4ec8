"""Whether a node serves the right chain, by chain id and the hash of block 0, and the block whose
state a call reads, by its hash where the node takes hashes (EIP-1898).

A node may be another one from one request to the next: a development node that was started anew, or
what a proxy leads to. So each new connection to it is checked, and each URL every few seconds. A
node that has moved to another fork, or one of several behind a balancer, refuses a hash that it
does not have, but answers a number from its own fork. Where a node takes no hashes, state is read
by number, and the block's hash in the same batch is compared.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

from scan.ethereum.node_errors import NodeError, RpcError, StateUnavailable, WrongChain
from scan.hex import BadHex, data, quantity, to_hex

log = logging.getLogger(__name__)

CHECK_AGAIN_S = 5.0
DEVELOPMENT = 31_337  # the chain id that anvil and Hardhat have by default

Ask = Callable[[str, Sequence[object]], Any]


class ChainIdentity(NamedTuple):
    """A chain, or where it `is_fork` what a development node has made of it: the chain's blocks up
    to one, and its own after it. anvil gives its fork the chain's id; where it `is_development`, it
    may have any."""

    chain_id: int
    genesis_hash: bytes
    is_fork: bool = False
    is_development: bool = False

    def __str__(self) -> str:
        fork = "a development node's fork of " if self.is_fork else ""
        return f"{fork}chain {self.chain_id} with genesis {to_hex(self.genesis_hash[:4])}…"

    @property
    def rules_id(self) -> int:
        """The id of the chain by whose rules blocks are read: one of a development node has
        those of such nodes, whatever its id."""
        return DEVELOPMENT if self.is_development else self.chain_id


class _Check(NamedTuple):
    """When a URL was checked, and why it is refused, "" where it is not."""

    at: float
    problem: str


_NONE = _Check(-math.inf, "")


class ServedChain:
    """The chain that all nodes of RPC_URL have to serve; safe to use from several threads."""

    def __init__(self, urls: Sequence[str], expected: Callable[[], ChainIdentity | None]) -> None:
        """`expected` returns the chain of the database, None before it has one."""
        self._urls = urls
        self._expected = expected
        self._known: ChainIdentity | None = None
        self._checks: dict[str, _Check] = {}

    @property
    def problem(self) -> str:
        """Why a node was refused when it was checked last; "" where none was."""
        return next((check.problem for check in [*self._checks.values()] if check.problem), "")

    @property
    def rules_id(self) -> int | None:
        """The id of the chain whose rules blocks of the database keep, None before it has one."""
        identity = self._identity()
        return None if identity is None else identity.rules_id

    def _identity(self) -> ChainIdentity | None:
        if self._known is None:
            self._known = self._expected()
        return self._known

    def require(self, url: str, ask: Ask, *, anew: bool) -> None:
        """Raise WrongChain where the node serves another chain.

        Unless it was right lately, and with `anew`, `ask` calls it, which returns a result or an
        error."""
        check = self._checks.get(url, _NONE)
        if not anew and not check.problem and time.monotonic() - check.at <= CHECK_AGAIN_S:
            return
        began_at, identity, problem = time.monotonic(), self._identity(), ""
        if identity is not None:
            served = _served(identity, ask)
            if served != identity:  # one wrong answer is no other chain
                served = _served(identity, ask)
            if served != identity:
                number, of = self._urls.index(url) + 1, len(self._urls)
                name = "the node at RPC_URL" if of == 1 else f"node {number} of {of} in RPC_URL"
                problem = mismatch(identity, served, name)
        if problem not in ("", check.problem):
            log.warning("refused: %s", problem)
        self._checks[url] = _Check(began_at, problem)
        if problem:
            raise WrongChain(problem)


def _served(expected: ChainIdentity, ask: Ask) -> ChainIdentity:
    """Return the chain that a node serves, as far as it says anything: one that has pruned block 0
    is known by its id."""
    served = expected
    with suppress(BadHex):
        served = served._replace(chain_id=quantity(ask("eth_chainId", ())))
    header = ask("eth_getBlockByNumber", ("0x0", False))
    with suppress(BadHex, TypeError, KeyError):
        served = served._replace(genesis_hash=data(header["hash"], 32))
    return served


def mismatch(stored: ChainIdentity, served: ChainIdentity, node_name: str) -> str:
    return (
        f"this database holds {stored}, but {node_name} serves {served};"
        " use another database for that node"
    )


ATTEMPTS = 3  # behind one URL there may be several nodes, of which some lack the block yet
NO_BLOCK = {"blockHash": "0x" + 32 * "e1"}
ADDRESS = "0x" + 40 * "0"  # any address would do

RequestBlock = Callable[[str, tuple[object, ...]], Any]  # returns the result, or an RpcError


class BlockId(NamedTuple):
    number: int
    hash: bytes

    @classmethod
    def of(cls, number: int | None, block_hash: bytes | None) -> Self | None:
        """Return the block of a row's columns; None where these are null."""
        return None if number is None or block_hash is None else cls(number, bytes(block_hash))


def write(params: Iterable[object], *, by_hash: bool) -> list[object]:
    """Return the parameters with each BlockId in the form that the node takes."""
    return [
        param
        if not isinstance(param, BlockId)
        else {"blockHash": to_hex(param.hash)}
        if by_hash
        else hex(param.number)
        for param in params
    ]


def try_block_hashes(ask: RequestBlock) -> bool | None:
    """Return whether a node takes block hashes; None where it does not have the block by whose hash
    it is asked, as one of several behind a URL may not.

    It takes none where it refuses one as malformed, or answers of a block that cannot exist.
    Raises NodeError for a malformed block.
    """
    header = ask("eth_getBlockByNumber", ("latest", False))
    try:  # more nodes have the parent than the newest
        name = "parentHash" if int(header["number"], 16) else "hash"
        block = {"blockHash": header[name]}
    except (TypeError, KeyError, ValueError) as error:
        raise NodeError(f"the node's newest block is malformed: {error!r}") from error
    if isinstance(ask("eth_getBalance", (ADDRESS, NO_BLOCK)), str):
        return False
    for _ in range(ATTEMPTS):
        result = ask("eth_getBalance", (ADDRESS, block))
        if isinstance(result, str):
            return True
        if is_malformed_request(result):
            return False
    return None


def require_canonical(blocks: Iterable[BlockId], headers: Iterable[Any]) -> None:
    """Raise StateUnavailable unless each header has its block's hash: state that was read by number
    is then of these blocks."""
    for block, header in zip(blocks, headers, strict=True):
        if not isinstance(header, dict) or header.get("hash") != to_hex(block.hash):
            raise StateUnavailable(f"block {block.number} changed while its state was read")


def is_malformed_request(result: Any) -> bool:
    """Return whether a result is an error by which JSON-RPC 2.0 refuses a parameter."""
    return isinstance(result, RpcError) and result.code in (-32700, -32600, -32602)
