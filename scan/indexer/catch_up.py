"""Catching up from the indexed head to the node's: the blocks of one request are written as they
are read; of more blocks, batches are read ahead of the writer, and committed together."""

import itertools
import threading
from collections.abc import Callable
from contextlib import closing
from time import monotonic

from scan.indexer.batch_reader import BatchReader, MissingBlocks
from scan.indexer.contract_inspection import ContractInspector
from scan.indexer.fork_finder import ForkBackoff, require_linked
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch import BlockPrefetcher
from scan.indexer.progress import CatchUpProgress
from scan.indexer.status_report import StatusReporter
from scan.indexer.writer import Append, IndexedHead, InspectedBatch, Writer, inspected_batch
from scan.observability.metrics import count_stage

# Batches are committed together, up to this share of the index, and derived tables are updated from
# all of them at once: so a page of a derived table gets as many rows at once, however large the
# table is.
COMMIT_SHARE = 20
COMMIT_TRANSACTIONS = 1_000_000
# Before a commit its blocks are in no response, and a stop or a migration may have to wait for it.
COMMIT_S = 20.0
# How often it is checked whether webhooks watch further emitters: blocks fetched ahead lack their
# logs and are fetched again. Clients may register such webhooks all the time, so not more often.
CHECK_WATCHED_EVERY_S = 10.0


class CatchUp:
    """Writes ranges of blocks."""

    def __init__(
        self,
        writer: Writer,
        prefetcher: BlockPrefetcher,
        status: StatusReporter,
        fork_backoff: ForkBackoff,
        stop: threading.Event,
        maintain: Callable[[int], None],
    ) -> None:
        """`maintain` is called between commits, with the newest block."""
        self._writer = writer
        self._prefetcher = prefetcher
        self._status = status
        self._fork_backoff = fork_backoff
        self._stop = stop
        self._maintain = maintain
        self._has_committed = False  # since the last fault
        self._derive_s = 0.0  # for each batch of the last commit

    def run(
        self,
        inspector: ContractInspector,
        missing: MissingBlocks,
        lacks_watched: Callable[[LogSelection], bool],
    ) -> IndexedHead | None:
        """Write the missing blocks, or the first of them, and return the new head. Batches before a
        fault are written. Raises NodeError where blocks do not link, as after a reorganisation."""
        if self._prefetcher.is_short(missing.first, missing.last):
            return self._write(inspector, missing)
        return self._write_many(inspector, missing, lacks_watched)

    def _write(self, inspector: ContractInspector, missing: MissingBlocks) -> IndexedHead:
        """Write what one request returns of the missing blocks, as at the node's head."""
        first, last, head, genesis_hash, selection = missing
        blocks = self._prefetcher.fetch(first, last, selection)
        require_linked(blocks, head and head.hash, genesis_hash)
        began = monotonic()
        batch = inspected_batch(blocks, inspector.inspect([block.contracts for block in blocks]))
        inspected = monotonic()
        with self._writer.appending(head, batch, alone=True) as append:
            append.add(batch)
            head = append.derive()
            self._status.store_following(append.transaction, last)
        count_stage("inspect", inspected - began)
        count_stage("write", monotonic() - inspected)
        self._note_written(inspector, head, last)
        return head

    def _write_many(
        self,
        inspector: ContractInspector,
        missing: MissingBlocks,
        lacks_watched: Callable[[LogSelection], bool],
    ) -> IndexedHead | None:
        """Write blocks while the next ones are read. Ends early where the selection lacks emitters
        that webhooks watch by now."""
        head = missing.head
        check_watched_at = monotonic() + CHECK_WATCHED_EVERY_S
        with (
            closing(CatchUpProgress(missing.first, missing.last)) as progress,
            BatchReader(self._prefetcher, inspector, missing, progress.seconds) as batches,
        ):
            while (batch := batches.peek()) is not None and not self._stop.is_set():
                try:
                    head = self._commit(head, batch, batches, progress)
                except _Stopped:
                    return head
                self._note_written(inspector, head, missing.last)
                if monotonic() >= check_watched_at:
                    if lacks_watched(missing.selection):
                        return head
                    check_watched_at = monotonic() + CHECK_WATCHED_EVERY_S
            if batches.fault is not None:
                raise batches.fault
        return head

    def _note_written(self, inspector: ContractInspector, head: IndexedHead, last: int) -> None:
        self._fork_backoff.record_written(head.hash)
        self._status.note_following(last)
        inspector.stored_to = head.number
        self._maintain(head.number)

    def _commit(
        self,
        head: IndexedHead | None,
        first: InspectedBatch,
        batches: BatchReader,
        progress: CatchUpProgress,
    ) -> IndexedHead:
        """Commit `first` with the batches after it, and return the new head. After a fault `first`
        is committed alone, so that a fault that recurs with many batches does not stop the index.
        """
        size = self._commit_size(head)
        self._has_committed = False
        with self._writer.appending(head, first) as append:
            head = self._append(append, batches, size, progress)
            self._status.store_following(append.transaction, progress.last)
        self._has_committed = True
        progress.advance(head.number, append.transactions)
        return head

    def _commit_size(self, head: IndexedHead | None) -> int:
        """Return how many transactions the next commit is to have; 0 for a single batch."""
        if head is None or not self._has_committed:
            return 0
        return min(head.totals.transactions // COMMIT_SHARE, COMMIT_TRANSACTIONS)

    def _append(
        self, append: Append, batches: BatchReader, size: int, progress: CatchUpProgress
    ) -> IndexedHead:
        began = monotonic()
        for count in itertools.count(1):
            batch = batches.take()
            with progress.seconds.clock("write"):
                append.add(batch)
            if append.transactions >= size:
                break
            # A batch that is not full comes from a slow node; it is committed at once.
            if not batch.is_full:
                break
            batch_s = (monotonic() - began) / count + self._derive_s
            if (count + 1) * batch_s > COMMIT_S:
                break
            following = batches.peek()
            if self._stop.is_set():
                raise _Stopped
            if following is None or not self._writer.can_take(append.head, following):
                break
        derive_began = monotonic()
        with progress.seconds.clock("write"):
            head = append.derive()
        self._derive_s = (monotonic() - derive_began) / count
        return head


class _Stopped(Exception):
    """Indexing stops, and several batches are dropped: updating derived tables takes too long."""
