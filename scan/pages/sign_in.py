"""Signing in with an API key, where SCAN_ACCESS is `keys`: /sign-in, POST /sign-out, and the form
that browsers get in place of every page without it, which tells nothing of the chain."""

import hashlib
import re
from base64 import b64encode
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from flask import Blueprint, Response, request
from markupsafe import Markup

from scan.accounts import api_keys
from scan.errors import InvalidApiKey, InvalidParameter, ScanError
from scan.http import access, request_bodies
from scan.http.access import COOKIE, SIGN_IN, SIGN_OUT, SignInPage
from scan.http.credentials_and_limits import over_limit
from scan.http.current_request import client_address, reader
from scan.http.interfaces import Interface, SameOrigin, own_hosts
from scan.http.services import services
from scan.pages.site import HTML, templates
from scan.rate_limits.window_storage import Window
from scan.server.responses import WsgiResponse
from scan.settings import Settings

MAX_BODY_BYTES = 8 * 1024
MAX_NEXT = 2_000  # characters of a path
# A path of this site: a browser takes `//` and `/\` for another one.
_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*")
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:26rem;margin:12vh auto;"
    "padding:0 1rem}label{display:block}input,button{font:inherit;box-sizing:border-box;"
    "padding:.5rem;width:100%}[role=alert]{font-weight:600}"
)
_STYLE_HASH = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
HEADERS = {
    "Content-Type": HTML,
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # which names the page that was asked for to the form
}

blueprint = Blueprint("pages_sign_in", __name__)


def interface(settings: Settings) -> Interface:
    """Return the interface of the form, whose errors it shows itself."""
    return Interface(
        page_of(settings),
        paths=frozenset({SIGN_IN, SIGN_OUT}),
        same_origin=SameOrigin(settings, frozenset()),
        has_page_limit=True,
    )


def page_of(settings: Settings) -> SignInPage:
    """Return what makes the form with an error's message, of which browsers get the same bytes for
    every path."""

    form = lru_cache(maxsize=8)(lambda message: _form(settings, message))

    def sign_in_page(error: ScanError) -> WsgiResponse:
        body = form(error.message)
        headers = {**HEADERS, "Content-Length": str(len(body)), **error.headers}
        status = f"{error.status} {HTTPStatus(error.status).phrase}"
        return WsgiResponse(status, [*headers.items()], body)

    return sign_in_page


def _form(settings: Settings, message: str = "", next_: str = "") -> bytes:
    values = {"site": settings.brand.name or "Scan", "style": Markup(STYLE), "message": message}
    action = f"{settings.base_path}{SIGN_IN}"
    template = templates().get_template("sign_in.html")
    return template.render(**values, action=action, next=next_).encode()


@blueprint.get(SIGN_IN)
def show_form() -> Response:
    reader().do_not_cache()
    body = _form(services().settings, next_=_local(request.args.get("next", "")))
    return Response(body, headers=HEADERS)


@blueprint.post(SIGN_IN)
def sign_in() -> Response:
    """Set the cookie of a session, and lead to the page that was asked for. Raises RateLimited, and
    InvalidApiKey for no active key."""
    reader().do_not_cache()
    limiter = services().limiter
    attempt = limiter.store.charge(Window(limiter.sign_in_rate, client_address()))
    if not attempt.allowed:
        raise over_limit(attempt, "attempts to sign in")
    request.max_content_length = MAX_BODY_BYTES
    fields = parse_qs(request_bodies.whole_body(InvalidParameter).decode("latin-1"))
    key = services().key_lookup.find(fields.get("key", [""])[-1].strip())
    if key is None:
        raise InvalidApiKey("This API key is unknown or inactive.")
    settings = services().settings
    response = _redirect(_local(fields.get("next", [""])[-1]) or _asked_for(settings) or "/")
    # The browser reaches the form by https, which ends at a proxy.
    urls = [settings.public_url or settings.brand.url, request.headers.get("Origin", "")]
    if settings.trusted_proxies and "X-Forwarded-Proto" in request.headers:
        urls.append(f"{request.headers['X-Forwarded-Proto'].strip()}:")
    response.set_cookie(
        COOKIE,
        api_keys.begin_session(services().writes, key),
        max_age=api_keys.SESSION_S,
        path=settings.base_path or "/",
        secure=any(url.startswith("https:") for url in urls),
        httponly=True,
        samesite="Lax",
    )
    return response


@blueprint.post(SIGN_OUT)
def sign_out() -> Response:
    reader().do_not_cache()
    for session in access.sessions_in(request.environ):
        api_keys.end_session(services().writes, session)
    services().key_lookup.clear_cache()
    response = _redirect(SIGN_IN)
    response.delete_cookie(COOKIE, path=services().settings.base_path or "/")
    return response


def _redirect(path: str) -> Response:
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": path})


def _local(path: str) -> str:
    """Return a path of this site; "" for anything else."""
    is_local = len(path) <= MAX_NEXT and _LOCAL.fullmatch(path)
    return path if is_local and not path.startswith((SIGN_IN, SIGN_OUT)) else ""


def _asked_for(settings: Settings) -> str:
    """Return the page that had the form, by the browser's word."""
    try:
        page = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return ""
    if page.netloc not in own_hosts(settings, request.environ):
        return ""
    path = page.path.removeprefix(settings.base_path)
    return _local(f"{path}?{page.query}" if page.query else path)
