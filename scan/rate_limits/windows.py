"""A client's moving window, the result of charging it, and the interface of window stores."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from limits import RateLimitItem

from scan.errors import RateLimited, Unavailable

GET_A_KEY = (
    " An API key in X-API-Key raises the limit: the page /keys or POST /api/v1/keys makes one."
)


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

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers of every response, also of errors and preflights."""
        return [
            ("X-RateLimit-Limit", str(self.limit)),
            ("X-RateLimit-Remaining", str(self.remaining)),
            ("X-RateLimit-Reset", str(int(time.time() + self.reset_in_s) + 1)),
        ]

    def refusal(self, what: str, advice: str = "") -> RateLimited:
        """Return the error of a request over its limit of `what`: requests, pages or files."""
        wait_s = self.retry_after_s
        return RateLimited(
            f"Rate limit of {self.limit} {what} exceeded; try again in {wait_s} s.{advice}",
            headers={"Retry-After": str(wait_s)},
        )


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
    """A store of windows, which charges a request to all of its windows or to none."""

    waits: bool  # charge() waits for another process

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        """Count a request; or if not `is_counted` return the current state, which is `allowed` if
        the next request would be. Raises Unavailable if it cannot be counted."""

    def submit(self, *windows: Window) -> Future[RateLimitResult]:
        """Charge in another thread, as charge() does, in a store that `waits`."""


def refuse(windows: Sequence[Window]) -> RateLimitResult:
    raise Unavailable("The rate limit cannot be checked now; try again shortly.")


def tightest(results: Sequence[RateLimitResult]) -> RateLimitResult:
    """Return a rejection if there is one, else the result with the fewest requests left."""
    return min(results, key=lambda result: (result.allowed, result.remaining, -result.reset_in_s))
