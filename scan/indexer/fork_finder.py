"""Reorganisations: whether the node still has the head, and the newest block that both share."""

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

from scan.database.connection import Database
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.client import NodeError
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
        self, source: block_source.BlockSource, database: Database, start_block: int, finality: int
    ) -> None:
        self._source = source
        self._database = database
        self._start_block = start_block
        self._finality = finality

    def has_head(self, head: writer.IndexedHead, node: NodeHead) -> bool:
        """Return whether the node has the indexed head; if the node is behind, whether the node's
        head is indexed."""
        if node.number >= head.number:
            return node.hash_at_indexed in (None, head.hash)
        if node.number < self._start_block:
            return True
        return read_hash(self._source.node, node.number) in (None, self._hash_at(node.number))

    def find(self, head: writer.IndexedHead, node_head: int) -> int:
        """Return the number of the newest block that both chains share. Steps back double until a
        shared block, and are then halved.

        Raises ForkTooDeep below the finality limit, and NodeError where the node's blocks after the
        fork do not follow on it, or where the first of them is the indexed one: then a hash that
        the node gave alone, without its block, was false.
        """
        fork = self._search(head, node_head)
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
        lowest = max(self._start_block - 1, oldest - 1, head.number - self._finality)
        differs, step = min(head.number, node_head), 1
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


class ForkBackoff:
    """The time for which a fork is kept while the node goes back and forth between forks, as two
    nodes behind a balancer do.

    Following the node unwinds blocks each time, so every return to a fork that was left doubles the
    time for which the present fork is kept. A node that has stayed on another fork for STEADY_S, at
    each of STEADY_LOOKS, is followed before: it went back and forth, and does not any more.
    """

    def __init__(self) -> None:
        self._left: deque[bytes] = deque(maxlen=256)
        self._returns = 0
        self._until = 0.0
        self._differs_since = 0.0
        self._looks = 0  # that have found the node on another fork, in a row

    def record_agreement(self) -> None:
        """Note that the node has the present fork."""
        self._looks = 0

    def record_unwound(self, head_hash: bytes) -> None:
        self._looks = 0
        self._left.append(head_hash)
        if self._returns:
            self._until = time.monotonic() + min(0.5 * 2**self._returns, MAX_BACKOFF_S)

    def record_written(self, head_hash: bytes) -> None:
        self._returns = min(self._returns + 1, 10) if head_hash in self._left else 0

    def require_elapsed(self) -> None:
        """Raise NodeError while the last change of forks is too recent."""
        now = time.monotonic()
        if not self._looks:
            self._differs_since = now
        self._looks += 1
        is_steady = self._looks >= STEADY_LOOKS and now - self._differs_since >= STEADY_S
        if now < self._until and not is_steady:
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
