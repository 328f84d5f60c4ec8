"""The limit of server threads that wait for something other than PostgreSQL."""

from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager

from scan.concurrency.turns import Postponed, QueuedPlaces, thread
from scan.errors import Unavailable


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
