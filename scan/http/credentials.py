"""Who asks: finds the API key of a request, and charges the key or the client's address."""

import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from scan.accounts.api_keys import ApiKey
from scan.accounts.key_lookup import ApiKeyLookup
from scan.accounts.key_usage import KeyUsage
from scan.errors import InvalidApiKey, MisdirectedRequest, RateLimited, ScanError, Unavailable
from scan.rate_limits.client_address import client_address
from scan.rate_limits.limiter import Limiter
from scan.rate_limits.windows import RateLimitResult, Window

GET_A_KEY = " An API key in X-API-Key raises the limit; see POST /api/v1/keys."
BEARER = "bearer "  # in any letter case
MAX_KEYS_TRIED = 20  # texts of a form that look like a key
LONGEST_FIELD_HEAD = 200  # of a field in a multipart form

_FORM_KEY = re.compile(rb"scan_[0-9a-f]{64}")
# What stands before the key: `apikey=`, or a part's head with that name and an empty line.
_FIELD_NAME = re.compile(
    rb'(?:(?:\A|&)apikey=|;\s*name="?apikey"?(?:\s*;[^\r\n]*)?(?:\r\n[^\r\n]+)*\r\n\r\n)\Z', re.I
)


class Caller(NamedTuple):
    """What a request says of its sender; `api_key` is None where it names none.

    An unknown key is refused, unless it is `is_lenient`: then it counts as none. `limit_key` is
    what deploy/nginx.conf chose this instance by: a key's text or "address"; else it is empty.
    """

    peer: str
    forwarded_for: str
    api_key: str | None
    is_lenient: bool = False
    limit_key: str = ""


class Charged(NamedTuple):
    """What is left of the limit; with `refusal` the request is refused. After an `is_admission` it
    is still to be charged."""

    verdict: RateLimitResult
    key: ApiKey | None = None
    refusal: ScanError | None = None
    is_admission: bool = False


class Charging(NamedTuple):
    """A request that is being counted elsewhere; `charged` may be called once `counted` is done."""

    counted: "Future[RateLimitResult]"
    charged: Callable[[], Charged]


_Judge = Callable[[RateLimitResult], Charged]


class Credentials:
    """Finds keys and charges requests; `may_wait` allows a look-up or a count elsewhere."""

    def __init__(
        self,
        limiter: Limiter,
        key_lookup: ApiKeyLookup,
        key_usage: KeyUsage,
        *,
        trusted_proxies: int,
        is_one_of_several: bool = False,
    ) -> None:
        """`is_one_of_several` instances that each count in their own memory, behind a proxy that
        sends each request to the instance that counts it."""
        self._limiter = limiter
        self._key_lookup = key_lookup
        self._key_usage = key_usage
        self._trusted_proxies = trusted_proxies
        self._is_one_of_several = is_one_of_several

    def charge(
        self, caller: Caller, *, to_address: bool, may_wait: bool, is_admitted: bool = False
    ) -> Charged | Charging | None:
        """Charge a request once; None, uncharged, where a key has to be looked up and may not.

        With `to_address` the client's address is charged whatever key comes along; a request that
        `is_admitted` was charged to its ceiling already. Charging comes only where this may not
        wait.
        """
        key: ApiKey | None = None
        if caller.api_key is not None:
            cached = self._key_lookup.find_cached(caller.api_key)
            if cached is None and not may_wait:
                return None
            try:
                key = cached.key if cached else self._key_lookup.find(caller.api_key)
            except Unavailable as unavailable:
                return Charged(self._nothing_left(None), refusal=unavailable)
        charged_key = None if to_address else key
        elsewhere = self._counted_elsewhere(caller, charged_key)
        if elsewhere is not None:
            return elsewhere
        address = self._address(caller)
        windows = (
            self._limiter.of_address(address)
            if charged_key is None
            else self._limiter.of_key(charged_key.id, charged_key.requests_per_minute, address)
        )
        if charged_key is not None and is_admitted:
            windows = windows[:1]
        judge = partial(self._judge, caller, key, charged_key)
        return self._count(windows, judge, charged_key, may_wait=may_wait)

    def knows_key(self, caller: Caller) -> bool:
        """Whether there is nothing to look up."""
        return caller.api_key is None or self._key_lookup.find_cached(caller.api_key) is not None

    def admit(self, caller: Caller, *, may_wait: bool) -> Charged | Charging:
        """Charge the address's ceiling, before a key is looked up or a form is read."""
        windows = self._limiter.of_unknown_key(self._address(caller))
        return self._count(windows, _judge_admission, None, may_wait=may_wait)

    def charge_page(self, caller: Caller, *, may_wait: bool) -> Charged | Charging:
        """As charge(), by the limit of pages; a key that comes along is not looked at."""
        elsewhere = self._counted_elsewhere(caller, None)
        if elsewhere is not None:
            return elsewhere
        windows = self._limiter.of_page(self._address(caller))
        return self._count(windows, _judge_page, None, may_wait=may_wait)

    def peek(self, caller: Caller, *, may_wait: bool = True) -> RateLimitResult | None:
        """What the client's address has left; charges nothing. None where it may not wait."""
        if not may_wait and self._limiter.store.waits:
            return None
        try:
            return self._limiter.peek_address(self._address(caller))
        except Unavailable:
            return self._nothing_left(None)

    def _counted_elsewhere(self, caller: Caller, key: ApiKey | None) -> Charged | None:
        """A refusal that makes nginx pass the request on, where it chose this instance by something
        else than what is charged; the locations are those of deploy/nginx.conf."""
        limit_key = "address" if key is None else caller.api_key
        if not self._is_one_of_several or caller.limit_key in ("", limit_key):
            return None
        headers = {"X-Accel-Redirect": "@scan_by_address"}
        if key is not None:
            headers = {"X-Accel-Redirect": "@scan_by_key", "X-Scan-Limit-Key": str(limit_key)}
        refusal = MisdirectedRequest("Another instance counts this request.", headers=headers)
        return Charged(self._nothing_left(key), refusal=refusal)

    def address_of(self, environ: dict[str, Any]) -> str:
        """The client's address, by which places to wait in are counted, whatever its keys."""
        return self._address(caller_of(environ))

    def _count(
        self, windows: tuple[Window, ...], judge: _Judge, key: ApiKey | None, *, may_wait: bool
    ) -> Charged | Charging:
        store = self._limiter.store
        if not may_wait:
            counted = store.submit(*windows)
            if counted is not None:
                return Charging(counted, partial(self._charged, judge, key, counted.result))
        return self._charged(judge, key, store.charge, *windows)

    def _charged(
        self,
        judge: _Judge,
        key: ApiKey | None,
        count: Callable[..., RateLimitResult],
        *windows: Window,
    ) -> Charged:
        try:
            verdict = count(*windows)
        except Unavailable as unavailable:
            return Charged(self._nothing_left(key), refusal=unavailable)
        return judge(verdict)

    def _judge(
        self,
        caller: Caller,
        key: ApiKey | None,
        charged_key: ApiKey | None,
        verdict: RateLimitResult,
    ) -> Charged:
        if not verdict.allowed:
            advice = "" if charged_key else GET_A_KEY
            return Charged(verdict, refusal=rate_limited(verdict, "requests", advice))
        if key is not None:
            self._key_usage.count(key.id, time.time())
        elif caller.api_key is not None and not caller.is_lenient:
            return Charged(verdict, refusal=InvalidApiKey("The API key is unknown or inactive."))
        return Charged(verdict, key)

    def _address(self, caller: Caller) -> str:
        return client_address(caller.peer, caller.forwarded_for, self._trusted_proxies)

    def _nothing_left(self, key: ApiKey | None) -> RateLimitResult:
        limit = key.requests_per_minute if key else self._limiter.anonymous_rate.amount
        return RateLimitResult(allowed=False, limit=limit, remaining=0, reset_in_s=1.0)


def caller_of(
    environ: dict[str, Any], parameter: str | None = None, form: bytes | None = None
) -> Caller:
    """The key is sent as X-API-Key, as `Authorization: Bearer scan_…`, or where an interface has
    a `parameter` for it, in the query or in a form."""
    api_key = environ.get("HTTP_X_API_KEY")
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    if api_key is None and authorization[: len(BEARER)].lower() == BEARER:
        api_key = authorization[len(BEARER) :].strip()
    caller = Caller(
        environ.get("REMOTE_ADDR") or "",
        environ.get("HTTP_X_FORWARDED_FOR", ""),
        api_key,
        limit_key=environ.get("HTTP_X_SCAN_LIMIT_KEY", ""),
    )
    if api_key is not None or parameter is None:
        return caller
    for name, value in parse_qsl(environ.get("QUERY_STRING", "")):
        if name.lower() == parameter and value:
            return caller._replace(api_key=value, is_lenient=True)
    key = None if form is None else key_in_form(form)
    return caller if key is None else caller._replace(api_key=key, is_lenient=True)


def key_in_form(form: bytes) -> str | None:
    """The key that a form holds in its field `apikey`, in any letter case; it is not parsed for it.

    A form of megabytes would take seconds, and is not worth them before its sender is charged.
    """
    for key in islice(_FORM_KEY.finditer(form), MAX_KEYS_TRIED):
        name = form[max(0, key.start() - LONGEST_FIELD_HEAD) : key.start()]
        if _FIELD_NAME.search(name):
            return key.group().decode()
    return None


def limit_headers(verdict: RateLimitResult) -> list[tuple[str, str]]:
    """What is left, also on errors and preflights, which are not charged (SPEC 8)."""
    return [
        ("X-RateLimit-Limit", str(verdict.limit)),
        ("X-RateLimit-Remaining", str(verdict.remaining)),
        ("X-RateLimit-Reset", str(int(time.time() + verdict.reset_in_s) + 1)),
    ]


def _judge_admission(verdict: RateLimitResult) -> Charged:
    refusal = None if verdict.allowed else rate_limited(verdict, "requests", GET_A_KEY)
    return Charged(verdict, refusal=refusal, is_admission=verdict.allowed)


def _judge_page(verdict: RateLimitResult) -> Charged:
    return Charged(verdict, refusal=None if verdict.allowed else rate_limited(verdict, "pages"))


def rate_limited(verdict: RateLimitResult, what: str, advice: str = "") -> RateLimited:
    """`what` is limited: requests, pages or files."""
    wait_s = verdict.retry_after_s
    return RateLimited(
        f"Rate limit of {verdict.limit} {what} exceeded; try again in {wait_s} s.{advice}",
        headers={"Retry-After": str(wait_s)},
    )
