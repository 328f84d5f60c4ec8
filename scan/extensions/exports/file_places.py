"""How many lists are written and sent as files at once."""

import math
import time
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from scan.errors import Unavailable
from scan.rate_limits.concurrency import ConcurrencyLimit

MAX_WRITING, MAX_IN_LINE = 2, 2  # of the eight threads
MAX_OPEN = 16  # being written or sent: their bytes lie on disk
WRITING_WAIT_S = 5.0
BUSY = "Too many files are being written; try again shortly."
TIMES_KEPT = 8


class FilePlaces:
    """Limits of files: a client has one at a time; one that reads slowly occupies no thread."""

    def __init__(self) -> None:
        self.open = ConcurrencyLimit(
            MAX_OPEN,
            places_per_client=1,
            clients_wait=True,  # for the end of a file whose last bytes it has just received
            places_in_line=MAX_IN_LINE,
            busy="Too many files are being sent; try again shortly.",
            retry_after_s=5,
        )
        self._writing = ConcurrencyLimit(
            MAX_WRITING, places_per_client=1, places_in_line=MAX_IN_LINE, busy=BUSY
        )
        self._began_at: list[float] = []  # of the files that are being written, the oldest first
        self._seconds: deque[float] = deque([WRITING_WAIT_S], TIMES_KEPT)

    @contextmanager
    def writing(self, client: Hashable) -> Iterator[None]:
        """Hold a place for writing a file, after a short wait in line. Raises Unavailable with the
        time that the oldest one takes, if as long as the longest of the last ones."""
        if not self._writing.take(client, wait_s=WRITING_WAIT_S):
            raise Unavailable(BUSY, retry_after_s=self._left_s())
        began_at = time.monotonic()
        self._began_at.append(began_at)
        try:
            yield
        finally:
            self._began_at.remove(began_at)
            self._seconds.append(time.monotonic() - began_at)
            self._writing.give_back(client)

    def _left_s(self) -> int:
        oldest = min(self._began_at, default=0.0)
        return max(1, math.ceil(oldest + max(self._seconds) - time.monotonic()))
