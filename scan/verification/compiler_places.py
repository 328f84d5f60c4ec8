"""Bounds on compilers: how many run at once, how many requests wait, how long each may run."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from scan.errors import Unavailable
from scan.rate_limits.concurrency import ConcurrencyLimit

RUNNING = 2
WAITING = 2
BUSY = "All compilers are busy; try again shortly."
CUT_SHORT = (
    "Other requests are waiting for a compiler, and this verification took too long; try again."
    " It is faster where the settings and the contract's name are given."
)
RETRY_AFTER_S = 15
# The time limits of a verification, alone and while others wait. Of 53 public contracts without
# settings, 44 matched within two compilations of 1 to 5 s.
BUDGET_S = 60.0
SHARED_BUDGET_S = 20.0


def busy() -> Unavailable:
    return Unavailable(BUSY, retry_after_s=RETRY_AFTER_S)


class CompilerPlaces:
    """The places of verifications that run or wait. A waiting request holds a server thread, so
    only a few may wait, and one per client.

    The job runner sets `jobs_wait` while jobs in the database wait for a compiler.
    """

    def __init__(self) -> None:
        self._admitted = ConcurrencyLimit(
            RUNNING + WAITING, places_per_client=1, busy=BUSY, retry_after_s=RETRY_AFTER_S
        )
        self._changed = threading.Condition()
        self._running = 0
        self._waiting: deque[object] = deque()
        self.jobs_wait = False

    def admitted(self, client: str | None) -> AbstractContextManager[None]:
        """Hold the right to wait or to run. Raises Unavailable at once if too many hold it."""
        return self._admitted.place(client)

    @contextmanager
    def running(self, deadline: float) -> Iterator["RunningPlace"]:
        """Hold the right to run, first come, first served. Raises Unavailable if no place is free
        before `deadline`."""
        waiting = object()
        with self._changed:
            self._waiting.append(waiting)
            try:
                is_next = self._changed.wait_for(
                    lambda: self._running < RUNNING and self._waiting[0] is waiting,
                    max(0.0, deadline - time.monotonic()),
                )
            finally:
                self._waiting.remove(waiting)
                self._changed.notify_all()
            if not is_next:
                raise busy()
            self._running += 1
        try:
            yield RunningPlace(self, deadline)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def others_wait(self) -> bool:
        return self.jobs_wait or len(self._waiting) > 0


class RunningPlace:
    """The time limit of one verification, which is shorter while others wait."""

    def __init__(self, places: CompilerPlaces, deadline: float) -> None:
        self._places = places
        self._deadline = deadline
        self._shared_deadline = min(deadline, time.monotonic() + SHARED_BUDGET_S)

    def left_s(self) -> float:
        return self._deadline - time.monotonic()

    def check(self) -> None:
        """Raise Unavailable if others wait and the shorter time limit has passed."""
        if time.monotonic() >= self._shared_deadline and self._places.others_wait():
            raise Unavailable(CUT_SHORT, retry_after_s=RETRY_AFTER_S)
