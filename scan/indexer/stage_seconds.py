"""The time of indexing by stage, in seconds. Stages overlap.

`node` is waiting for answers and `decode` decoding them, both summed over the requests in flight;
`inspect` is reading contracts and tokens from the node; `write` is PostgreSQL.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from scan.observability import metrics

STAGES = ("node", "decode", "inspect", "write")


class StageSeconds:
    """Sums of times by stage, for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[str] = Counter()

    def add(self, stage: str, seconds: float) -> None:
        metrics.INDEXER_SECONDS.labels(stage).inc(seconds)
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
