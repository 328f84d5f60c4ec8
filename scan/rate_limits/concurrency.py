"""Bounds on what runs at once, in this process and per client: places, for which threads wait, or
requests in turn without a thread, in a queue of each client.

A request that needs a place which is not free is postponed: its thread leaves it, and once it has
its turn it is served anew, with the place. The worker's loop waits for that with the connection;
under another server its thread does.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from scan.errors import ClientBusy, Unavailable
from scan.rate_limits.client_address import network_around

PLACE_WAIT_S = 0.25  # in which a client's next request may have its turn


@dataclass(eq=False)
class ConcurrencyLimit:
    """At most `places` holders at a time, and at most `places_per_client` of one client.

    `busy` and `retry_after_s` are those of Unavailable where no place is free; a client that holds
    its maximum gets ClientBusy, which is one.

    With `clients_wait`, a client that holds its maximum waits for one of its own places. With
    `places_in_line` so many wait at most, one of each client: who waits holds a thread. With
    `takes_turns` more may wait, as many as have their turn within PLACE_WAIT_S if each place is
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

    def __post_init__(self) -> None:
        self.places_per_client = self.places_per_client or self.places
        self._paused_until: dict[Hashable, float] = {}  # by client, of those that may not be over
        self._waiting: list[Hashable] = []
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
        began_at = time.monotonic()
        try:
            yield
        finally:
            self._held_s = time.monotonic() - began_at
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
            self._changed_hands_at = time.monotonic()
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
        self._waiting.append(client)
        try:
            return self._changed.wait_for(lambda: self._is_free_for(client), wait_s)
        finally:
            self._waiting.remove(client)

    def _line_is_full(self, client: Hashable) -> bool:
        # None of the places that a client would have to wait for has changed hands since then: of
        # its own, where it holds its maximum, whatever becomes of those of others.
        since = self._changed_hands_at
        if not self._may_hold_more(client):
            since = self._changed_hands_of.get(client, since)
        turns = (len(self._waiting) + 1) / self.places_per_client
        held_s = max(self._held_s, time.monotonic() - since)
        has_turn_soon = self.takes_turns and turns * held_s <= PLACE_WAIT_S
        if self.places_in_line is None or has_turn_soon:
            return False
        return len(self._waiting) >= self.places_in_line or client in self._waiting

    def give_back(self, client: Hashable = None) -> None:
        with self._changed:
            self.taken -= 1
            self._changed_hands_at = time.monotonic()
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
        if free == 1 and self._paused_until.get(client, 0.0) > time.monotonic():
            return False
        return free > 0 and self._may_hold_more(client)

    def _may_hold_more(self, client: Hashable, kept: int = 0) -> bool:
        return client is None or self._taken_by[client] + kept < self.places_per_client


QUEUED_PER_CLIENT = 32  # requests that wait for their turn
QUEUED_S = 8.0  # more than a place is held, so that a client's turn comes before
SERVED_S = 60.0  # for which it is known who had places


class Turn(Future[bool]):
    """A request's turn at a place; its result is whether the place came within QUEUED_S."""

    def __init__(self, places: "QueuedPlaces", client: Hashable) -> None:
        super().__init__()
        self.places = places
        self.client = client
        self._ends_at = time.monotonic() + QUEUED_S
        self.has_place = False  # as the lock of the queue has it; the result follows

    def check(self, now: float) -> None:
        """End the wait where its time is over (time.monotonic())."""
        if now > self._ends_at and self.places.dequeue(self):
            self.set_result(False)

    def require(self) -> None:
        """Wait for the place. Raises Unavailable where it does not come in time."""
        try:
            if self.result(QUEUED_S):
                return
        except TimeoutError:
            self.leave()
        raise self.places.refusal_of(self.client)

    def leave(self) -> None:
        """Give the turn back, whether it has come or not."""
        if not self.places.dequeue(self) and self.has_place:
            self.has_place = False
            self.places.give_back(self.client)


class Postponed(BaseException):
    """A request needs a place that is not free, and is to be served anew when it has its turn. No
    view can take this for a failure of the node, as it is no Exception."""

    def __init__(self, places: "QueuedPlaces", client: Hashable) -> None:
        super().__init__()
        self.places = places
        self.client = client


@dataclass(eq=False)
class RequestPlaces:
    """The places of one request, which it holds until its end."""

    held: "dict[QueuedPlaces, Hashable]" = field(default_factory=dict)  # by whom
    depth: int = 0  # of a request inside another one, as of MCP, 2: it must not wait for a turn
    _turn: Turn | None = None

    def __enter__(self) -> None:
        """Count the places that this thread takes in the `with` block as the request's, and give
        them back after it, unless the request is postponed."""
        self.depth += 1
        thread.request = self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            thread.request = None
            if kind is not Postponed and (self.held or self._turn):
                self.end()

    def queue(self, postponed: Postponed) -> Turn:
        """Wait for the place that was not free. Raises ClientBusy."""
        self._turn = postponed.places.queue(postponed.client)
        return self._turn

    def require_turn(self) -> None:
        """Hold the place of the turn, for which a thread waits here and the worker's loop has
        waited. Raises Unavailable where it did not come."""
        assert self._turn is not None
        turn, self._turn = self._turn, None
        turn.require()
        self.held[turn.places] = turn.client

    def end(self) -> None:
        """Give back what the request holds, and leave the queue in which it waits."""
        if self._turn is not None:
            self._turn.leave()
            self._turn = None
        while self.held:
            places, client = self.held.popitem()
            places.give_back(client)

    def give_back(self, places: "QueuedPlaces") -> None:
        """Give back one place where the request holds it."""
        if places in self.held:
            places.give_back(self.held.pop(places))


class Thread(threading.local):
    """`request` has the places of the request that this thread serves."""

    request: RequestPlaces | None = None


thread = Thread()


class QueuedPlaces(ConcurrencyLimit):
    """A limit whose requests wait for their turn without a thread, in a queue of each client.

    The next turn is of the client whose network, and that has itself, not had a place for longest:
    whoever comes first waits for a place that is held, not for those who have had theirs. A request
    holds its place until its end. Up to QUEUED_PER_CLIENT of a client wait, for QUEUED_S.
    """

    def __init__(self, places: int, places_per_client: int, *, busy: str) -> None:
        super().__init__(places, places_per_client=places_per_client, busy=busy, retry_after_s=1)
        self._queues: dict[Hashable, deque[Turn]] = {}
        self._served_at: dict[Hashable, float] = {}  # by client and by network, the oldest first

    @contextmanager
    def place_in_turn(self, client: Hashable, *, is_optional: bool = False) -> Iterator[None]:
        """Hold a place for the `with` block, and for the request that the thread serves.

        Raises Postponed where such a request has to wait, or Unavailable if that `is_optional` or
        the request is inside another one. A thread that serves no request waits here, and
        Unavailable is raised after QUEUED_S.
        """
        request = thread.request
        if request is None:
            self.queue(client).require()
            try:
                yield
            finally:
                self.give_back(client)
            return
        if self not in request.held:
            if not self.take(client):
                must_not_wait = is_optional or request.depth > 1
                raise self.refusal_of(client) if must_not_wait else Postponed(self, client)
            request.held[self] = client
        yield

    def refusal(self, client: Hashable) -> Unavailable | None:
        """Return the error of queue(), None if none. It is read without a lock, so queue() may
        still do otherwise."""
        is_full = len(self._queues.get(client, ())) >= QUEUED_PER_CLIENT
        return ClientBusy(retry_after_s=self.retry_after_s) if is_full else None

    def queue(self, client: Hashable) -> Turn:
        """Return a request's turn. Raises ClientBusy where too many requests of its client wait."""
        with self._changed:
            if (refusal := self.refusal(client)) is not None:
                raise refusal
            turn = Turn(self, client)
            self._queues.setdefault(client, deque()).append(turn)
        self._grant()
        return turn

    def dequeue(self, turn: Turn) -> bool:
        """Take a turn out of its queue; return False where it was not there any more."""
        with self._changed:
            queue = self._queues.get(turn.client, ())
            if turn not in queue:
                return False
            self._queues[turn.client].remove(turn)
            if not queue:
                del self._queues[turn.client]
            return True

    def take(self, client: Hashable = None, *, wait_s: float = 0.0) -> bool:
        with self._changed:  # whoever waits comes first
            return client not in self._queues and self._take(client)

    def _take(self, client: Hashable) -> bool:
        if not super().take(client):
            return False
        now = self._changed_hands_at
        for served in (_network(client), client):
            self._served_at.pop(served, None)
            self._served_at[served] = now
        while self._served_at[oldest := next(iter(self._served_at))] < now - SERVED_S:
            del self._served_at[oldest]
        return True

    def _last_served(self, client: Hashable) -> tuple[float, float]:
        served_at = self._served_at
        return served_at.get(_network(client), 0.0), served_at.get(client, 0.0)

    def give_back(self, client: Hashable = None) -> None:
        super().give_back(client)
        if self._queues:
            self._grant()

    def change_places(self, places: int) -> None:
        self.places = places
        self._grant()

    def _grant(self) -> None:
        """Give free places to those whose turn is next."""
        granted = []
        with self._changed:
            while self.taken < self.places:
                waiting = filter(self._is_free_for, self._queues)
                client = min(waiting, key=self._last_served, default=None)
                if client is None:
                    break
                turn = self._queues[client].popleft()
                if not self._queues[client]:
                    del self._queues[client]
                turn.has_place = self._take(client)
                granted.append(turn)
        for turn in granted:
            turn.set_result(True)


def _network(client: Hashable) -> Hashable:
    return ("network", network_around(client)) if isinstance(client, str) else client


class WaitingThreads(QueuedPlaces):
    """The limit of server threads that wait for something other than PostgreSQL.

    They wait for the node, compilers, running verifications, future blocks, and the place of large
    forms. Even if none of these become free, half of the threads still serve requests from the
    database. One client leaves a place to others, and its long waits one to its own next request.
    """

    def __init__(self, places: int = 4, places_per_client: int = 3) -> None:
        """The defaults are for the eight threads of gunicorn.conf.py."""
        super().__init__(
            places,
            places_per_client,
            busy="Too many requests are waiting for the node or a compiler; try again shortly.",
        )
        busy = "The node is tracing for others; try again shortly."
        self._costly_places = max(places // 2, 1)
        self.costly = QueuedPlaces(self._costly_places, 1, busy=busy)

    def have_one_costly_place(self, is_one: bool) -> None:
        """Give one costly place at a time, as long as the node may be at a call that nobody waits
        for any more; else all."""
        self.costly.change_places(1 if is_one else self._costly_places)

    @contextmanager
    def costly_place_in_turn(
        self, client: Hashable, *, is_optional: bool = False
    ) -> Iterator[None]:
        """Hold a place as place_in_turn() does, and one of those of costly calls, which are half as
        many. A request that waits for the latter leaves the former to others."""
        with ExitStack() as held:
            try:
                held.enter_context(self.costly.place_in_turn(client, is_optional=is_optional))
            except Postponed:
                request = thread.request
                assert request is not None
                request.give_back(self)
                raise
            held.enter_context(self.place_in_turn(client, is_optional=is_optional))
            yield

    def refusal_for_long(self, client: Hashable) -> Unavailable | None:
        """Return the error that place_for_long() would raise, as refusal() does for queue()."""
        return None if self._is_free_for_long(client) else self.refusal_of(client, kept=1)

    def _is_free_for_long(self, client: Hashable) -> bool:
        may_hold_two = self._may_hold_more(client, kept=1)
        return may_hold_two and self.taken + 1 < self.places and self._is_free_for(client)

    def take_for_long(self, client: Hashable) -> bool:
        """Take a place, without waiting, for an operation that takes seconds. Return whether that
        leaves one free for the node."""
        with self._changed:
            return self._is_free_for_long(client) and self.take(client)

    @contextmanager
    def place_for_long(self, client: Hashable) -> Iterator[None]:
        """Hold a place of take_for_long() for the `with` block, or until the end of the request.
        Raises Unavailable."""
        if not self.take_for_long(client):
            raise self.refusal_of(client, kept=1)
        request = thread.request
        if request is not None and self not in request.held:
            request.held[self] = client
            yield
            return
        try:
            yield
        finally:
            self.give_back(client)
