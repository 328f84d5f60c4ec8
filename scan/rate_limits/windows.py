"""A client's moving window, what a request finds in it, and what every store of windows does."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from limits import RateLimitItem

from scan.errors import Unavailable


class RateLimitResult(NamedTuple):
    """Whether a request may pass, and what its client's window holds with it."""

    allowed: bool
    limit: int
    remaining: int
    reset_in_s: float  # until the oldest counted request leaves the window

    @property
    def retry_after_s(self) -> int:
        """Rounded up, so that a request after that many seconds passes."""
        return max(1, int(self.reset_in_s) + 1)


class Window(NamedTuple):
    """Of one client, by its address or the id of its key."""

    rate: RateLimitItem
    client: str

    @property
    def key(self) -> str:
        return self.rate.key_for(self.client)

    def result(self, allowed: bool, counted: int, reset_in_s: float) -> RateLimitResult:
        amount = self.rate.amount
        return RateLimitResult(allowed, amount, max(0, amount - counted), reset_in_s)


class WindowStore(Protocol):
    """Windows that are charged together get a request both, or neither.

    `waits` is whether charge() and peek() wait for another process.
    """

    waits: bool

    def charge(self, *windows: Window) -> RateLimitResult:
        """Count a request. Raises Unavailable where it cannot be counted now."""

    def submit(self, *windows: Window) -> "Future[RateLimitResult] | None":
        """As charge(), by another thread; None where charge() waits for nobody."""

    def peek(self, window: Window) -> RateLimitResult:
        """What is left; `allowed` where the next request would pass."""


# What becomes of a request while the storage does not answer.
WhenLost = Callable[[Sequence[Window]], RateLimitResult]


def refuse(windows: Sequence[Window]) -> RateLimitResult:
    raise Unavailable("The rate limit cannot be checked now; try again shortly.")


def tightest(results: Sequence[RateLimitResult]) -> RateLimitResult:
    """A refusal before all else, then what has the least left; of two such, the later reset."""
    return min(results, key=lambda result: (result.allowed, result.remaining, -result.reset_in_s))
