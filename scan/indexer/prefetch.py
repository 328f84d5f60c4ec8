"""Blocks fetched ahead of the writer, by threads or, during catch-up, in a second process."""

import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait

from scan.indexer.block_rows import BlockRows, log_characters
from scan.indexer.block_source import BlockSource
from scan.indexer.fetch_limit import CHARACTERS_AHEAD, FETCHES_AHEAD, MAX_CONCURRENCY, FetchLimit
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch_process import FetchedRows, ProcessForLongRanges, fetch_rows
from scan.indexer.stage_seconds import StageSeconds
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

    def blocks(
        self, first: int, last: int, selection: LogSelection, seconds: StageSeconds
    ) -> Generator[list[BlockRows]]:
        """Yield the blocks first..last in order, the blocks of one request at a time. Raises the
        errors of BlockSource.blocks(), and ProcessEnded.

        After a fault the second process stays: it remembers which methods the node offers.
        """
        process = self._second_process.for_range(last - first + 1)
        if process is not None:
            yield from self._in_order(
                lambda start, end: process.submit(start, end, selection), first, last, seconds
            )
        else:
            with ThreadPoolExecutor(MAX_CONCURRENCY, "fetch") as pool:
                yield from self._in_order(
                    lambda start, end: pool.submit(
                        self._limit.run, lambda: fetch_rows(self._source, start, end, selection)
                    ),
                    first,
                    last,
                    seconds,
                )
        self.close()

    def close(self) -> None:
        """End the second process, if there is one."""
        self._second_process.close()

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
                blocks, node_s, decode_s = future.result()
                if blocks[-1].number < range_last:
                    pending.appendleft((submit(blocks[-1].number + 1, range_last), range_last))
                transactions = sum(len(block.transactions) for block in blocks)
                self._limit.record_answer(len(blocks), transactions, was_waited_for=was_waited_for)
                seconds.add("node", node_s)
                seconds.add("decode", decode_s)
                del future
                yield blocks
        finally:
            for future, _ in pending:
                future.cancel()


def _are_enough(pending: _Pending) -> bool:
    fetched = (future.result() for future, _ in pending if _has_rows(future))
    characters = sum(log_characters(block) for rows in fetched for block in rows.blocks)
    return len(pending) >= FETCHES_AHEAD or characters >= CHARACTERS_AHEAD


def _has_rows(future: "Future[FetchedRows]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
