"""Who may ask at all, where SCAN_ACCESS is `keys`: one gate that each request passes before its
path is looked at.

Without a key everything but /healthz, /readyz and the sign-in form is one refusal, whose bytes do
not depend on the path: nothing of the chain, of routes or of caches is read before. A key comes in
X-API-Key, in `Authorization: Bearer`, or as `apikey` in the forms that have it; a person has a
session's cookie, which ends with its key, or was signed in by a proxy. What a browser adds by
itself counts only where one of our own pages, or the person, sends the request.
"""

import re
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import parse_qsl

from werkzeug.http import parse_cookie

from scan.accounts.api_keys import Maker, session_hash
from scan.errors import InvalidApiKey, MissingApiKey, ScanError
from scan.http import index_version, request_state
from scan.http.credentials_and_limits import RateLimit, key_in_form, keys_in_headers
from scan.http.interfaces import SAFE_METHODS, is_sent_by_own_page
from scan.http.request_state import Charged, RequestState, Steps, Wait, WaitsFor
from scan.server import connection, responses
from scan.server.responses import Environ, Headers, Kept, WsgiResponse
from scan.settings import Settings

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
ALIVE, READY = "/healthz", "/readyz"
COOKIE = "scan_session"
# A proxy's session may end while a stream is open, unseen here: its client opens it again, from its
# last event on, and is let in or not.
STREAM_S = 60.0
MAX_USER = 320  # characters of the name that a proxy gives
# What proxies and the programs behind them say where nobody has signed in, and names of variables
# that were not filled in.
_NOBODY = re.compile(
    r"[\W_].*|(?:[\W_]|null|nil|none|no[\W_]?value|n/a|nan|undef(?:ined)?|unknown|unset|empty|false"
    r"|anon(?:ymous)?(?:[\W_]?user)?|guest|nobody|unauthenticated)*",
    re.IGNORECASE,
)
VARIES_BY = ("Cookie", "Authorization", "X-API-Key")
PREFLIGHT_METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST"
PREFLIGHT_HEADERS = f"{responses.SENT_HEADERS}, Authorization"
NO_KEY = "This explorer is private: send an API key in X-API-Key."
TWO_KEYS = "The request has two different API keys."
UNKNOWN_KEY = "The API key is unknown or inactive."
ENDED = "The session has ended: send an API key, or sign in again."

SignInPage = Callable[[ScanError], WsgiResponse]
Identifying = Generator[WaitsFor, None, ScanError | None]


class Given(NamedTuple):
    """What a request gives: the texts of its keys, the sessions of its cookies, and the name of the
    person whom a trusted proxy has signed in."""

    keys: frozenset[str]
    sessions: frozenset[str] = frozenset()
    user: str | None = None


def sessions_in(environ: Environ) -> frozenset[str]:
    """Return the sessions of a request's cookies, which werkzeug expects to be UTF-8."""
    cookies = environ.get("HTTP_COOKIE", "").encode("ascii", "replace").decode()
    return frozenset(parse_cookie(cookies).getlist(COOKIE))


@dataclass(frozen=True)
class Gate:
    settings: Settings
    rate_limit: RateLimit
    sign_in_page: SignInPage | None  # in place of JSON for browsers; None without pages

    def admit(self, state: RequestState) -> Steps:
        """Return the refusal; None where the request may go on, with who sends it in the state."""
        method, environ = state.method, state.environ
        if request_state.IS_ADMITTED in environ:  # by the request that it is a part of
            return None
        if method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in environ:
            # A browser's question before a request, which has no key: alike for all paths.
            requested = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", PREFLIGHT_HEADERS)
            headers = responses.preflight_headers(PREFLIGHT_METHODS, requested)
            return WsgiResponse("204 No Content", headers, b"")
        if state.path == ALIVE and method in ("GET", "HEAD"):
            return None
        if state.path == SIGN_IN and self.sign_in_page and method in ("GET", "HEAD", "POST"):
            environ.pop(index_version.REQUIRED_FIELD, None)  # which blocks there are
            return None
        refusal = yield from self._identify(state)
        if refusal is None:
            environ[request_state.IS_ADMITTED] = True
            return None
        if state.path == READY and method in ("GET", "HEAD") and not state.has_body:
            state.tells_status_alone = True
            return None
        return self._refuse(state, refusal)

    def _refuse(self, state: RequestState, error: ScanError) -> WsgiResponse:
        """Return the refusal in a form that does not depend on the path, but below /api is JSON."""
        state.interface, state.charged, state.refusal = None, None, error
        accepted = state.environ.get("HTTP_ACCEPT", "")
        is_page = "text/html" in accepted and not f"{state.path}/".startswith("/api/")
        if self.sign_in_page and is_page and state.method in ("GET", "HEAD"):
            return self.sign_in_page(error)
        is_problem = request_state.accepts_problem(accepted)
        return responses.refuse_as_problem(error) if is_problem else responses.refuse(error)

    def _identify(self, state: RequestState) -> Identifying:
        given, interface = self._given(state), state.interface
        if not given.keys and state.has_body and interface and interface.api_key_parameter:
            if (refused := (yield from self.rate_limit.charge_ceiling(state))) is not None:
                return refused.refusal
            yield Wait.THREAD
            body = request_state.read_body(state.environ, connection.MAX_BODY_BYTES)
            if (key_text := key_in_form(body)) is not None:
                given = given._replace(keys=frozenset({key_text}))
        if len(given.keys) > 1:
            return InvalidApiKey(TWO_KEYS)
        for key_text in given.keys:
            key = yield from self.rate_limit.look_up(state, key_text)
            if key is None:
                return InvalidApiKey(UNKNOWN_KEY)
            if isinstance(key, Charged):
                return key.refusal
            state.watched, state.maker = key_text, Maker(key.id)
            return None
        state.stream_ends_at = time.monotonic() + STREAM_S
        if given.user is not None:
            state.maker = Maker(maker_user=given.user)
            return None
        if len(given.sessions) != 1:
            return MissingApiKey(NO_KEY)
        [session] = given.sessions
        hashed = session_hash(session)
        key = None if hashed is None else (yield from self.rate_limit.look_up(state, hashed))
        if key is None:
            return MissingApiKey(ENDED)
        if isinstance(key, Charged):
            return key.refusal
        state.watched, state.session_key, state.maker = hashed, key, Maker(key.id)
        return None

    def _given(self, state: RequestState) -> Given:
        environ, interface = state.environ, state.interface
        keys = {*keys_in_headers(environ)}
        if interface is not None and interface.api_key_parameter is not None:
            fields = parse_qsl(environ.get("QUERY_STRING", ""))
            keys |= {v for name, v in fields if name.lower() == interface.api_key_parameter}
        if not self._is_sent_by_own_pages(state):
            return Given(frozenset(keys))
        return Given(frozenset(keys), sessions_in(environ), self._user(environ))

    def _user(self, environ: Environ) -> str | None:
        """Return the name that a trusted proxy gives; None of another peer's, of nobody, or of one
        that stands twice, which the server joins by a comma."""
        header = self.settings.proxy_user_header
        if header is None:
            return None
        user = environ.get(f"HTTP_{header.name.upper().replace('-', '_')}", "").strip()
        try:
            peer = ip_address(environ.get("REMOTE_ADDR") or "")
        except ValueError:
            return None
        peer = getattr(peer, "ipv4_mapped", None) or peer
        is_proxy = any(peer in network for network in header.networks)
        is_name = len(user) <= MAX_USER and user.isprintable() and "," not in user
        return user if is_proxy and is_name and not _NOBODY.fullmatch(user) else None

    def _is_sent_by_own_pages(self, state: RequestState) -> bool:
        """Return whether a browser would send the request by our own pages, or by a person who
        follows a link, not by another site's page, which may send it or measure its time."""
        is_own = is_sent_by_own_page(self.settings, state.environ)
        if is_own is None:
            return state.method in SAFE_METHODS
        sent_as = [state.environ.get(f"HTTP_SEC_FETCH_{name}") for name in ("MODE", "DEST")]
        is_link = "HTTP_SEC_FETCH_SITE" in state.environ and sent_as == ["navigate", "document"]
        return is_own or (is_link and state.method in ("GET", "HEAD"))


def readiness(response: WsgiResponse) -> WsgiResponse:
    """Return what a stranger is told of /readyz: its status."""
    is_ready = response.status.startswith("200")
    status = {"status": "ready" if is_ready else "unavailable"}
    return responses.json_response(200 if is_ready else 503, status, [])


def private_headers(headers: Headers) -> Headers:
    """Return the headers of a response, which no shared cache may keep; what browsers keep has
    nothing of the chain."""
    is_file = any(value in (Kept.FOR_EVER, Kept.A_DAY) for _, value in headers)
    varies = [value for name, value in headers if name == "Vary"]
    return [
        *((name, value) for name, value in headers if name not in ("Cache-Control", "Vary")),
        ("Cache-Control", "private, max-age=86400" if is_file else "private, no-store"),
        ("Vary", ", ".join([*varies, *VARIES_BY])),
    ]
