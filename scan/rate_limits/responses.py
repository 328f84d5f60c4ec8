"""The rate limit in responses: the headers of each response, and the text of a 429."""

import time

from scan.errors import RateLimited
from scan.rate_limits.windows import RateLimitResult

GET_A_KEY = (
    " An API key in X-API-Key raises the limit: the page /keys or POST /api/v1/keys makes one."
)


def limit_headers(result: RateLimitResult) -> list[tuple[str, str]]:
    """Return the headers of every response, also of errors and preflights."""
    return [
        ("X-RateLimit-Limit", str(result.limit)),
        ("X-RateLimit-Remaining", str(result.remaining)),
        ("X-RateLimit-Reset", str(int(time.time() + result.reset_in_s) + 1)),
    ]


def rate_limited(result: RateLimitResult, what: str, advice: str = "") -> RateLimited:
    """Return the error of a request over its limit of `what`: requests, pages or files."""
    wait_s = result.retry_after_s
    return RateLimited(
        f"Rate limit of {result.limit} {what} exceeded; try again in {wait_s} s.{advice}",
        headers={"Retry-After": str(wait_s)},
    )
