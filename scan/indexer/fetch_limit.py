"""The number of requests for blocks in flight, and the number of blocks in each."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from scan.ethereum.client import RateLimited
from scan.ethereum.retries import Retries

FETCH_BLOCKS = 20  # in one request, at most
# The transactions that one request aims at. Larger answers outgrow the processor's caches: fetching
# and decoding took 39.6 us of processor a transaction with 3,000 in one request, 30.9 with 750,
# 39.9 with 450 (least of eight rounds on a busy machine).
FETCH_TRANSACTIONS = 750
FETCHES_AHEAD = 40  # requests ahead of the writer: more than a batch needs
CHARACTERS_AHEAD = 64 * 1024 * 1024  # of fetched logs, beyond which no blocks are requested
FIRST_CONCURRENCY = 3
MAX_CONCURRENCY = 6  # each request may hold an answer of MAX_ANSWER_BYTES
PATIENCE_S = 4.0  # with refusals of one request; then the catch-up fails, which is reported

_T = TypeVar("_T")


class FetchLimit:
    """The bound on requests in flight. It grows while the writer waits for answers, and halves when
    the node refuses a request.

    It grows by one after about as many answers as are in flight, as TCP's congestion window does.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
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
        return max(1, min(FETCH_BLOCKS, round(fitting)))

    def record_answer(self, blocks: int, transactions: int, *, was_waited_for: bool) -> None:
        self._mean_transactions += (transactions / blocks - self._mean_transactions) / 4
        if was_waited_for:
            with self._changed:
                grown = self._concurrency + 1 / self._concurrency
                self._concurrency = min(grown, float(MAX_CONCURRENCY))
                self._changed.notify_all()

    def run(self, request: Callable[[], _T]) -> _T:
        """Send the request when the bound allows it, and return its result. Send it again where the
        node's rate limit refuses it, for PATIENCE_S. Raises RateLimited."""
        retries = Retries(PATIENCE_S)
        while True:
            began = self._begin()
            try:
                return request()
            except RateLimited as refusal:
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
