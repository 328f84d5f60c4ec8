"""From the head to the node's head: blocks prefetched, inspected and written in batches."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import NamedTuple

from scan.ethereum.client import NodeError
from scan.indexer.block_rows import BlockRows, event_count, log_characters
from scan.indexer.contract_inspection import ContractFindings, ContractInspector
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch import BlockPrefetcher
from scan.indexer.progress import CatchUpProgress
from scan.indexer.reorganisation import ForkPatience, are_linked
from scan.indexer.status_report import StatusReporter
from scan.indexer.writer import Append, IndexedHead, InspectedBatch, Writer, inspected_batch

# In one database transaction. The larger a batch, the fewer pages of tables that exceed the memory
# are read for each of its rows: see docs/scaling.md.
BATCH_TRANSACTIONS = 24_000
BATCH_BLOCKS = 1_600
BATCH_EVENTS = 80_000
BATCH_S = 10.0  # a slow node's blocks are not kept back until a batch is full
BATCH_LOG_CHARACTERS = 64 * 1024 * 1024
# Batches are committed together, with what is derived from all of them at once, up to this share of
# the index: so each page of a derived table gets as many rows at once, however large the table is.
COMMIT_SHARE = 20
COMMIT_S = 60.0  # longer than that nobody is kept waiting for new blocks
# For webhooks that watch another emitter since: blocks fetched ahead lack its logs, and are fetched
# again. Somebody may register such webhooks all the time, so not more often.
CHECK_WATCHED_EVERY_S = 10.0

Batch = list[BlockRows]


class CatchUp:
    """Writes ranges of blocks; fetching, inspecting and writing overlap."""

    def __init__(
        self,
        writer: Writer,
        prefetcher: BlockPrefetcher,
        status: StatusReporter,
        patience: ForkPatience,
        stop: threading.Event,
    ) -> None:
        self._writer = writer
        self._prefetcher = prefetcher
        self._status = status
        self._patience = patience
        self._stop = stop
        self._transactions_per_s = 0.0  # of the last commit; 0 before the first and after a fault

    def run(
        self,
        inspector: ContractInspector,
        genesis_hash: bytes,
        head: IndexedHead | None,
        first: int,
        last: int,
        selection: LogSelection,
        lacks_watched: Callable[[LogSelection], bool],
    ) -> IndexedHead | None:
        """Write first..last; returns the new head. Batches before a fault are written.

        Ends early where the selection lacks emitters that webhooks watch by now.

        While PostgreSQL is busy with one batch, the next one is inspected. Raises NodeError where
        blocks do not link: a reorganisation is to be found then.
        """
        with (
            closing(CatchUpProgress(first, last)) as progress,
            ThreadPoolExecutor(1, "inspect") as pool,
            closing(self._prefetcher.blocks(first, last, selection, progress.seconds)) as fetched,
        ):
            linked = _linked(_batches(fetched), head and head.hash, genesis_hash)
            batches = _inspected(linked, inspector, pool, progress)
            return self._write_all(
                head, batches, inspector, progress, lambda: lacks_watched(selection)
            )

    def _write_all(
        self,
        head: IndexedHead | None,
        batches: Iterator[InspectedBatch],
        inspector: ContractInspector,
        progress: CatchUpProgress,
        lacks_watched: Callable[[], bool],
    ) -> IndexedHead | None:
        """One commit after another; a fault is raised when what came before it is written."""
        check_watched_at = time.monotonic() + CHECK_WATCHED_EVERY_S
        batch, fault = _next(batches)
        while batch is not None and not self._stop.is_set():
            began = time.monotonic()
            limit = self._commit_size(head)
            self._transactions_per_s = 0.0
            try:
                with self._writer.appending(head, batch) as append:
                    head, batch, fault = self._append(append, batch, batches, limit, progress)
            except _Stopped:
                return head
            self._transactions_per_s = append.transactions / (time.monotonic() - began)
            inspector.stored_to = head.number
            self._patience.record_written(head.hash)
            self._status.record_following(progress.last)
            progress.advance(head.number, append.transactions)
            if time.monotonic() >= check_watched_at:
                if lacks_watched():
                    return head
                check_watched_at = time.monotonic() + CHECK_WATCHED_EVERY_S
            if batch is None and fault is None:
                batch, fault = _next(batches)
        if fault is not None:
            raise fault
        return head

    def _append(
        self,
        append: Append,
        batch: InspectedBatch,
        batches: Iterator[InspectedBatch],
        limit: float,
        progress: CatchUpProgress,
    ) -> tuple[IndexedHead, InspectedBatch | None, Exception | None]:
        """Write a batch, and those after it up to `limit` transactions; returns the new head and
        what next() of the batches returned or raised, where that is not written."""
        following, fault = None, None
        with progress.seconds.clock("write"):
            append.add(batch)
        # A batch that is not full is a slow node's, whose blocks are not kept back.
        while append.transactions < limit and EMPTY.plus(batch.blocks).is_full:
            following, fault = _next(batches)
            if self._stop.is_set():
                raise _Stopped
            if following is None or not self._writer.can_take(append.head, following):
                break
            batch, following = following, None
            with progress.seconds.clock("write"):
                append.add(batch)
        with progress.seconds.clock("write"):
            return append.derive(), following, fault

    def _commit_size(self, head: IndexedHead | None) -> float:
        """How many transactions the next commit is to have; below a batch's: one batch.

        After any fault one batch is committed alone, so that no fault that comes again with many
        batches stops the index.
        """
        if head is None:
            return 0.0
        return min(head.totals.transactions / COMMIT_SHARE, self._transactions_per_s * COMMIT_S)


class _Stopped(Exception):
    """Several batches are not committed: deriving what follows from them takes too long."""


def _linked(batches: Iterable[Batch], parent: bytes | None, genesis_hash: bytes) -> Iterator[Batch]:
    for batch in batches:
        begins_right = batch[0].number > 0 or batch[0].hash == genesis_hash
        if not are_linked(parent, batch) or not begins_right:
            raise NodeError(
                "the parent hashes of the node's blocks do not match each other or the indexed head"
            )
        parent = batch[-1].hash
        yield batch


def _inspected(
    batches: Iterable[Batch],
    inspector: ContractInspector,
    pool: ThreadPoolExecutor,
    progress: CatchUpProgress,
) -> Iterator[InspectedBatch]:
    """Each while the next one is inspected; the last one before a fault comes before the fault."""
    inspected: InspectedBatch | None = None
    try:
        for batch in batches:
            inspection = pool.submit(_inspect, inspector, batch, progress)
            if inspected is not None:
                ready, inspected = inspected, None
                yield ready
                del ready
            inspected = inspected_batch(batch, inspection.result())
    except Exception:
        if inspected is not None:
            yield inspected
        raise
    if inspected is not None:
        yield inspected


def _inspect(
    inspector: ContractInspector, batch: Batch, progress: CatchUpProgress
) -> ContractFindings:
    with progress.seconds.clock("inspect"):
        return inspector.inspect(batch)


def _next(
    batches: Iterator[InspectedBatch],
) -> tuple[InspectedBatch | None, Exception | None]:
    """The next batch, or the fault instead of it; neither at the end."""
    try:
        return next(batches, None), None
    except Exception as fault:
        return None, fault


class _BatchSize(NamedTuple):
    blocks: int = 0
    transactions: int = 0
    events: int = 0
    log_characters: int = 0

    def plus(self, blocks: Sequence[BlockRows]) -> "_BatchSize":
        return _BatchSize(
            self.blocks + len(blocks),
            self.transactions + sum(block.transaction_count for block in blocks),
            self.events + sum(map(event_count, blocks)),
            self.log_characters + sum(map(log_characters, blocks)),
        )

    @property
    def is_full(self) -> bool:
        return (
            self.blocks >= BATCH_BLOCKS
            or self.transactions >= BATCH_TRANSACTIONS
            or self.events >= BATCH_EVENTS
            or self.log_characters >= BATCH_LOG_CHARACTERS
        )


EMPTY = _BatchSize()


def _batches(fetched: Iterable[list[BlockRows]]) -> Iterator[Batch]:
    """Yields batches for one database transaction; blocks before a failure are yielded first."""
    batch: Batch = []
    size = EMPTY
    began = time.monotonic()
    try:
        for blocks in fetched:
            batch += blocks
            size = size.plus(blocks)
            if size.is_full or time.monotonic() >= began + BATCH_S:
                full, batch, size = batch, [], EMPTY
                yield full
                began = time.monotonic()
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
