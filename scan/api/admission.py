"""Every /api/v1 request on its way in and out: which key, which limit, what is left of it."""

import time

from flask import Flask, Response, g, request

from scan.api import services
from scan.client_address import client_address
from scan.errors import InvalidApiKey, RateLimited, Unavailable
from scan.keys import ApiKey
from scan.limiter import Verdict


def install(app: Flask) -> None:
    app.before_request(_admit)
    app.after_request(_report)


def _admit() -> None:
    """Find the key, charge it or the client's address; raises RateLimited, InvalidApiKey."""
    g.api_key = None
    g.verdict = None
    if not _is_limited(request.path):
        return
    text = request.headers.get("X-API-Key")
    key = None if text is None else services().keyring.find(text)
    g.verdict = _nothing_left(key)  # what is told where the storage does not answer
    g.verdict = _charge(key)
    if not g.verdict.allowed:
        raise _refusal(g.verdict, key)
    if key is not None:
        services().key_usage.count(key.id, time.time())
    elif text is not None:
        raise InvalidApiKey("The API key in X-API-Key is unknown or inactive.")
    g.api_key = key


def _is_limited(path: str) -> bool:
    return path == "/api/v1" or path.startswith("/api/v1/")


def _charge(key: ApiKey | None) -> Verdict:
    if key is not None:
        return services().limiter.charge_key(key.id, key.requests_per_minute)
    return services().limiter.charge_address(_client())


def _client() -> str:
    return client_address(
        request.remote_addr or "",
        request.headers.get("X-Forwarded-For", ""),
        services().settings.trusted_proxies,
    )


def _refusal(verdict: Verdict, key: ApiKey | None) -> RateLimited:
    advice = "" if key else " An API key in X-API-Key raises the limit; see POST /api/v1/keys."
    wait_s = _whole_seconds(verdict.reset_in_s)
    return RateLimited(
        f"The limit of {verdict.limit} requests is used up; try again in {wait_s} s.{advice}",
        headers={"Retry-After": str(wait_s)},
    )


def _report(response: Response) -> Response:
    """Headers of SPEC 8, also on errors and preflights, which are not charged."""
    if not _is_limited(request.path):
        return response
    verdict = g.get("verdict") or _uncharged()
    reset_at = int(time.time() + verdict.reset_in_s) + 1
    response.headers["X-RateLimit-Limit"] = str(verdict.limit)
    response.headers["X-RateLimit-Remaining"] = str(verdict.remaining)
    response.headers["X-RateLimit-Reset"] = str(reset_at)
    return response


def _uncharged() -> Verdict:
    """What the address has left, where nothing could be or had to be charged."""
    try:
        return services().limiter.peek_address(_client())
    except Unavailable:
        return _nothing_left(None)


def _nothing_left(key: ApiKey | None) -> Verdict:
    limit = key.requests_per_minute if key else services().limiter.anonymous.amount
    return Verdict(allowed=False, limit=limit, remaining=0, reset_in_s=1.0)


def _whole_seconds(seconds: float) -> int:
    """Rounded up, so that whoever waits that long is let in."""
    return max(1, int(seconds) + 1)
