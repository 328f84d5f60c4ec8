"""The work of a worker: it fetches and decodes a range of blocks, and writes its files."""

import gc
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from scan.ethereum.client import Node, NodeError
from scan.ethereum.retries import Retries
from scan.ethereum.served_chain import ChainIdentity, ServedChain
from scan.extensions.backfill.block_columns import RangeTables
from scan.extensions.backfill.range_files import Range, RangeFiles, split
from scan.indexer.block_source import BlockSource
from scan.indexer.fetched_block import FetchedBlock
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS

# With 20 blocks, a parsed answer outgrows the processor's cache: 9 us a transaction instead of 4.
FETCH_BLOCKS = 5
REQUESTS_AHEAD = 2  # of one worker
PATIENCE_S = 60.0  # of a worker with a request; then the main process decides

_sources: dict[tuple[Any, ...], tuple[Node, BlockSource]] = {}  # of this process


class SpoolFailed(Exception):
    """The files of a range cannot be written, for a reason that no other try may mend."""


class Source(Protocol):
    """Blocks of a node, or of elsewhere."""

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return blocks as BlockSource.blocks() does. Raises SpoolFailed, too."""


class RangeSource(Source, Protocol):
    """Blocks of a range that come from elsewhere than a node's block methods."""

    def close(self) -> None:
        """Close its files."""


class RangeHistory(Protocol):
    """Where a range's blocks are besides the node."""

    def source(self, node: Node, blocks: BlockSource) -> RangeSource:
        """Open them. Blocks that are not there are read from the node's `blocks`."""

    def on_another_machine(self, folder: Path) -> "RangeHistory":
        """Return them for a worker that shares no folder of downloads."""


class RangeTask(NamedTuple):
    """A range for a worker, with the settings that it needs."""

    rpc_urls: tuple[str, ...]
    ca_bundle: str
    traces: str
    selection: LogSelection
    blocks: Range
    history: "RangeHistory | None" = None
    chain: ChainIdentity | None = None
    computes_senders: bool = True

    def __str__(self) -> str:
        return f"blocks {self.blocks.first} to {self.blocks.last}"

    def __repr__(self) -> str:
        return str(self)  # without URLs of nodes, whose keys no log may have


def spool_range(task: RangeTask, folder: Path) -> int:
    """Write the files of a range, and return how many transactions it has. Raises the errors of
    BlockSource.blocks(), and OSError."""
    selection, blocks = task.selection, task.blocks
    key = (task.rpc_urls, task.ca_bundle, task.traces, task.chain, task.computes_senders)
    if key not in _sources:
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        chain = ServedChain(task.rpc_urls, lambda: task.chain)
        node = Node(task.rpc_urls, ca_bundle=task.ca_bundle, chain=chain)
        _sources[key] = (
            node,
            BlockSource(node, traces=task.traces, computes_senders=task.computes_senders),
        )
    tables = RangeTables(selection)
    transactions = _read(_fetch(task, *_sources[key]), tables)
    RangeFiles(folder).write(blocks, tables.finish())
    return transactions


def _fetch(task: RangeTask, node: Node, source: BlockSource) -> Iterator[list[FetchedBlock]]:
    """Yield the blocks of a range, some at a time."""
    if task.history is None:
        yield from _fetch_ahead(source, task.blocks)
        return
    with closing(task.history.source(node, source)) as elsewhere:
        for request in split(*task.blocks, FETCH_BLOCKS):
            yield _fetch_some(elsewhere, *request)


def _read(fetching: Iterator[list[FetchedBlock]], tables: RangeTables) -> int:
    """Read a range into `tables`, and return how many transactions it has.

    Raises NodeError, also where blocks are not linked to each other.
    """
    transactions, last_hash = 0, None
    for fetched in fetching:
        tables.add(fetched)
        for block in (traced.block for traced in fetched):
            if last_hash not in (None, block.parent_hash):
                raise NodeError("the node's blocks do not name each other as parents")
            last_hash = block.hash
            transactions += len(block.transactions)
    return transactions


def _fetch_ahead(source: BlockSource, blocks: Range) -> Iterator[list[FetchedBlock]]:
    """Yield the blocks of one request after another. The next requests are sent meanwhile."""
    requests = iter(split(*blocks, FETCH_BLOCKS))
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


def _fetch_some(source: Source, first: int, last: int) -> list[FetchedBlock]:
    retries, fetched = Retries(PATIENCE_S), list[FetchedBlock]()
    while first <= last:
        fetched += retries.run(partial(source.blocks, first, last))
        first = fetched[-1].block.number + 1
    return fetched
