"""From the head to the node's head: blocks prefetched, inspected and written in batches."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
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
from scan.indexer.writer import IndexedHead, Writer

# In one database transaction. The larger a batch, the fewer pages of tables that exceed the memory
# are read for each of its rows: see docs/scaling.md.
BATCH_TRANSACTIONS = 24_000
BATCH_BLOCKS = 1_600
BATCH_EVENTS = 80_000
BATCH_S = 10.0  # a slow node's blocks are not kept back until a batch is full
BATCH_LOG_CHARACTERS = 64 * 1024 * 1024
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
        inspected: tuple[Batch, ContractFindings] | None = None
        check_watched_at = time.monotonic() + CHECK_WATCHED_EVERY_S
        with (
            closing(CatchUpProgress(first, last)) as progress,
            ThreadPoolExecutor(1, "inspect") as pool,
            closing(self._prefetcher.blocks(first, last, selection, progress.seconds)) as fetched,
        ):
            try:
                for batch in _batches(fetched):
                    if self._stop.is_set():
                        break
                    parent = inspected[0][-1].hash if inspected else head and head.hash
                    begins_right = batch[0].number > 0 or batch[0].hash == genesis_hash
                    if not are_linked(parent, batch) or not begins_right:
                        raise NodeError(
                            "the parent hashes of the node's blocks do not match each other or the"
                            " indexed head"
                        )
                    inspection = pool.submit(_inspect, inspector, batch, progress)
                    if inspected is not None:
                        writing, inspected = inspected, None
                        head = self._write(head, *writing, progress)
                    inspected = batch, inspection.result()
                    if time.monotonic() >= check_watched_at:
                        if lacks_watched(selection):
                            break
                        check_watched_at = time.monotonic() + CHECK_WATCHED_EVERY_S
            finally:
                if inspected is not None and not self._stop.is_set():
                    head = self._write(head, *inspected, progress)
        return head

    def _write(
        self,
        head: IndexedHead | None,
        batch: Batch,
        findings: ContractFindings,
        progress: CatchUpProgress,
    ) -> IndexedHead:
        with progress.seconds.clock("write"):
            head = self._writer.append(head, batch, findings)
        self._patience.record_written(head.hash)
        self._status.record_following(progress.last)
        progress.advance(head.number, sum(block.transaction_count for block in batch))
        return head


def _inspect(
    inspector: ContractInspector, batch: Batch, progress: CatchUpProgress
) -> ContractFindings:
    with progress.seconds.clock("inspect"):
        return inspector.inspect(batch)


class _BatchSize(NamedTuple):
    blocks: int = 0
    transactions: int = 0
    events: int = 0
    log_characters: int = 0

    def plus(self, blocks: Batch) -> "_BatchSize":
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
