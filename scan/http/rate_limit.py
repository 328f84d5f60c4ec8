"""Charges each request once, to its API key or to its client's address, before it is served."""

import math
import time

from scan.accounts.api_keys import ApiKey
from scan.accounts.key_lookup import ApiKeyLookup, CachedKey
from scan.accounts.key_usage import KeyUsage
from scan.errors import InvalidApiKey, MisdirectedRequest, RateLimited, Unavailable
from scan.http import own_machine
from scan.http.credentials import Caller, caller_of, read_form
from scan.http.interfaces import API, Interface
from scan.http.request_state import Charged, ChargeSteps, RequestState, Sent, Wait
from scan.rate_limits.client_address import client_address
from scan.rate_limits.limiter import Limiter
from scan.rate_limits.responses import GET_A_KEY, rate_limited
from scan.rate_limits.windows import RateLimitResult, Window
from scan.server.wsgi_responses import Environ

KEYS = f"{API}/keys"
NO_KEY = CachedKey(None, math.inf)


class RateLimit:
    """Charges requests, in steps that yield the windows to charge (see steps.py)."""

    def __init__(
        self,
        limiter: Limiter,
        key_lookup: ApiKeyLookup,
        key_usage: KeyUsage,
        *,
        trusted_proxies: int,
        is_one_of_several: bool = False,
        serves_own_machine: bool = False,
    ) -> None:
        """`is_one_of_several`: instances count each in their own memory, and a proxy sends each
        request to the instance that counts it."""
        self.store = limiter.store
        self._limiter = limiter
        self._key_lookup = key_lookup
        self._key_usage = key_usage
        self._trusted_proxies = trusted_proxies
        self._is_one_of_several = is_one_of_several
        self._serves_own_machine = serves_own_machine

    def charge(self, state: RequestState, interface: Interface) -> ChargeSteps:
        """Charge a request once, by its interface's limit."""
        if state.is_open:
            return self.peek(state.environ)
        if interface.has_address_limit:  # over all keys, whatever the key
            caller = caller_of(state.environ)
            return self._charge(caller, None, self._limiter.of_unknown_key(self._address(caller)))
        if interface.has_page_limit:
            steps = self._charge_page(caller_of(state.environ), interface)
            return self._advised(steps, state.environ, own_machine.RAISE_PAGES)
        steps = self._charge_caller(state, interface.api_key_parameter)
        return self._advised(steps, state.environ, own_machine.RAISE_REQUESTS)

    def _advised(self, steps: ChargeSteps, environ: Environ, setting: str) -> ChargeSteps:
        """Charge, and name the setting in the refusal of a client on a developer's machine."""
        charged = yield from steps
        refusal = charged.refusal
        if (
            self._serves_own_machine
            and isinstance(refusal, RateLimited)
            and "HTTP_X_API_KEY" not in environ
            and own_machine.is_from_own_machine(environ)
        ):
            own_machine.advise(refusal, setting)
        return charged

    def peek(self, environ: Environ) -> ChargeSteps:
        """Read what the client's address has left, and charge nothing."""
        if self.store.waits:
            yield Wait.THREAD
        try:
            return Charged(self._limiter.peek_address(self.address_of(environ)))
        except Unavailable:
            return Charged(self._nothing_left(None))

    def address_of(self, environ: Environ) -> str:
        """Return the client's address, by which waiting threads are counted, whatever its keys."""
        return self._address(caller_of(environ))

    def _charge_caller(self, state: RequestState, parameter: str | None) -> ChargeSteps:
        """Charge the caller's key, or its address if it has no key or is creating one.

        Before a thread looks the key up, or searches a form for it, the request is charged to the
        ceiling of its address.
        """
        caller = caller_of(state.environ, parameter)
        may_be_in_form = caller.api_key is None and parameter is not None and state.has_body
        cached = self._find_cached(caller)
        key = cached.key if cached else None
        is_admitted = may_be_in_form or cached is None
        if is_admitted:
            admission = yield from self._admit(caller)
            if admission.refusal is not None:
                return admission
            if may_be_in_form:
                caller = caller_of(state.environ, parameter, read_form(state.environ))
            try:
                key = None if caller.api_key is None else self._key_lookup.find(caller.api_key)
            except Unavailable as unavailable:
                return Charged(self._nothing_left(None), refusal=unavailable)
        makes_key = state.page == KEYS and state.method == "POST"
        charged_key = None if makes_key else key
        windows = self._windows(caller, charged_key, is_admitted=is_admitted)
        advice = "" if charged_key else GET_A_KEY
        charged = yield from self._charge(caller, charged_key, windows, advice=advice)
        if charged.refusal is not None:
            return charged
        if key is not None:
            self._key_usage.count(key.id, time.time())
        elif caller.api_key is not None and not caller.is_lenient:
            refusal = InvalidApiKey("The API key is unknown or inactive.")
            return charged._replace(refusal=refusal)
        return charged if key is None else charged._replace(key=key)

    def _charge_page(self, caller: Caller, interface: Interface) -> ChargeSteps:
        """Charge the address by the limit of pages, whatever its key.

        Where the interface `calls_api`, a known key decides which of several instances charges it.
        """
        key = None
        if interface.calls_api and self._is_one_of_several and caller.api_key is not None:
            cached = self._find_cached(caller)
            if cached is None:
                admission = yield from self._admit(caller)
                if admission.refusal is not None:
                    return admission
            try:
                key = cached.key if cached else self._key_lookup.find(caller.api_key)
            except Unavailable as unavailable:
                return Charged(self._nothing_left(None), refusal=unavailable)
        windows = self._limiter.of_page(self._address(caller))
        return (yield from self._charge(caller, key, windows, "pages"))

    def _charge(
        self,
        caller: Caller,
        key: ApiKey | None,
        windows: tuple[Window, ...],
        what: str = "requests",
        advice: str = "",
    ) -> ChargeSteps:
        """Charge windows, unless another instance counts the requests of this key."""
        elsewhere = self._counted_elsewhere(caller, key)
        if elsewhere is not None:
            return elsewhere
        return self._charged((yield windows), key, what, advice)

    def _admit(self, caller: Caller) -> ChargeSteps:
        """Charge the ceiling of the caller's address, and continue in a thread if it allows it."""
        windows = self._limiter.of_unknown_key(self._address(caller))
        admission = self._charged((yield windows), None, "requests", GET_A_KEY)
        if admission.refusal is None:
            yield Wait.THREAD
        return admission

    def _find_cached(self, caller: Caller) -> CachedKey | None:
        """Return the cached key of the caller; None where it has to be looked up. Never waits."""
        return NO_KEY if caller.api_key is None else self._key_lookup.find_cached(caller.api_key)

    def _windows(
        self, caller: Caller, key: ApiKey | None, *, is_admitted: bool
    ) -> tuple[Window, ...]:
        """Return the windows of a key, or of the address without one.

        A request that `is_admitted` was charged to the address's ceiling already.
        """
        address = self._address(caller)
        if key is None:
            return self._limiter.of_address(address)
        windows = self._limiter.of_key(key.id, key.requests_per_minute, address)
        return windows[:1] if is_admitted else windows

    def _charged(self, result: Sent, key: ApiKey | None, what: str, advice: str = "") -> Charged:
        """Return the charge, with a refusal if it is over the limit of `what` or failed."""
        if not isinstance(result, RateLimitResult):
            return Charged(self._nothing_left(key), refusal=result)
        refusal = None if result.allowed else rate_limited(result, what, advice)
        return Charged(result, refusal=refusal)

    def _counted_elsewhere(self, caller: Caller, key: ApiKey | None) -> Charged | None:
        """Return a refusal that has nginx pass the request on to the instance that counts it, None
        where this one does; the locations are defined in deploy/nginx.conf."""
        limit_key = "address" if key is None else caller.api_key
        if not self._is_one_of_several or caller.limit_key in ("", limit_key):
            return None
        headers = {"X-Accel-Redirect": "@scan_by_address"}
        if key is not None:
            headers = {"X-Accel-Redirect": "@scan_by_key", "X-Scan-Limit-Key": str(limit_key)}
        refusal = MisdirectedRequest("Another instance counts this request.", headers=headers)
        return Charged(self._nothing_left(key), refusal=refusal)

    def _address(self, caller: Caller) -> str:
        return client_address(caller.peer, caller.forwarded_for, self._trusted_proxies)

    def _nothing_left(self, key: ApiKey | None) -> RateLimitResult:
        limit = key.requests_per_minute if key else self._limiter.anonymous_rate.amount
        return RateLimitResult(allowed=False, limit=limit, remaining=0, reset_in_s=1.0)
