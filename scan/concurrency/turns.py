"""Places for which requests wait in turn without a thread, in a queue of each client.

A request that needs a place which is not free is postponed: its thread leaves it, and once it has
its turn it is served anew, with the place. The worker's loop waits for that with the connection;
under another server its thread does.
"""

import threading
import time
from collections import deque
from collections.abc import Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.errors import ClientBusy, Unavailable
from scan.rate_limits.client_address import network_around

QUEUED_PER_CLIENT = 32  # requests that wait for their turn
QUEUED_S = 8.0  # more than a place is held, so that a client's turn comes before
SERVED_S = 60.0  # for which it is known who had places


class Turn(Future[bool]):
    """A request's turn at a place; its result is whether the place came by `ends_at`."""

    def __init__(self, places: "QueuedPlaces", client: Hashable) -> None:
        super().__init__()
        self.places = places
        self.client = client
        self.ends_at = time.monotonic() + places.queued_s
        self.has_place = False  # as the lock of the queue has it; the result follows

    def check(self, now: float) -> None:
        """End the wait where its time is over (time.monotonic())."""
        if now > self.ends_at and self.places.dequeue(self):
            self.set_result(False)

    def require(self) -> None:
        """Wait for the place. Raises Unavailable where it does not come in time."""
        try:
            if self.result(self.places.queued_s):
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
    holds its place until its end. Up to QUEUED_PER_CLIENT of a client wait, for `queued_s`.
    """

    def __init__(
        self, places: int, places_per_client: int, *, busy: str, queued_s: float = QUEUED_S
    ) -> None:
        super().__init__(places, places_per_client=places_per_client, busy=busy, retry_after_s=1)
        self.queued_s = queued_s
        self._queues: dict[Hashable, deque[Turn]] = {}
        self._served_at: dict[Hashable, float] = {}  # by client and by network, the oldest first

    @contextmanager
    def place_in_turn(self, client: Hashable, *, is_optional: bool = False) -> Iterator[None]:
        """Hold a place for the `with` block, and for the request that the thread serves.

        Raises Postponed where such a request has to wait, or Unavailable if that `is_optional` or
        the request is inside another one. A thread that serves no request waits here, and
        Unavailable is raised after `queued_s`.
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
