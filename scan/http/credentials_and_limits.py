"""Who sends a request, its API key, and its charge: each request is charged once, to its key or to
its client's address, before it is served.

Clients on a developer's own machine are told the setting that lifts a bound. Behind a proxy every
client seems to come from loopback: it is not told the setting, since its request has a header of
the proxy or another host's name, or Scan listens or trusts proxies beyond this machine.
"""

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qsl

from scan.accounts.api_keys import ApiKey, ApiKeyLookup, KeyUsage
from scan.errors import InvalidApiKey, MisdirectedRequest, RateLimited, ScanError, Unavailable
from scan.http import interfaces, request_state, services
from scan.http.interfaces import Interface
from scan.http.request_state import Charged, ChargeSteps, RequestState, Wait, WaitsFor
from scan.rate_limits.client_address import OF_PROXIES
from scan.rate_limits.limiter import Limiter
from scan.rate_limits.window_storage import RateLimitResult, SharedWindows, Window
from scan.server import connection, responses
from scan.setting_kinds import is_loopback
from scan.settings import Settings

RAISE_REQUESTS = "SCAN_RATE_LIMIT_ANONYMOUS=100000/minute"
RAISE_PAGES = "SCAN_RATE_LIMIT_PAGES=100000/minute"
RAISE_FILES = "SCAN_RATE_LIMIT_FILES=100000/hour"
ALLOW_RECEIVERS = "SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8"
_LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.I)


def serves_own_machine(settings: Settings) -> bool:
    return settings.trusted_proxies == 0 and is_loopback(settings.host)


def is_from_own_machine(environ: responses.Environ) -> bool:
    return (
        is_loopback(environ.get("REMOTE_ADDR") or "")
        and bool(_LOCAL_HOST.fullmatch(environ.get("HTTP_HOST", "")))
        and not any(name in environ for name in OF_PROXIES)
    )


def advise(error: ScanError, setting: str) -> None:
    """Add the setting to an error's message."""
    error.message += f" On your own machine, start Scan with {setting}."


def is_own_machine() -> bool:
    """Return whether the client may be told which setting lifts a bound."""
    return serves_own_machine(services.services().settings) and is_from_own_machine(
        request_state.current_request().environ
    )


BEARER = "bearer "  # in any letter case
MAX_KEYS_TRIED = 20  # texts of a form that look like a key
LONGEST_FIELD_HEAD = 200  # of a field in a multipart form

_FORM_KEY = re.compile(rb"scan_[0-9a-f]{64}")
# The text before the key: `apikey=`, or a part's head with that name and an empty line.
_FIELD_NAME = re.compile(
    rb'(?:(?:\A|&)apikey=|;\s*name="?apikey"?(?:\s*;[^\r\n]*)?(?:\r\n[^\r\n]+)*\r\n\r\n)\Z', re.I
)


class Caller(NamedTuple):
    """The sender by its key; `api_key` is None where the request has none.

    An unknown key is refused, or ignored if `is_lenient`. `limit_key` is the value by which
    deploy/nginx.conf chose this instance: a key's text or "address", or empty without nginx.
    """

    api_key: str | None
    is_lenient: bool = False
    limit_key: str = ""


def keys_in_headers(environ: responses.Environ) -> Sequence[str]:
    """Return the keys in the headers of a request: X-API-Key, `Authorization: Bearer scan_…`."""
    keys = [environ["HTTP_X_API_KEY"]] if "HTTP_X_API_KEY" in environ else []
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    if authorization[: len(BEARER)].lower() == BEARER:
        keys.append(authorization[len(BEARER) :].strip())
    return keys


def caller_of(environ: responses.Environ, parameter: str | None = None) -> Caller:
    """Return the sender of a request by its headers, or where an interface has a `parameter` for
    the key, by its query."""
    keys = keys_in_headers(environ)
    api_key = keys[0] if keys else None
    caller = Caller(api_key, limit_key=environ.get("HTTP_X_SCAN_LIMIT_KEY", ""))
    if api_key is not None or parameter is None:
        return caller
    for name, value in parse_qsl(environ.get("QUERY_STRING", "")):
        if name.lower() == parameter and value:
            return caller._replace(api_key=value, is_lenient=True)
    return caller


def key_in_form(form: bytes) -> str | None:
    """Return the key in a form's field `apikey` (in any letter case), without parsing the form.

    Parsing megabytes takes seconds, which are not spent before their sender is charged.
    """
    for key in islice(_FORM_KEY.finditer(form), MAX_KEYS_TRIED):
        name = form[max(0, key.start() - LONGEST_FIELD_HEAD) : key.start()]
        if _FIELD_NAME.search(name):
            return key.group().decode()
    return None


GET_A_KEY = (
    " An API key in X-API-Key raises the limit: the page /keys or POST /api/v1/keys makes one."
)


def over_limit(result: RateLimitResult, what: str, advice: str = "") -> RateLimited:
    """Return the error of a request over its limit of `what`: requests, pages or files."""
    wait_s = result.retry_after_s
    return RateLimited(
        f"Rate limit of {result.limit} {what} exceeded; try again in {wait_s} s.{advice}",
        headers={"Retry-After": str(wait_s)},
    )


KEYS = f"{interfaces.API}/keys"
# A caller with its key, None for an unknown one.
Identified = tuple[Caller, ApiKey | None]


@dataclass(eq=False)
class RateLimit:
    """Charges requests, in steps that yield what they wait for."""

    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    # Instances count each in their own memory, and a proxy sends each request to the instance that
    # counts it.
    is_one_of_several: bool
    serves_own_machine: bool

    def charge(self, state: RequestState, interface: Interface) -> ChargeSteps:
        """Charge a request once, by its interface's limit: to its key, or to its client's address
        where it has none, is creating one, or keys do not count."""
        if state.is_open:
            return (yield from self.peek(state))
        parameter = interface.api_key_parameter
        caller, key = caller_of(state.environ, parameter), None
        if caller.api_key is not None or (parameter is not None and state.has_body):
            identified = yield from self._identify(state, interface, caller)
            if isinstance(identified, Charged):
                return identified
            caller, key = identified
        elif state.session_key is not None and not self.is_one_of_several:
            key = state.session_key
        counted_by = None if state.page == KEYS and state.method == "POST" else key
        if self.is_one_of_several and (elsewhere := _counted_elsewhere(caller, counted_by)):
            return Charged(self._nothing_left(counted_by), refusal=elsewhere)
        windows = self._windows(state, interface, counted_by)
        is_by_key = not (interface.has_page_limit or interface.has_address_limit)
        advice = GET_A_KEY if is_by_key and counted_by is None else ""
        charged = yield from self._count(state, interface, windows, counted_by, advice=advice)
        if charged.refusal is not None or not is_by_key:
            return charged
        if key is not None:
            self.key_usage.count(key.id, time.time())
            state.watched = caller.api_key or state.watched
            return charged._replace(key=key)
        if caller.api_key is None:
            return charged
        unknown = InvalidApiKey("The API key is unknown or inactive.")
        return charged if caller.is_lenient else charged._replace(refusal=unknown)

    def charge_ceiling(
        self, state: RequestState, *, advice: str = ""
    ) -> Generator[WaitsFor, None, Charged | None]:
        """Charge the limit of a client's address over all keys, once a request. Return what refuses
        it, else None."""
        if state.has_ceiling_charged:
            return None
        state.has_ceiling_charged = True
        ceiling = [Window(self.limiter.address_rate, state.client)]
        interface = state.interface or interfaces.UNKNOWN
        charged = yield from self._count(state, interface, ceiling, advice=advice)
        return None if charged.refusal is None else charged

    def _windows(
        self, state: RequestState, interface: Interface, key: ApiKey | None
    ) -> Sequence[Window]:
        """Return the windows of a request by its interface's limit: of its key, or its address."""
        limiter, client = self.limiter, state.client
        if interface.has_page_limit:
            return [Window(limiter.page_rate, client)]
        if interface.has_address_limit:
            return [Window(limiter.address_rate, client)]
        if key is None:
            return [Window(limiter.anonymous_rate, client)]
        windows = limiter.key_windows(key.id, key.requests_per_minute, client)
        return windows[:1] if state.has_ceiling_charged else windows

    def peek(self, state: RequestState) -> ChargeSteps:
        """Read what the client has left, by its key where that is known without a query, and charge
        nothing."""
        cached = None
        if (given := caller_of(state.environ).api_key) is not None:
            cached = self.key_lookup.find_cached(given)
        windows = self._windows(state, state.interface or interfaces.REST, cached and cached.key)
        return (yield from self._count(state, interfaces.REST, windows, is_counted=False))

    def _identify(
        self, state: RequestState, interface: Interface, caller: Caller
    ) -> Generator[WaitsFor, None, Identified | Charged]:
        """Find the caller's key, or return the refusal.

        Before a thread searches a form for it, the request is charged to the ceiling of its
        address.
        """
        if caller.api_key is not None:
            chooses_instance = interface.calls_api and self.is_one_of_several
            if interface.has_address_limit or (interface.has_page_limit and not chooses_instance):
                return caller, None
        else:
            refused = yield from self.charge_ceiling(state, advice=GET_A_KEY)
            if refused is not None:
                return refused
            yield Wait.THREAD
            body = request_state.read_body(state.environ, connection.MAX_BODY_BYTES)
            caller = caller._replace(api_key=key_in_form(body), is_lenient=True)
            if caller.api_key is None:
                return caller, None
        key = yield from self.look_up(state, caller.api_key, advice=GET_A_KEY)
        return key if isinstance(key, Charged) else (caller, key)

    def look_up(
        self, state: RequestState, given: str | bytes, *, advice: str = ""
    ) -> Generator[WaitsFor, None, ApiKey | Charged | None]:
        """Look a key up, or return the refusal; before a thread does, the request is charged to its
        address's ceiling."""
        if (cached := self.key_lookup.find_cached(given)) is not None:
            return cached.key
        if (refused := (yield from self.charge_ceiling(state, advice=advice))) is not None:
            return refused
        yield Wait.THREAD
        try:
            return self.key_lookup.find(given)
        except Unavailable as unavailable:
            return Charged(self._nothing_left(None), refusal=unavailable)

    def _count(
        self,
        state: RequestState,
        interface: Interface,
        windows: Sequence[Window],
        key: ApiKey | None = None,
        *,
        advice: str = "",
        is_counted: bool = True,
    ) -> ChargeSteps:
        """Count a request in windows; refuse it where one is full, or cannot be counted. Where it
        is not to be counted, read them."""
        store = self.limiter.store
        try:
            if isinstance(store, SharedWindows):
                charging = store.submit(*windows, is_counted=is_counted)
                yield charging
                result = charging.result()
            else:
                result = store.charge(*windows, is_counted=is_counted)
        except Unavailable as unavailable:
            return Charged(self._nothing_left(key), refusal=unavailable if is_counted else None)
        if result.allowed or not is_counted:
            return Charged(result)
        is_page = interface.has_page_limit
        refusal = over_limit(result, "pages" if is_page else "requests", advice)
        if (
            self.serves_own_machine
            and not interface.has_address_limit
            and (key is None or is_page)
            and is_from_own_machine(state.environ)
        ):
            setting = RAISE_PAGES if is_page else RAISE_REQUESTS
            advise(refusal, setting)
        return Charged(result, refusal=refusal)

    def _nothing_left(self, key: ApiKey | None) -> RateLimitResult:
        limit = key.requests_per_minute if key else self.limiter.anonymous_rate.amount
        return RateLimitResult(allowed=False, limit=limit, remaining=0, reset_in_s=1.0)


def _counted_elsewhere(caller: Caller, key: ApiKey | None) -> MisdirectedRequest | None:
    """Return a refusal that has nginx pass the request on to the instance that counts it, None
    where this one does; the locations are defined in deploy/nginx.conf."""
    limit_key = "address" if key is None else caller.api_key
    if caller.limit_key in ("", limit_key):
        return None
    headers = {"X-Accel-Redirect": "@scan_by_address"}
    if key is not None:
        headers = {"X-Accel-Redirect": "@scan_by_key", "X-Scan-Limit-Key": str(limit_key)}
    return MisdirectedRequest("Another instance counts this request.", headers=headers)
