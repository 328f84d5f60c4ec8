"""How many may do something costly at once: in this process, and for one client of it."""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from scan.errors import Unavailable


class ConcurrencyLimit:
    """A number of places, and how many of them one client may hold."""

    def __init__(
        self,
        places: int,
        *,
        places_per_client: int | None = None,
        clients_wait: bool = False,
        busy: str,
        retry_after_s: int = 2,
    ) -> None:
        """`busy` and `retry_after_s` go into Unavailable when no place is free.

        With `clients_wait` a client who holds its share already waits for its own place, too.
        """
        self._places = places
        self._places_per_client = places_per_client or places
        self._clients_wait = clients_wait
        self._busy = busy
        self._retry_after_s = retry_after_s
        self._taken = 0
        self._taken_by: Counter[Hashable] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def place(self, client: Hashable = None, *, wait_s: float = 0.0) -> Iterator[None]:
        """Hold a place; raises Unavailable when none gets free in time.

        Unless clients wait, one who holds its own share already is refused at once.
        """
        if not self.take(client, wait_s=wait_s):
            raise Unavailable(self._busy, retry_after_s=self._retry_after_s)
        try:
            yield
        finally:
            self.give_back(client)

    def take(self, client: Hashable = None, *, wait_s: float = 0.0) -> bool:
        """For a place that another thread gives back; whether there was one."""
        with self._changed:
            if not self._clients_wait and not self._may_hold_more(client):
                return False
            if not self._changed.wait_for(lambda: self._is_free_for(client), wait_s):
                return False
            self._taken += 1
            if client is not None:
                self._taken_by[client] += 1
            return True

    def give_back(self, client: Hashable = None) -> None:
        with self._changed:
            self._taken -= 1
            if client is not None:
                self._taken_by[client] -= 1
                # Clients that came once would be counted here for ever.
                if not self._taken_by[client]:
                    del self._taken_by[client]
            self._changed.notify_all()

    def _is_free_for(self, client: Hashable) -> bool:
        return self._taken < self._places and self._may_hold_more(client)

    def _may_hold_more(self, client: Hashable) -> bool:
        return client is None or self._taken_by[client] < self._places_per_client
