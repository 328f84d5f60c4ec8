"""Blocks of a chain that come from elsewhere than the node, as an extension may bring them, and how
they are joined to the node's."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from scan.extensions.backfill.plan import CannotBackfill, Forked
from scan.extensions.backfill.progress import PartProgress
from scan.extensions.backfill.range_files import Range, RangeFiles, broken_links
from scan.extensions.backfill.spool import RangeHistory
from scan.indexer.block_source import BlockSource


class History(Protocol):
    """The first blocks of a chain, up to `last_block`."""

    last_block: int
    last_hash: bytes | None  # of the backfill's last block, where the operator has given it

    def of_range(self, blocks: Range) -> RangeHistory | None:
        """Return where a range's blocks are; None where the node alone has them."""

    def transactions_of(self, number: int) -> float:
        """Return about how many transactions a block has. Raises NodeError."""

    def refuse(self, number: int, reason: str) -> Range:
        """Take a block, and those beside it, which are returned, from another source from now on.
        Raises SpoolFailed where there is none."""

    def newly_refused(self) -> Sequence[Range]:
        """Return the blocks that are taken from another source since the last call."""

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

    def remove_refused(self, files: RangeFiles, ranges: Sequence[Range]) -> list[Range]:
        """Delete the files of ranges that are taken from another source now, and return the ranges:
        what was read of them before may be of another chain."""
        refused = [] if self._history is None else self._history.newly_refused()
        return [blocks for span in refused for blocks in _remove(files, ranges, span)]

    def remove_broken(self, files: RangeFiles, ranges: Sequence[Range]) -> list[Range]:
        """Delete the files of neighbouring ranges that do not follow on each other, and return the
        ranges. What another source than the node has of them is taken from the next source: the
        second range, as the first one follows on those before it; the first one if the node has the
        second. Raises SpoolFailed where there is no other source."""
        removed: list[Range] = []
        for before, after in list(broken_links(files, ranges)):
            if before in removed:
                continue  # it will be another one
            reason = f"block {after.first} does not name block {before.last} as its parent"
            if self._history is None or before.last > self._history_end:
                span = Range(before.first, after.last)
            else:
                number = after.first if after.first <= self._history_end else before.last
                span = self._history.refuse(number, reason)
            removed += _remove(files, ranges, span)
        return removed

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


def _remove(files: RangeFiles, ranges: Sequence[Range], span: Range) -> list[Range]:
    """Delete the files of the ranges that have any of the blocks, and return these ranges."""
    removed = [r for r in ranges if r.first <= span.last and span.first <= r.last]
    for blocks in removed:
        files.remove(blocks)
    return removed


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
