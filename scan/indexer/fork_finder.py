"""Reorganisations: whether the node still has the head, and the newest block that both share."""

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence

from scan.database.connection import Database
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import NodeError, RpcError
from scan.indexer import block_rows, block_source, writer
from scan.indexer.node_reader import NodeHead, read_hash

MAX_BACKOFF_S = 60.0
STEADY_S, STEADY_LOOKS = 5.0, 6
PROOF_BLOCKS = 8  # of another fork, which have to be read before ours is unwound


UNLINKED = "the parent hashes of the node's blocks do not match each other or the indexed head"


class ForkTooDeep(Exception):
    """The fork lies below the finality limit, so the operator has to choose."""


class ForkFinder:
    """Compares the indexed chain with the node's, by block hashes."""

    def __init__(
        self,
        source: block_source.BlockSource,
        database: Database,
        start_block: int,
        finality: int,
        *,
        is_development: bool,
    ) -> None:
        """Of a chain that `is_development`, blocks may be taken back beyond `finality`."""
        self._is_development = is_development
        self._source = source
        self._database = database
        self._start_block = start_block
        self._finality = finality

    def has_head(self, head: writer.IndexedHead, node: NodeHead) -> bool:
        """Return whether the node has the indexed head; if the node is behind, whether the node's
        head is indexed, and no block was taken back after it."""
        if node.number >= head.number:
            return node.hash_at_indexed in (None, head.hash)
        if self._is_turned_back(node.number):
            return False
        if node.number < self._start_block:
            return True
        return read_hash(self._source.node, node.number) in (None, self._hash_at(node.number))

    def _is_turned_back(self, node_head: int) -> bool:
        """Return whether the blocks after the node's head were taken back (evm_revert,
        anvil_rollback) rather than the node being behind, which looks the same: a development
        node's hardhat_metadata, which Anvil and Hardhat have, names that head too."""
        try:
            metadata = self._source.node.is_single and self._source.node.call("hardhat_metadata")
        except (RpcError, NodeError):
            return False
        return isinstance(metadata, dict) and metadata.get("latestBlockNumber") == node_head

    def find(self, head: writer.IndexedHead, node_head: int) -> int:
        """Return the number of the newest block that both chains share. Steps back double until a
        shared block, and are then halved.

        Raises ForkTooDeep below the finality limit, and NodeError where the node's blocks after the
        fork do not follow on it, or where the first of them is the indexed one: then a hash that
        the node gave alone, without its block, was false; or where there is none, and the node is
        merely behind.
        """
        fork = self._search(head, node_head)
        if fork >= node_head:
            if not self._is_turned_back(node_head):
                raise NodeError("the node serves different heads at once")
            return fork
        fetched = self._source.blocks(fork + 1, min(fork + PROOF_BLOCKS, node_head))
        proof = [one.block for one in fetched]
        several_forks = "the node serves blocks of several forks at once"
        require_linked(proof, self._hash_at(fork), fault=several_forks)
        if proof[0].hash == self._hash_at(fork + 1):
            self._source.node.rest()
            raise NodeError(f"the node named another hash for block {fork + 1} than it has")
        return fork

    def _search(self, head: writer.IndexedHead, node_head: int) -> int:
        # A block whose rows are removed cannot be unwound.
        oldest: int = self._database.value("indexer/retention_get_oldest") or 0
        lowest = max(self._start_block - 1, oldest - 1)
        if not (self._is_development and self._is_turned_back(node_head)):
            lowest = max(lowest, head.number - self._finality)
        differs, step = min(head.number, max(node_head + 1, self._start_block)), 1
        same = max(differs - step, lowest)
        # Block `differs` is never shared. At the end `same` is shared and right before it.
        while differs > lowest and not self._is_shared(same):
            differs, step = same, step * 2
            same = max(differs - step, lowest)
        if differs <= lowest:
            is_kept = lowest >= oldest
            raise ForkTooDeep(
                f"the node's chain left ours more than {head.number - lowest} blocks ago;"
                f" if it is right, {'raise SCAN_FINALITY or ' if is_kept else ''}index anew into"
                f" an empty database{'' if is_kept else ': older rows are not kept'}"
            )
        between = range(same + 1, differs)
        return same + bisect_left(between, True, key=lambda number: not self._is_shared(number))

    def _is_shared(self, number: int) -> bool:
        """Return whether both chains have the block. Before the first indexed block nothing can
        differ."""
        if number < self._start_block:
            return True
        node_hash = read_hash(self._source.node, number)
        if node_hash is None:
            raise NodeError(f"the node does not have block {number} of its own chain")
        return node_hash == self._hash_at(number)

    def _hash_at(self, number: int) -> bytes | None:
        stored_hash = self._database.value("indexer/blocks_get_hash", number=number)
        return None if stored_hash is None else bytes(stored_hash)


class Looks:
    """Looks at a node, in a row, that have found the same."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._count = 0
        self._since = 0.0

    def end(self) -> None:
        self._count = 0

    def is_steady(self) -> bool:
        """Count another look; return whether there are STEADY_LOOKS, over STEADY_S."""
        now = self._clock()
        self._since = self._since if self._count else now
        self._count += 1
        return self._count >= STEADY_LOOKS and now - self._since >= STEADY_S


class ForkBackoff:
    """The time for which a fork is kept while the node goes back and forth between forks, as two
    nodes behind a balancer do.

    Following the node unwinds blocks each time, so every return to a fork that was left doubles the
    time for which the present fork is kept. A node that has stayed on another fork for STEADY_S, at
    each of STEADY_LOOKS, is followed before: it went back and forth, and does not any more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: deque[bytes] = deque(maxlen=256)
        self._returns = 0
        self._until = 0.0
        self._differing = Looks(clock)

    def record_agreement(self) -> None:
        """Note that the node has the present fork."""
        self._differing.end()

    def record_unwound(self, head_hash: bytes) -> None:
        self._differing.end()
        self._left.append(head_hash)
        if self._returns:
            self._until = self._clock() + min(0.5 * 2**self._returns, MAX_BACKOFF_S)

    def record_written(self, head_hash: bytes) -> None:
        self._returns = min(self._returns + 1, 10) if head_hash in self._left else 0

    def require_elapsed(self) -> None:
        """Raise NodeError while the last change of forks is too recent."""
        if not self._differing.is_steady() and self._clock() < self._until:
            raise NodeError("the node goes back and forth between forks; staying on this one")


def require_linked(
    blocks: Sequence[DecodedBlock | block_rows.BlockContracts],
    parent_hash: bytes | None,
    genesis_hash: bytes | None = None,
    fault: str = UNLINKED,
) -> None:
    """Raise NodeError unless the blocks follow each other and their parent, and block 0 is the
    chain's. `parent_hash` is None where the first block may have any parent."""
    parents = [parent_hash or blocks[0].parent_hash, *(block.hash for block in blocks)]
    are_linked = all(b.parent_hash == parent for b, parent in zip(blocks, parents, strict=False))
    if not are_linked or (blocks[0].number == 0 and genesis_hash not in (None, blocks[0].hash)):
        raise NodeError(fault)
