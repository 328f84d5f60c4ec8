"""A client's moving window, the result of charging it, and the interface of window stores."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from limits import RateLimitItem

from scan.errors import Unavailable


class RateLimitResult(NamedTuple):
    """Whether a request is allowed, and the state of its client's window after it."""

    allowed: bool
    limit: int
    remaining: int
    reset_in_s: float  # until the oldest counted request leaves the window

    @property
    def retry_after_s(self) -> int:
        """The seconds to wait, rounded up, so that a request after them is allowed."""
        return max(1, int(self.reset_in_s) + 1)


class Window(NamedTuple):
    """The window of one client, which is an address or the id of a key."""

    rate: RateLimitItem
    client: str

    @property
    def key(self) -> str:
        return self.rate.key_for(self.client)

    def result(self, allowed: bool, counted: int, reset_in_s: float) -> RateLimitResult:
        amount = self.rate.amount
        return RateLimitResult(allowed, amount, max(0, amount - counted), reset_in_s)


class WindowStore(Protocol):
    """A store of windows, which charges a request to all of its windows or to none.

    `waits`: charge() and peek() wait for another process.
    """

    waits: bool

    def charge(self, *windows: Window) -> RateLimitResult:
        """Count a request. Raises Unavailable if it cannot be counted."""

    def submit(self, *windows: Window) -> "Future[RateLimitResult] | None":
        """Charge in another thread, as charge() does; None in a store that does not wait."""

    def peek(self, window: Window) -> RateLimitResult:
        """Return the current state. It is `allowed` if the next request would be."""


def refuse(windows: Sequence[Window]) -> RateLimitResult:
    raise Unavailable("The rate limit cannot be checked now; try again shortly.")


def tightest(results: Sequence[RateLimitResult]) -> RateLimitResult:
    """Return a rejection if there is one, else the result with the fewest requests left."""
    return min(results, key=lambda result: (result.allowed, result.remaining, -result.reset_in_s))
