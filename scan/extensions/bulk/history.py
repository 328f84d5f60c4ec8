"""Blocks of a chain that come from elsewhere than the node, as an extension may bring them, and how
they are joined to the node's."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from scan.extensions.bulk.plan import CannotBackfill, Forked
from scan.extensions.bulk.progress import PartProgress
from scan.extensions.bulk.range_files import Range, RangeFiles, broken_links
from scan.extensions.bulk.spool import RangeHistory
from scan.indexer.block_source import BlockSource


class History(Protocol):
    """The first blocks of a chain, up to `last_block`."""

    last_block: int
    last_hash: bytes | None  # of the backfill's last block, where the operator has given it

    def of_range(self, blocks: Range) -> RangeHistory | None:
        """Return where a range's blocks are; None where the node alone has them."""

    def transactions_of(self, number: int) -> float:
        """Return about how many transactions a block has. Raises NodeError."""

    def refuse(self, number: int, reason: str) -> tuple[int, int]:
        """Take a block, and those beside it, from another source from now on. Return the first and
        the last of them."""

    def release(self, is_done: Callable[[int, int], bool]) -> None:
        """Delete what was only copied for this run; `is_done` says whether all blocks from a first
        one up to a last one are written."""

    def end(self) -> None:
        """Delete what the run leaves."""


class NodeLinks:
    """The blocks of a backfill's files compared with the node's by their hashes."""

    def __init__(self, source: BlockSource, history: History | None) -> None:
        self._source = source
        self._history = history
        self._history_end = -1 if history is None else history.last_block
        self._last_hash = history and history.last_hash

    def are_of_node(self, files: RangeFiles, blocks: Range) -> bool:
        """Return whether the node has a range's last block. A block of another source is taken to
        be the node's where the node has no block at its place any more."""
        own = self._source.hash_at(blocks.last)
        if own is None and blocks.last <= self._history_end:
            return True
        return own == files.ends(blocks).hash

    def remove_foreign(self, files: RangeFiles, ranges: Sequence[Range]) -> None:
        """Delete the files of the last ranges that the node has not."""
        for blocks in reversed(ranges):
            if files.has(blocks):
                if self.are_of_node(files, blocks):
                    break
                files.remove(blocks)

    def remove_broken(
        self, files: RangeFiles, ranges: Sequence[Range]
    ) -> list[tuple[Range, Range]]:
        """Delete the files of neighbouring ranges that do not follow on each other, and return the
        ranges. Where another source than the node has any of them, it is taken from the next one:
        from the second range's, as the first one follows on those before it, unless the node has
        the second range."""
        broken = list(broken_links(files, ranges))
        for before, after in broken:
            files.remove(before)
            files.remove(after)
            number = after.first if after.first <= self._history_end else before.last
            if self._history is not None and number <= self._history_end:
                reason = f"block {after.first} does not name block {before.last} as its parent"
                first, last = self._history.refuse(number, reason)
                for blocks in ranges:
                    if blocks.first <= last and first <= blocks.last:
                        files.remove(blocks)
        return broken

    def require_last(self, number: int, hash_: bytes) -> None:
        """Raise Forked where the node has another last block, CannotBackfill where it has none, and
        the operator has not given this hash."""
        own = self._source.hash_at(number)
        if own is None and number <= self._history_end:
            if self._last_hash == hash_:
                return
            raise CannotBackfill(
                f"block {number} is 0x{hash_.hex()} in the files, and the node has pruned it: give"
                " its true hash with --last-hash, or leave --last-block out"
            )
        if own != hash_:
            raise Forked(f"the node has another block {number} now")


def advancing(
    progress: PartProgress, history: History | None, files: RangeFiles, ranges: Sequence[Range]
) -> Callable[[int, int], None]:
    """Return what to call for each written range: it shows progress and releases its source."""
    if history is None:
        return progress.advance
    is_done = partial(files.have, ranges)

    def advance(units: int, transactions: int) -> None:
        progress.advance(units, transactions)
        history.release(is_done)

    return advance
