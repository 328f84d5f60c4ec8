"""How long to wait after an error, and when to give up: one policy for the head, for a whole chain
in bulk, and for fills.

Errors are of three classes. A transient one passes by itself: no connection, HTTP 5xx, an answer
that is cut short, a database that restarts. A refusal by a node's rate limit passes after the time
that the node states. A permanent one remains until somebody changes the node or a setting: blocks
that the node has pruned, a block that is malformed in every read, or another chain.
"""

import math
import random
import time
from collections.abc import Callable
from typing import TypeVar

from scan.errors import ScanError
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.node_errors import (
    HistoryPruned,
    NodeError,
    RateLimited,
    RpcError,
    WrongChain,
)

RETRIED = (NodeError, RpcError, MalformedBlock, ScanError)
FIRST_PAUSE_S, MAX_PAUSE_S = 0.1, 2.0  # so that the head goes on soon after the fault has passed
REFUSAL_PAUSE_S = 0.5  # at least, after a refusal by a rate limit
PERMANENT_PAUSE_S = 60.0
MAX_READS = 8  # of a block that is malformed in the same way; from then on, it is permanent
MAX_READ_PAUSE_S = 1.0
MAX_DOUBLINGS = 10

_T = TypeVar("_T")


class Retries:
    """The failures in a row of one activity."""

    def __init__(self, patience_s: float = math.inf) -> None:
        """With a finite `patience_s`, the activity ends when it has failed for as long, and at the
        first permanent error. Without, permanent errors are retried every PERMANENT_PAUSE_S."""
        self._patience_s = patience_s
        self._failures = self._malformed = 0
        self._malformation = ""
        self._since = 0.0
        self._progress: object = None

    def succeeded(self) -> None:
        self._failures = self._malformed = 0

    def pause_s(self, error: Exception, progress: object = None) -> float:
        """Return the seconds to wait after an error; raise it where the activity ends. Where
        `progress` differs from that of the last error, the activity has succeeded in between."""
        if progress != self._progress:
            self._progress = progress
            self.succeeded()
        now = time.monotonic()
        if not self._failures:
            self._since = now
        self._failures += 1
        if isinstance(error, MalformedBlock):
            reason = str(error).partition("; read ")[0]  # without the number of reads
            self._malformed = self._malformed + 1 if reason == self._malformation else 1
            self._malformation = reason
        pause_s = self._least_pause_s(error) * random.uniform(1.0, 1.5)
        is_permanent = isinstance(error, HistoryPruned | WrongChain) or self._malformed >= MAX_READS
        is_over = is_permanent or now + pause_s > self._since + self._patience_s
        if is_over and math.isfinite(self._patience_s):
            raise error
        return pause_s

    def run(self, attempt: Callable[[], _T]) -> _T:
        """Return the result of an attempt, which is repeated after errors. Raises the error at
        which the activity ends."""
        while True:
            try:
                result = attempt()
            except RETRIED as error:
                time.sleep(self.pause_s(error))
            else:
                self.succeeded()
                return result

    def _least_pause_s(self, error: Exception) -> float:
        if isinstance(error, HistoryPruned):
            return PERMANENT_PAUSE_S
        doubled_s = min(FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, MAX_DOUBLINGS), MAX_PAUSE_S)
        if isinstance(error, MalformedBlock) and self._malformed < MAX_READS:
            return min(doubled_s, MAX_READ_PAUSE_S)
        if isinstance(error, NodeError) and error.retry_after_s is not None:
            return max(error.retry_after_s, REFUSAL_PAUSE_S)
        least_s = REFUSAL_PAUSE_S if isinstance(error, RateLimited) else 0.0
        return max(doubled_s, least_s)
