"""How many compilers run at once, and how many requests may wait for one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from scan.errors import Unavailable
from scan.rate_limits.concurrency import ConcurrencyLimit

RUNNING = 2
WAITING = 2
BUSY = "All compilers are busy; try again shortly."
RETRY_AFTER_S = 15


def busy() -> Unavailable:
    return Unavailable(BUSY, retry_after_s=RETRY_AFTER_S)


class CompilerPlaces:
    """Each waiting request holds a server thread, so few may; a client runs one and waits once."""

    def __init__(self) -> None:
        self._admitted = ConcurrencyLimit(
            RUNNING + WAITING, places_per_client=2, busy=BUSY, retry_after_s=RETRY_AFTER_S
        )
        self._running = ConcurrencyLimit(
            RUNNING,
            places_per_client=1,
            clients_wait=True,
            busy=BUSY,
            retry_after_s=RETRY_AFTER_S,
        )

    @contextmanager
    def admitted(self, client: str | None) -> Iterator[None]:
        """A place to wait or run in; raises Unavailable at once when there is none."""
        with self._admitted.place(client):
            yield

    @contextmanager
    def running(self, client: str | None, deadline: float) -> Iterator[None]:
        """A place to run in; raises Unavailable when none gets free until `deadline`."""
        with self._running.place(client, wait_s=max(0.0, deadline - time.monotonic())):
            yield
