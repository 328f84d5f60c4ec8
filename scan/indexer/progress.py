"""Progress of a long catch-up: a bar on a terminal, or a log line every few seconds."""

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Never

from tqdm import tqdm

from scan.observability.metrics import count_stage

log = logging.getLogger(__name__)

LOG_EVERY_S = 5.0
LONG_CATCH_UP_BLOCKS = 50
STAGES = ("node", "decode", "inspect", "write")


class StageSeconds:
    """The seconds of a catch-up by stage, which overlap, for several threads.

    `node` is waiting for answers and `decode` decoding them, both summed over the requests in
    flight; `inspect` is reading contracts and tokens from the node; `write` is PostgreSQL.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[str] = Counter()

    def add(self, stage: str, seconds: float) -> None:
        count_stage(stage, seconds)
        with self._lock:
            self._sums[stage] += seconds  # type: ignore[assignment]

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - began)

    def __str__(self) -> str:
        return ", ".join(f"{stage} {self._sums[stage]:.1f} s" for stage in STAGES)


class CatchUpProgress:
    """The progress of a catch-up from `first` to `last`: rate, share, time left, time by stage."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self._began = self._logged_at = time.monotonic()
        self._transactions = 0
        self.seconds = StageSeconds()
        self._is_long = last - first >= LONG_CATCH_UP_BLOCKS
        self._bar: tqdm[Never] | None = None
        if self._is_long and sys.stderr.isatty():
            self._bar = tqdm(total=last - first + 1, desc="indexing", unit=" blocks", leave=False)

    def advance(self, number: int, transactions: int) -> None:
        self._transactions += transactions
        if self._bar is not None:
            self._bar.update(number - self.first + 1 - self._bar.n)
        now = time.monotonic()
        is_end = number == self.last
        if not self._is_long or (now - self._logged_at < LOG_EVERY_S and not is_end):
            return
        self._logged_at = now
        if self._bar is not None and not is_end:
            return
        written = number - self.first + 1
        elapsed_s = max(now - self._began, 1e-6)
        left_s = (self.last - number) * elapsed_s / written
        log.info(
            "block %d of %d (%.0f %%), %.0f blocks/s, %.0f transactions/s, %s left; %s",
            number,
            self.last,
            100 * written / (self.last - self.first + 1),
            written / elapsed_s,
            self._transactions / elapsed_s,
            f"{left_s / 60:.0f} min" if left_s > 120 else f"{left_s:.0f} s",
            self.seconds,
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
