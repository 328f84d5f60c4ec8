"""Who may ask the node while a client waits: few at once, and one while it does not answer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from scan.errors import Unavailable
from scan.ethereum.client import NodeError
from scan.rate_limits.concurrency import ConcurrencyLimit

AT_ONCE = 4
PLACE_WAIT_S = 0.25


class NodeReads:
    """Threads that wait for a node in vain would be missing for everything else."""

    def __init__(self) -> None:
        self._places = ConcurrencyLimit(AT_ONCE, busy="Too many ask the node; try again shortly.")
        self._probing = threading.Lock()
        self._is_away = False

    @contextmanager
    def place(self) -> Iterator[None]:
        """Raises NodeError where there is none; one raised inside means that the node is away."""
        is_probe = self._is_away
        if is_probe and not self._probing.acquire(blocking=False):
            raise NodeError("the node did not answer the one before")
        try:
            with self._place():
                yield
            self._is_away = False
        finally:
            if is_probe:
                self._probing.release()

    @contextmanager
    def _place(self) -> Iterator[None]:
        try:
            with self._places.place(wait_s=PLACE_WAIT_S):
                try:
                    yield
                except NodeError:
                    self._is_away = True
                    raise
        except Unavailable:
            raise NodeError("too many ask the node") from None
