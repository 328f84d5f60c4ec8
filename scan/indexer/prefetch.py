"""Blocks fetched ahead of the writer: by threads here, or in a second process where it pays."""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice

from scan.indexer.block_rows import Extract, extract
from scan.indexer.block_source import FETCHES_AHEAD, BlockSource
from scan.indexer.prefetch_process import FetchProcess, NotStarted
from scan.settings import Settings

log = logging.getLogger(__name__)

FETCH_BLOCKS = 20  # a request's worth
WORTH_A_PROCESS = 200  # blocks; fewer are there before it has started
LOOK_FOR_STOP_S = 0.2

_Submit = Callable[[int, int], "Future[list[Extract]]"]


class Ahead:
    """Reads ranges of blocks, one after another, until `stop` is set."""

    def __init__(self, settings: Settings, source: BlockSource, stop: threading.Event) -> None:
        self._settings = settings
        self._source = source
        self._stop = stop
        self._process: FetchProcess | None = None
        self._may_have_process = len(os.sched_getaffinity(0)) > 1

    def blocks(self, first: int, last: int) -> Generator[list[Extract]]:
        """Blocks first..last in order, a request's worth at a time; raises what fetching does.

        After a fault the second process stays, with what it has learnt of the node.
        """
        process = self._process_for(last - first + 1)
        if process is not None:
            yield from self._in_order(process.submit, first, last)
        else:
            with ThreadPoolExecutor(FETCHES_AHEAD, "fetch") as pool:
                yield from self._in_order(lambda *span: pool.submit(self._read, *span), first, last)
        self.close()

    def close(self) -> None:
        """End the second process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _process_for(self, blocks: int) -> FetchProcess | None:
        if blocks < WORTH_A_PROCESS or not self._may_have_process:
            return None
        if self._process is not None and self._process.is_over:
            self.close()
        if self._process is None:
            try:
                self._process = FetchProcess(self._settings)
            except NotStarted as error:
                log.warning("no second process to fetch blocks, which is slower: %s", error)
                self._may_have_process = False
        return self._process

    def _read(self, first: int, last: int) -> list[Extract]:
        return [extract(fetched) for fetched in self._source.blocks(first, last)]

    def _in_order(self, submit: _Submit, first: int, last: int) -> Generator[list[Extract]]:
        """A few requests under way at any time."""
        spans = iter(
            (at, min(at + FETCH_BLOCKS - 1, last)) for at in range(first, last + 1, FETCH_BLOCKS)
        )
        ahead = deque(submit(*span) for span in islice(spans, FETCHES_AHEAD))
        try:
            while ahead and not self._stop.is_set():
                if not wait([ahead[0]], LOOK_FOR_STOP_S).done:
                    continue
                blocks = ahead.popleft().result()
                ahead.extend(submit(*span) for span in islice(spans, 1))
                yield blocks
        finally:
            for future in ahead:
                future.cancel()
