"""How many compilers run at once, how many requests may wait for one, and for how long one runs."""

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
    "Others wait for a compiler, and this verification has had its time; try again. With settings"
    " and contractName given it takes less."
)
RETRY_AFTER_S = 15
# All of a verification's time, and what is left of it while others wait: of 53 public contracts
# without settings 44 matched within two compilations, of 1 to 5 s each.
BUDGET_S = 60.0
SHARED_BUDGET_S = 20.0


def busy() -> Unavailable:
    return Unavailable(BUSY, retry_after_s=RETRY_AFTER_S)


class CompilerPlaces:
    """Each waiting request holds a server thread, so few may, and one of each client.

    `jobs_wait` is set by the job runner while jobs in the database wait for a place.
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
        """A place to wait or run in; raises Unavailable at once when there is none."""
        return self._admitted.place(client)

    @contextmanager
    def running(self, deadline: float) -> Iterator["RunningPlace"]:
        """A place to run in, who has waited longest first; raises Unavailable when none gets free
        until `deadline`."""
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
    """The time that one verification has, which gets shorter once others wait."""

    def __init__(self, places: CompilerPlaces, deadline: float) -> None:
        self._places = places
        self._deadline = deadline
        self._shared_deadline = min(deadline, time.monotonic() + SHARED_BUDGET_S)

    def left_s(self) -> float:
        return self._deadline - time.monotonic()

    def check(self) -> None:
        """Raises Unavailable where others wait, and what one has meanwhile is used up."""
        if time.monotonic() >= self._shared_deadline and self._places.others_wait():
            raise Unavailable(CUT_SHORT, retry_after_s=RETRY_AFTER_S)
