"""Fetches blocks ahead of the writer, by threads or, during catch-up, in a second process."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice

from scan.indexer.block_rows import BlockRows, make_block_rows
from scan.indexer.block_source import CONCURRENT_FETCHES, BlockSource
from scan.indexer.log_selection import NO_LOGS, LogSelection
from scan.indexer.prefetch_process import PrefetchProcess, ProcessNotStarted
from scan.settings import Settings

log = logging.getLogger(__name__)

FETCH_BLOCKS = 20  # in one request
MIN_PROCESS_BLOCKS = 200  # fewer are fetched before a process has started
CHECK_STOP_S = 0.2

_Submit = Callable[[int, int], "Future[list[BlockRows]]"]


class BlockPrefetcher:
    """Reads ranges of blocks, one after another, until `stop` is set."""

    def __init__(self, settings: Settings, source: BlockSource, stop: threading.Event) -> None:
        self._settings = settings
        self._source = source
        self._stop = stop
        self._process: PrefetchProcess | None = None
        self._may_have_process = len(os.sched_getaffinity(0)) > 1

    def blocks(
        self, first: int, last: int, selection: LogSelection = NO_LOGS
    ) -> Generator[list[BlockRows]]:
        """Blocks first..last in order, one request's at a time; raises what fetching does.

        After a fault the second process stays, with what it knows of the node's methods.
        """
        process = self._process_for(last - first + 1)
        if process is not None:
            yield from self._in_order(
                lambda start, end: process.submit(start, end, selection), first, last
            )
        else:
            with ThreadPoolExecutor(CONCURRENT_FETCHES, "fetch") as pool:
                yield from self._in_order(
                    lambda start, end: pool.submit(self._fetch, start, end, selection), first, last
                )
        self.close()

    def close(self) -> None:
        """End the second process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _process_for(self, blocks: int) -> PrefetchProcess | None:
        if blocks < MIN_PROCESS_BLOCKS or not self._may_have_process:
            return None
        if self._process is not None and not self._process.is_alive:
            self.close()
        if self._process is None:
            try:
                self._process = PrefetchProcess(self._settings)
            except ProcessNotStarted as error:
                log.warning("no second process to fetch blocks, which is slower: %s", error)
                self._may_have_process = False
        return self._process

    def _fetch(self, first: int, last: int, selection: LogSelection) -> list[BlockRows]:
        return [make_block_rows(fetched, selection) for fetched in self._source.blocks(first, last)]

    def _in_order(self, submit: _Submit, first: int, last: int) -> Generator[list[BlockRows]]:
        """A few requests in flight at any time; what one left out of its range comes next."""
        ranges = iter(
            (start, min(start + FETCH_BLOCKS - 1, last))
            for start in range(first, last + 1, FETCH_BLOCKS)
        )
        pending = deque(
            (submit(start, end), end) for start, end in islice(ranges, CONCURRENT_FETCHES)
        )
        try:
            while pending and not self._stop.is_set():
                future, range_last = pending[0]
                if not wait([future], CHECK_STOP_S).done:
                    continue
                pending.popleft()
                blocks = future.result()
                if blocks[-1].number < range_last:
                    pending.appendleft((submit(blocks[-1].number + 1, range_last), range_last))
                else:
                    pending.extend((submit(start, end), end) for start, end in islice(ranges, 1))
                del future
                yield blocks
        finally:
            for future, _ in pending:
                future.cancel()
