"""Every /api/v1 request on its way in: which key, which limit, what is left of it."""

import time
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey
from scan.accounts.key_lookup import Keyring
from scan.accounts.key_usage import KeyUsage
from scan.errors import InvalidApiKey, RateLimited, ScanError, Unavailable
from scan.rate_limits.client_address import client_address
from scan.rate_limits.limiter import Limiter, Verdict


class Visitor(NamedTuple):
    """What a request says of who sent it; `api_key` is None where it names none."""

    peer: str
    forwarded_for: str
    api_key: str | None


class Admitted(NamedTuple):
    """`refusal` is what the visitor is told instead of an answer."""

    verdict: Verdict
    key: ApiKey | None = None
    refusal: ScanError | None = None


class Admission:
    """Finds keys, and charges them or the addresses of clients."""

    def __init__(
        self, limiter: Limiter, keyring: Keyring, key_usage: KeyUsage, trusted_proxies: int
    ) -> None:
        self._limiter = limiter
        self._keyring = keyring
        self._key_usage = key_usage
        self._trusted_proxies = trusted_proxies

    def admit(self, visitor: Visitor) -> Admitted:
        """Find the key, charge it or the client's address."""
        try:
            key = None if visitor.api_key is None else self._keyring.find(visitor.api_key)
        except Unavailable as unavailable:
            return Admitted(self.peek(visitor), refusal=unavailable)
        return self._admit(visitor, key)

    def admit_at_once(self, visitor: Visitor) -> Admitted | None:
        """As admit(), for who needs no look-up and is let in; None for all others, uncharged."""
        key = None if visitor.api_key is None else self._keyring.recall(visitor.api_key)
        if key is None and visitor.api_key is not None:
            return None
        admitted = self._admit(visitor, key)
        return None if admitted.refusal else admitted

    def peek(self, visitor: Visitor) -> Verdict:
        """What the address has left, where nothing could be or had to be charged."""
        try:
            return self._limiter.peek_address(self._client(visitor))
        except Unavailable:
            return self._nothing_left(None)

    def _admit(self, visitor: Visitor, key: ApiKey | None) -> Admitted:
        try:
            verdict = self._charge(visitor, key)
        except Unavailable as unavailable:
            return Admitted(self._nothing_left(key), refusal=unavailable)
        if not verdict.allowed:
            return Admitted(verdict, refusal=_limited(verdict, key))
        if key is not None:
            self._key_usage.count(key.id, time.time())
        elif visitor.api_key is not None:
            unknown = InvalidApiKey("The API key in X-API-Key is unknown or inactive.")
            return Admitted(verdict, refusal=unknown)
        return Admitted(verdict, key)

    def _charge(self, visitor: Visitor, key: ApiKey | None) -> Verdict:
        if key is not None:
            return self._limiter.charge_key(key.id, key.requests_per_minute)
        return self._limiter.charge_address(self._client(visitor))

    def _client(self, visitor: Visitor) -> str:
        return client_address(visitor.peer, visitor.forwarded_for, self._trusted_proxies)

    def _nothing_left(self, key: ApiKey | None) -> Verdict:
        limit = key.requests_per_minute if key else self._limiter.anonymous.amount
        return Verdict(allowed=False, limit=limit, remaining=0, reset_in_s=1.0)


def headers(verdict: Verdict) -> list[tuple[str, str]]:
    """What is left, also on errors and preflights, which are not charged (SPEC 8)."""
    return [
        ("X-RateLimit-Limit", str(verdict.limit)),
        ("X-RateLimit-Remaining", str(verdict.remaining)),
        ("X-RateLimit-Reset", str(int(time.time() + verdict.reset_in_s) + 1)),
    ]


def _limited(verdict: Verdict, key: ApiKey | None) -> RateLimited:
    advice = "" if key else " An API key in X-API-Key raises the limit; see POST /api/v1/keys."
    # Rounded up, so that whoever waits that long is let in.
    wait_s = max(1, int(verdict.reset_in_s) + 1)
    return RateLimited(
        f"The limit of {verdict.limit} requests is used up; try again in {wait_s} s.{advice}",
        headers={"Retry-After": str(wait_s)},
    )
