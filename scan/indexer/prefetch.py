"""Blocks read ahead of the writer in a catch-up: fetched by threads or other processes, checked
for links, inspected and gathered into batches. Blocks that one request has, as at the head, are
fetched by the writer's own thread.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from functools import partial
from operator import ge
from queue import Full, Queue
from typing import NamedTuple, TypeVar

from scan.ethereum import client, node_errors
from scan.indexer import contract_inspection, fork_finder, prefetch_process, progress, writer
from scan.indexer.block_rows import BlockRows, LogSelection, event_count, long_characters
from scan.indexer.block_source import BlockSource, FetchedRows
from scan.observability.metrics import count_stage
from scan.settings import Settings

# The transactions that one request aims at. Larger answers outgrow the processor's caches: fetching
# and decoding took 39.6 us of processor a transaction with 3,000 in one request, 30.9 with 750,
# 39.9 with 450 (least of eight rounds on a busy machine).
FETCH_TRANSACTIONS = 750
FETCHES_AHEAD = 40  # requests ahead of the writer: more than a batch needs
CHARACTERS_AHEAD = 64 * 1024 * 1024  # of fetched logs, beyond which no blocks are requested
FIRST_CONCURRENCY = 3
PATIENCE_S = 4.0  # with refusals of one request; then the catch-up fails, which is reported
CHECK_STOP_S = 0.2

log = logging.getLogger(__name__)

_T = TypeVar("_T")
_Pending = deque[tuple["Future[FetchedRows]", int]]

# Of tables that exceed the memory, a larger batch reads fewer pages for each of its rows: see
# docs/growing.md.
BATCH_TRANSACTIONS = 24_000
# Batches are committed together, up to this share of the index, and derived tables are updated from
# all of them at once: so a page of a derived table gets as many rows at once, however large the
# table is.
COMMIT_SHARE = 20


class BatchSize(NamedTuple):
    """What a batch has; one with as much of anything as CatchUpLimits.batch is full."""

    blocks: int = 0
    transactions: int = 0
    events: int = 0
    long_characters: int = 0


class CatchUpLimits(NamedTuple):
    """How many blocks one request has at most, from how many missing ones on other processes fetch
    them (fewer are fetched before a process has started), when a batch is full, and when a slow
    node's batch is written although it is not.

    It is checked every `check_watched_s` whether webhooks watch further emitters: blocks fetched
    ahead lack their logs and are fetched again. Clients may register such webhooks all the time, so
    not more often.
    """

    fetch_blocks: int = 20
    process_blocks: int = 200
    batch: BatchSize = BatchSize(1_600, BATCH_TRANSACTIONS, 80_000, 64 * 1024 * 1024)
    batch_s: float = 10.0
    commit_share: int = COMMIT_SHARE
    check_watched_s: float = 10.0


CATCH_UP = CatchUpLimits()


class FetchLimit:
    """The bound on requests in flight, which grows by one after about as many answers as are in
    flight while the writer waits for them, and halves when the node refuses a request, as TCP's
    congestion window does. A rate limit is learnt by refusals: they are no fault for PATIENCE_S.
    """

    def __init__(self, stop: threading.Event, most_blocks: int = CATCH_UP.fetch_blocks) -> None:
        self._stop = stop
        self._most_blocks = most_blocks
        self._changed = threading.Condition()
        self._concurrency = float(FIRST_CONCURRENCY)
        self._in_flight = 0
        self._halved_at = 0.0
        self._resume_at = 0.0
        self._mean_transactions = 0.0

    @property
    def concurrency(self) -> int:
        return int(self._concurrency)

    @property
    def blocks(self) -> int:
        """The number of blocks to request at once."""
        fitting = FETCH_TRANSACTIONS / max(self._mean_transactions, 1.0)
        return max(1, min(self._most_blocks, round(fitting)))

    def record_answer(self, blocks: int, transactions: int, *, was_waited_for: bool) -> None:
        self._mean_transactions += (transactions / blocks - self._mean_transactions) / 4
        if was_waited_for:
            with self._changed:
                grown = self._concurrency + 1 / self._concurrency
                self._concurrency = min(grown, float(prefetch_process.MAX_CONCURRENCY))
                self._changed.notify_all()

    def run(self, request: Callable[[], _T]) -> _T:
        """Send the request when the bound allows it, and return its result. Send it again where the
        node's rate limit refuses it, for PATIENCE_S. Raises RateLimited."""
        retries = node_errors.Retries(PATIENCE_S)
        while True:
            began = self._begin()
            try:
                return request()
            except client.RateLimited as refusal:
                now = time.monotonic()
                with self._changed:
                    # Several refusals of requests that were in flight together count as one.
                    if began > self._halved_at:
                        self._concurrency = max(1.0, self._concurrency / 2)
                        self._halved_at = now
                    self._resume_at = max(self._resume_at, now + retries.pause_s(refusal))
                if self._stop.is_set():
                    raise
            finally:
                with self._changed:
                    self._in_flight -= 1
                    self._changed.notify_all()

    def _begin(self) -> float:
        """Wait until another request may be sent, or indexing stops, and return the time."""
        with self._changed:
            while not self._stop.is_set():
                pause_s = self._resume_at - time.monotonic()
                if pause_s <= 0 and self._in_flight < self.concurrency:
                    break
                self._changed.wait(min(pause_s, 0.2) if pause_s > 0 else 0.2)
            self._in_flight += 1
        return time.monotonic()


class BlockPrefetcher:
    """Reads ranges of blocks, one after another, until `stop` is set."""

    def __init__(
        self, settings: Settings, source: BlockSource, stop: threading.Event, limits: CatchUpLimits
    ) -> None:
        self._settings = settings
        self._source = source
        self._stop = stop
        self.limits = limits
        self.limit = FetchLimit(stop, limits.fetch_blocks)
        self._processes: prefetch_process.FetchProcesses | None = None
        self._may_start_processes = len(os.sched_getaffinity(0)) > 1
        # Its threads stay, with their connections to the node.
        self._threads = ThreadPoolExecutor(prefetch_process.MAX_CONCURRENCY, "fetch")

    def blocks(
        self, first: int, last: int, selection: LogSelection, seconds: progress.StageSeconds
    ) -> Generator[list[BlockRows]]:
        """Yield the blocks first..last in order, the blocks of one request at a time, with some
        requests ahead. Blocks that a request left out at its end are requested next. Raises the
        errors of BlockSource.blocks(), and ProcessEnded.

        After a fault the processes stay: they remember which methods the node offers.
        """
        processes = self._processes_for(last - first + 1)

        def submit(start: int, end: int) -> "Future[FetchedRows]":
            if processes is not None:
                return processes.submit(start, end, selection)
            request = partial(self._source.rows, start, end, selection)
            return self._threads.submit(self.limit.run, request)

        pending: _Pending = deque()
        try:
            while not self._stop.is_set():
                while first <= last and not are_enough(pending):
                    range_last = min(first + self.limit.blocks - 1, last)
                    pending.append((submit(first, range_last), range_last))
                    first = range_last + 1
                if not pending:
                    break
                future, range_last = pending[0]
                was_waited_for = not future.done()
                if not wait([future], CHECK_STOP_S).done:
                    continue
                pending.popleft()
                fetched = future.result()
                fetched_last = fetched.blocks[-1].contracts.number
                if fetched_last < range_last:
                    pending.appendleft((submit(fetched_last + 1, range_last), range_last))
                blocks = fetched.blocks
                transactions = sum(len(block.transactions) for block in blocks)
                self.limit.record_answer(len(blocks), transactions, was_waited_for=was_waited_for)
                seconds.add("node", fetched.node_s)
                seconds.add("decode", fetched.decode_s)
                del future, fetched
                yield blocks
        finally:
            for future, _ in pending:
                future.cancel()
        self._end_processes()

    def fetch(self, first: int, last: int, selection: LogSelection) -> list[BlockRows]:
        """Return what one request of this thread returns of the blocks first..last. Raises as
        blocks() does, and RateLimited at once: there is nothing else in flight."""
        self._end_processes()
        fetched = self._source.rows(first, last, selection)
        transactions = sum(len(block.transactions) for block in fetched.blocks)
        self.limit.record_answer(len(fetched.blocks), transactions, was_waited_for=False)
        count_stage("node", fetched.node_s)
        count_stage("decode", fetched.decode_s)
        return fetched.blocks

    def close(self) -> None:
        """End the threads, and the processes, if there are any."""
        self._end_processes()
        self._threads.shutdown(cancel_futures=True)

    def _processes_for(self, blocks: int) -> prefetch_process.FetchProcesses | None:
        """Return the processes; None where the blocks are too few, or none can start."""
        if blocks < self.limits.process_blocks or not self._may_start_processes:
            return None
        if self._processes is not None and not self._processes.are_alive:
            self._end_processes()
        if self._processes is None:
            try:
                self._processes = prefetch_process.FetchProcesses(self._settings, self.limit.run)
            except prefetch_process.ProcessNotStarted as error:
                log.warning("no process to fetch blocks, which is slower: %s", error)
                self._may_start_processes = False
        return self._processes

    def _end_processes(self) -> None:
        if self._processes is not None:
            self._processes.close()
            self._processes = None


def are_enough(pending: _Pending) -> bool:
    """Return whether no further blocks are to be requested yet."""
    fetched = (
        future.result()
        for future, _ in pending
        if future.done() and not future.cancelled() and future.exception() is None
    )
    characters = sum(long_characters(block) for rows in fetched for block in rows.blocks)
    return len(pending) >= FETCHES_AHEAD or characters >= CHARACTERS_AHEAD


BATCHES_AHEAD = 2  # besides the one being read, and the one being written
CHECK_ENDED_S = 0.2

Batch = list[BlockRows]


class MissingBlocks(NamedTuple):
    """The blocks first..last, which the index lacks above its head, and which of their logs are
    stored or watched."""

    first: int
    last: int
    head: writer.IndexedHead | None
    genesis_hash: bytes
    selection: LogSelection


class BatchReader:
    """The inspected batches of missing blocks, read ahead by a thread until close()."""

    def __init__(
        self,
        prefetcher: BlockPrefetcher,
        inspector: contract_inspection.ContractInspector,
        missing: MissingBlocks,
        seconds: progress.StageSeconds,
    ) -> None:
        self._prefetcher = prefetcher
        self._inspector = inspector
        self._missing = missing
        self._seconds = seconds
        self._ended = threading.Event()
        self._queue: Queue[writer.InspectedBatch | Exception | None] = Queue(BATCHES_AHEAD)
        self._next: writer.InspectedBatch | None = None
        self._is_at_end = False
        self.fault: Exception | None = None  # the error that ended the batches
        self._thread = threading.Thread(target=self._read, name="read", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def peek(self) -> writer.InspectedBatch | None:
        """Wait for the next batch and return it; None at the end, or after a fault."""
        if self._next is None and not self._is_at_end:
            item = self._queue.get()
            if isinstance(item, writer.InspectedBatch):
                self._next = item
            else:
                self._is_at_end, self.fault = True, item
        return self._next

    def take(self) -> writer.InspectedBatch:
        """Return the batch that peek() returned."""
        batch, self._next = self._next, None
        assert batch is not None
        return batch

    def _read(self) -> None:
        """Put the batches into the queue, and at the end None or the error that ended them."""
        end: Exception | None = None
        try:
            with closing(self._inspected()) as batches:
                for batch in batches:
                    self._put(batch)
                    if self._ended.is_set():
                        return
        except Exception as fault:
            end = fault
        finally:
            self._inspector.disconnect()
        self._put(end)

    def _inspected(self) -> Generator[writer.InspectedBatch]:
        first, last, head, genesis_hash, selection = self._missing
        parent_hash = head and head.hash
        with closing(self._prefetcher.blocks(first, last, selection, self._seconds)) as fetched:
            for batch, is_full in batches(fetched, self._prefetcher.limits):
                contracts = [block.contracts for block in batch]
                fork_finder.require_linked(contracts, parent_hash, genesis_hash)
                parent_hash = contracts[-1].hash
                with self._seconds.clock("inspect"):
                    findings = self._inspector.inspect(contracts)
                yield writer.inspected_batch(batch, findings, is_full=is_full)

    def _put(self, item: writer.InspectedBatch | Exception | None) -> None:
        while not self._ended.is_set():
            with suppress(Full):
                self._queue.put(item, timeout=CHECK_ENDED_S)
                return
            self._inspector.disconnect()  # the writer may take minutes


def batches(
    fetched: Iterable[list[BlockRows]], limits: CatchUpLimits
) -> Iterator[tuple[Batch, bool]]:
    """Yield batches of the fetched blocks, each with whether it is full. Before an error is raised,
    the blocks before it are yielded."""
    batch: Batch = []
    size = BatchSize()
    began = time.monotonic()
    try:
        for blocks in fetched:
            batch += blocks
            size = BatchSize(
                len(batch),
                size.transactions + sum(len(block.transactions) for block in blocks),
                size.events + sum(map(event_count, blocks)),
                size.long_characters + sum(map(long_characters, blocks)),
            )
            is_full = any(map(ge, size, limits.batch))
            if is_full or time.monotonic() >= began + limits.batch_s:
                yield batch, is_full
                batch, size = [], BatchSize()
                began = time.monotonic()
    except Exception:
        if batch:
            yield batch, False
        raise
    if batch:
        yield batch, False
