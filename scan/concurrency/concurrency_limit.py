"""Bounds on what runs at once, in this process and per client: places, for which threads wait."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from scan.errors import ClientBusy, Unavailable

PLACE_WAIT_S = 0.25  # in which a client's next request may have its turn


@dataclass(eq=False)
class ConcurrencyLimit:
    """At most `places` holders at a time, and at most `places_per_client` of one client.

    `busy` and `retry_after_s` are those of Unavailable where no place is free; a client that holds
    its maximum gets ClientBusy, which is one.

    With `clients_wait`, a client that holds its maximum waits for one of its own places. With
    `places_in_line` so many wait at most, one of each client: who waits holds a thread. With
    `takes_turns` more may wait, as many as have their turn within `turn_s` if each place is
    held as long as the last one was, or as the present ones have been by now.

    With `pause_factor`, the last free place is not for a client that has given one back, for so
    many times as long as it held it: as many clients as there are places, asking without end, would
    keep all of them. It is of limits with one place of a client.
    """

    places: int
    places_per_client: int = 0  # 0: as many as there are
    busy: str = field(kw_only=True)
    clients_wait: bool = field(default=False, kw_only=True)
    places_in_line: int | None = field(default=None, kw_only=True)
    takes_turns: bool = field(default=False, kw_only=True)
    pause_factor: float = field(default=0.0, kw_only=True)
    retry_after_s: int = field(default=2, kw_only=True)
    turn_s: float = field(default=PLACE_WAIT_S, kw_only=True)
    clock: Callable[[], float] = field(default=time.monotonic, kw_only=True)

    def __post_init__(self) -> None:
        self.places_per_client = self.places_per_client or self.places
        self._paused_until: dict[Hashable, float] = {}  # by client, of those that may not be over
        self.waiting: list[Hashable] = []  # clients, each in a thread
        self.taken = 0  # places
        self._taken_by: Counter[Hashable] = Counter()
        self._changed = threading.Condition()
        self._held_s = 0.0  # by the last one who gave a place back
        self._changed_hands_at = 0.0
        self._changed_hands_of: dict[Hashable, float] = {}  # by each client that holds any

    @contextmanager
    def place(self, client: Hashable = None, *, wait_s: float = 0.0) -> Iterator[None]:
        """Hold a place for the `with` block. Raises Unavailable if none becomes free in time.

        Without `clients_wait`, a client that holds its maximum is rejected at once.
        """
        if not self.take(client, wait_s=wait_s):
            raise self.refusal_of(client)
        began_at = self.clock()
        try:
            yield
        finally:
            self._held_s = self.clock() - began_at
            self.give_back(client)

    def refusal_of(self, client: Hashable, *, kept: int = 0) -> Unavailable:
        """Return the error of a client for which no place is free besides those `kept` for its
        other requests."""
        if not self._may_hold_more(client, kept):
            return ClientBusy(retry_after_s=self.retry_after_s)
        return Unavailable(self.busy, retry_after_s=self.retry_after_s)

    def take(self, client: Hashable = None, *, wait_s: float = 0.0) -> bool:
        """Take a place, which another thread may give back. Return whether one was free in time."""
        with self._changed:
            if not self._is_free_for(client) and not self._wait(client, wait_s):
                return False
            self.taken += 1
            self._changed_hands_at = self.clock()
            if client is not None:
                self._taken_by[client] += 1
                self._changed_hands_of[client] = self._changed_hands_at
            return True

    def _wait(self, client: Hashable, wait_s: float) -> bool:
        """Return whether a place became free within the time."""
        if not self.clients_wait and not self._may_hold_more(client):
            return False
        if self._line_is_full(client):
            return False
        self.waiting.append(client)
        try:
            return self._changed.wait_for(lambda: self._is_free_for(client), wait_s)
        finally:
            self.waiting.remove(client)

    def _line_is_full(self, client: Hashable) -> bool:
        # None of the places that a client would have to wait for has changed hands since then: of
        # its own, where it holds its maximum, whatever becomes of those of others.
        since = self._changed_hands_at
        if not self._may_hold_more(client):
            since = self._changed_hands_of.get(client, since)
        turns = (len(self.waiting) + 1) / self.places_per_client
        held_s = max(self._held_s, self.clock() - since)
        has_turn_soon = self.takes_turns and turns * held_s <= self.turn_s
        if self.places_in_line is None or has_turn_soon:
            return False
        return len(self.waiting) >= self.places_in_line or client in self.waiting

    def give_back(self, client: Hashable = None) -> None:
        with self._changed:
            self.taken -= 1
            self._changed_hands_at = self.clock()
            if client is not None:
                if self.pause_factor:
                    now = self._changed_hands_at
                    paused = {c: until for c, until in self._paused_until.items() if until > now}
                    held_s = now - self._changed_hands_of[client]
                    self._paused_until = paused | {client: now + held_s * self.pause_factor}
                self._taken_by[client] -= 1
                self._changed_hands_of[client] = self._changed_hands_at
                # So that nothing is kept of clients that hold none.
                if not self._taken_by[client]:
                    del self._taken_by[client], self._changed_hands_of[client]
            self._changed.notify_all()

    def _is_free_for(self, client: Hashable) -> bool:
        free = self.places - self.taken
        if free == 1 and self._paused_until.get(client, 0.0) > self.clock():
            return False
        return free > 0 and self._may_hold_more(client)

    def _may_hold_more(self, client: Hashable, kept: int = 0) -> bool:
        return client is None or self._taken_by[client] + kept < self.places_per_client
