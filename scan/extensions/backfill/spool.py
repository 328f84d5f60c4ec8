"""The work of a backfill's worker: it reads a range of blocks, from the node or from elsewhere as
an extension may bring them, checks how they join, and writes the files of the range.
"""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scan.ethereum import client, node_errors, served_chain
from scan.extensions.backfill import block_columns, plan
from scan.extensions.backfill.range_files import RangeFiles
from scan.indexer.block_rows import FetchedBlock, LogSelection
from scan.indexer.block_source import BlockSource
from scan.indexer.node_reader import read_hash
from scan.indexer.prefetch_process import prefer_throughput

if TYPE_CHECKING:  # most workers read no files of history
    from scan.extensions.backfill.history_source import ChainFiles, HistorySource, RangeHistory

# With 20 blocks, a parsed answer outgrows the processor's cache: 9 us a transaction instead of 4.
FETCH_BLOCKS = 5
REQUESTS_AHEAD = 2  # of one worker
PATIENCE_S = 60.0  # of a worker with a request; then the main process decides

_sources: dict[tuple[Any, ...], tuple[client.Node, BlockSource]] = {}  # of this process


class RangeTask(NamedTuple):
    """A range for a worker, with the settings that it needs."""

    rpc_urls: tuple[str, ...]
    ca_bundle: str
    traces: str
    selection: LogSelection
    blocks: plan.Range
    history: "RangeHistory | None" = None
    chain: served_chain.ChainIdentity | None = None
    computes_senders: bool = True
    stores_bodies: bool = False

    def __repr__(self) -> str:  # without URLs of nodes, whose keys no log may have
        return f"blocks {self.blocks.first} to {self.blocks.last}"


def begin_worker() -> None:
    """Initialise a process of a pool, which imports this module alone: it ends with the main
    process, while pebble would leave it running."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def spool_range(task: RangeTask, folder: Path) -> int:
    """Write the files of a range, and return how many transactions it has. Raises the errors of
    BlockSource.blocks(), NodeError where blocks are not linked to each other, and OSError."""
    selection, blocks = task.selection, task.blocks
    options: dict[str, Any] = {
        "traces": task.traces,
        "computes_senders": task.computes_senders,
        "stores_bodies": task.stores_bodies,
    }
    key = (task.rpc_urls, task.ca_bundle, task.chain, *options.values())
    if key not in _sources:
        prefer_throughput()
        chain = served_chain.ServedChain(task.rpc_urls, lambda: task.chain)
        node = client.Node(task.rpc_urls, ca_bundle=task.ca_bundle, chain=chain)
        _sources[key] = (node, BlockSource(node, **options))
    tables = block_columns.RangeTables(selection)
    transactions, last_hash = 0, None
    for fetched in _fetch(task, *_sources[key]):
        tables.add(fetched)
        for block in (traced.block for traced in fetched):
            if last_hash not in (None, block.parent_hash):
                raise client.NodeError("the node's blocks do not name each other as parents")
            last_hash = block.hash
            transactions += len(block.transactions)
    RangeFiles(folder).write(blocks, tables.finish())
    return transactions


def _fetch(task: RangeTask, node: client.Node, source: BlockSource) -> Iterator[list[FetchedBlock]]:
    """Yield the blocks of a range, some at a time."""
    if task.history is None:
        yield from _fetch_ahead(source, task.blocks)
        return
    with closing(task.history.source(node, source)) as elsewhere:
        for request in plan.split(*task.blocks, FETCH_BLOCKS):
            yield _fetch_some(elsewhere, *request)


def _fetch_ahead(source: BlockSource, blocks: plan.Range) -> Iterator[list[FetchedBlock]]:
    """Yield the blocks of one request after another. The next requests are sent meanwhile."""
    requests = iter(plan.split(*blocks, FETCH_BLOCKS))
    with ThreadPoolExecutor(REQUESTS_AHEAD, "fetch") as pool:
        pending = deque(
            pool.submit(_fetch_some, source, *request)
            for request in islice(requests, REQUESTS_AHEAD)
        )
        try:
            while pending:
                fetched = pending.popleft().result()
                pending.extend(
                    pool.submit(_fetch_some, source, *request) for request in islice(requests, 1)
                )
                yield fetched
        finally:
            for future in pending:
                future.cancel()


def _fetch_some(source: "BlockSource | HistorySource", first: int, last: int) -> list[FetchedBlock]:
    retries = node_errors.Retries(PATIENCE_S)
    return [*plan.whole_range(lambda *ends: retries.run(source.blocks, *ends), first, last)]


class NodeLinks:
    """The blocks of a backfill's files compared with the node's by their hashes."""

    def __init__(self, source: BlockSource, history: "ChainFiles | None") -> None:
        self._source = source
        self._history = history
        self._history_end = -1 if history is None else history.last_block
        self._last_hash = history and history.last_hash

    def are_of_node(self, files: RangeFiles, blocks: plan.Range) -> bool:
        """Return whether the node has a range's last block. A block of another source is taken to
        be the node's where the node has no block at its place any more."""
        node_hash = read_hash(self._source.node, blocks.last)
        if node_hash is None and blocks.last <= self._history_end:
            return True
        return node_hash == files.ends(blocks).hash

    def remove_foreign(self, files: RangeFiles, ranges: Sequence[plan.Range]) -> None:
        """Delete the files of the last ranges that the node has not."""
        for blocks in reversed(ranges):
            if files.has(blocks):
                if self.are_of_node(files, blocks):
                    break
                files.remove(blocks)

    def remove_refused(self, files: RangeFiles, ranges: Sequence[plan.Range]) -> list[plan.Range]:
        """Delete the files of ranges that are taken from another source now, and return the ranges:
        what was read of them before may be of another chain."""
        refused = [] if self._history is None else self._history.newly_refused()
        return [blocks for span in refused for blocks in remove(files, ranges, span)]

    def remove_broken(self, files: RangeFiles, ranges: Sequence[plan.Range]) -> list[plan.Range]:
        """Delete the files of neighbouring ranges that do not follow on each other, and return the
        ranges. What another source than the node has of them is taken from the next source: the
        second range, as the first one follows on those before it; the first one if the node has the
        second. Raises SpoolFailed where there is no other source."""
        removed: list[plan.Range] = []
        ends = [(blocks, files.ends(blocks)) for blocks in ranges]
        for (before, ends_before), (after, ends_after) in pairwise(ends):
            if ends_after.parent_hash == ends_before.hash or before in removed:
                continue  # one that is removed will be another one
            reason = f"block {after.first} does not name block {before.last} as its parent"
            if self._history is None or before.last > self._history_end:
                span = plan.Range(before.first, after.last)
            else:
                number = after.first if after.first <= self._history_end else before.last
                span = self._history.refuse(number, reason)
            removed += remove(files, ranges, span)
        return removed

    def require_last(self, number: int, hash_: bytes) -> None:
        """Raise Forked where the node has another last block, CannotBackfill where it has none, and
        the operator has not given this hash."""
        node_hash = read_hash(self._source.node, number)
        if node_hash is None and number <= self._history_end:
            if self._last_hash == hash_:
                return
            raise plan.CannotBackfill(
                f"block {number} is 0x{hash_.hex()} in the files, and the node has pruned it: give"
                " its true hash with --last-hash, or leave --last-block out"
            )
        if node_hash != hash_:
            raise plan.Forked(f"the node has another block {number} now")


def remove(files: RangeFiles, ranges: Sequence[plan.Range], span: plan.Range) -> list[plan.Range]:
    """Delete the files of the ranges that have any of the blocks, and return these ranges."""
    removed = [r for r in ranges if r.first <= span.last and span.first <= r.last]
    for blocks in removed:
        files.remove(blocks)
    return removed
