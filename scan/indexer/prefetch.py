"""Blocks fetched ahead of the writer, by threads or, during catch-up, in a second process. Blocks
that one request has are fetched by their reader's own thread."""

import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from scan.indexer.block_rows import BlockRows, log_characters
from scan.indexer.block_source import BlockSource, FetchedRows
from scan.indexer.fetch_limit import CHARACTERS_AHEAD, FETCHES_AHEAD, MAX_CONCURRENCY, FetchLimit
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch_process import ProcessForLongRanges
from scan.indexer.progress import StageSeconds
from scan.observability.metrics import count_stage
from scan.settings import Settings

CHECK_STOP_S = 0.2

_Submit = Callable[[int, int], "Future[FetchedRows]"]
_Pending = deque[tuple["Future[FetchedRows]", int]]


class BlockPrefetcher:
    """Reads ranges of blocks, one after another, until `stop` is set."""

    def __init__(self, settings: Settings, source: BlockSource, stop: threading.Event) -> None:
        self._source = source
        self._stop = stop
        self._limit = FetchLimit(stop)
        self._second_process = ProcessForLongRanges(settings, self._limit)
        # Its threads stay, with their connections to the node.
        self._threads = ThreadPoolExecutor(MAX_CONCURRENCY, "fetch")

    def blocks(
        self, first: int, last: int, selection: LogSelection, seconds: StageSeconds
    ) -> Generator[list[BlockRows]]:
        """Yield the blocks first..last in order, the blocks of one request at a time. Raises the
        errors of BlockSource.blocks(), and ProcessEnded.

        After a fault the second process stays: it remembers which methods the node offers.
        """
        if (process := self._second_process.for_range(last - first + 1)) is not None:
            yield from self._in_order(
                lambda start, end: process.submit(start, end, selection), first, last, seconds
            )
        else:
            yield from self._in_order(
                lambda start, end: self._threads.submit(
                    self._limit.run, partial(self._source.rows, start, end, selection)
                ),
                first,
                last,
                seconds,
            )
        self._second_process.close()

    def fetch(self, first: int, last: int, selection: LogSelection) -> list[BlockRows]:
        """Return what one request of this thread returns of the blocks first..last. Raises as
        blocks() does."""
        self._second_process.close()
        fetched = self._limit.run(partial(self._source.rows, first, last, selection))
        self._record(fetched, was_waited_for=False)
        count_stage("node", fetched.node_s)
        count_stage("decode", fetched.decode_s)
        return fetched.blocks

    def is_short(self, first: int, last: int) -> bool:
        """Return whether one request has these blocks, as at the head: there is nothing to fetch
        ahead, and a thread that stays has a connection to the node."""
        return last - first < self._limit.blocks

    def close(self) -> None:
        """End the threads, and the second process, if there is one."""
        self._second_process.close()
        self._threads.shutdown(cancel_futures=True)

    def _in_order(
        self, submit: _Submit, first: int, last: int, seconds: StageSeconds
    ) -> Generator[list[BlockRows]]:
        """Yield blocks in order, with some requests ahead. Blocks that a request left out at its
        end are requested next."""
        pending: _Pending = deque()
        try:
            while not self._stop.is_set():
                while first <= last and not _are_enough(pending):
                    range_last = min(first + self._limit.blocks - 1, last)
                    pending.append((submit(first, range_last), range_last))
                    first = range_last + 1
                if not pending:
                    return
                future, range_last = pending[0]
                was_waited_for = not future.done()
                if not wait([future], CHECK_STOP_S).done:
                    continue
                pending.popleft()
                fetched = future.result()
                fetched_last = fetched.blocks[-1].number
                if fetched_last < range_last:
                    pending.appendleft((submit(fetched_last + 1, range_last), range_last))
                self._record(fetched, was_waited_for=was_waited_for)
                seconds.add("node", fetched.node_s)
                seconds.add("decode", fetched.decode_s)
                blocks = fetched.blocks
                del future, fetched
                yield blocks
        finally:
            for future, _ in pending:
                future.cancel()

    def _record(self, fetched: FetchedRows, *, was_waited_for: bool) -> None:
        blocks = fetched.blocks
        transactions = sum(len(block.transactions) for block in blocks)
        self._limit.record_answer(len(blocks), transactions, was_waited_for=was_waited_for)


def _are_enough(pending: _Pending) -> bool:
    fetched = (future.result() for future, _ in pending if _has_rows(future))
    characters = sum(log_characters(block) for rows in fetched for block in rows.blocks)
    return len(pending) >= FETCHES_AHEAD or characters >= CHARACTERS_AHEAD


def _has_rows(future: "Future[FetchedRows]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
