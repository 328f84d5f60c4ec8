"""The gateway as a WSGI application: it finds a request's chain by path, query or form."""

import itertools
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import orjson
from jinja2 import Template
from markupsafe import Markup

from scan.errors import InvalidParameter, MethodNotAllowed, NotFound, ScanError, Unavailable
from scan.extensions.etherscan import replies
from scan.extensions.gateway import forwarding
from scan.extensions.sourcify import fields
from scan.http.request_state import interface_of
from scan.pages.site import files, icon_of
from scan.server.responses import (
    CORS,
    SENT_HEADERS,
    Environ,
    WsgiResponse,
    json_response,
    preflight_headers,
)
from scan.settings import UNBRANDED, Brand, Settings

METHODS = ("GET", "HEAD", "POST")
NO_CHAIN = (
    "Missing or unsupported chainid parameter (required for v2 api), please see /v2/chainlist"
    " for the list of supported chainids"
)
JOB_READ_S = 15.0  # a service waits 10 s for the end of a job that it has
PAGE, SCRIPT = (Path(__file__).with_name(name) for name in ("chains.html", "chains.js"))
POLICY = (
    "default-src 'none'; img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'"
)

_ALL_CHAINS_OF_SOURCIFY = re.compile(r"(?:/server)?/v2/contract/all-chains/[^/]+")
_CHAIN_OF_SOURCIFY = re.compile(
    r"(?:/server)?/v2/(?:contracts/([^/]*)|(?:contract|verify(?:/[a-z]+)?)/([^/]*)/.+)"
)
# Headers of a request whose response is not put together from several.
_OF_ONE_RESPONSE = ("HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH")
_JOB = re.compile(r"(?:/server)?/v2/verify/[^/]+")
_URLENCODED_FIELD = b"&chainid="
_MULTIPART_FIELD = b'; name="chainid"\r\n'

Response = WsgiResponse | forwarding.Forwarded
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


def create_app(file: str) -> "Gateway":
    """Create the gateway of a file of chains; gunicorn calls it in its worker."""
    settings = Settings.from_environment()
    return Gateway(
        forwarding.read_chains(Path(file), settings), settings.trusted_proxies, settings.brand
    )


def thread_count(chains: Sequence[forwarding.Chain]) -> int:
    """Return how many threads the gateway needs, so that no chain's requests wait for another's."""
    return forwarding.REQUESTS_AT_ONCE * len(chains) + 8


class Gateway:
    """A WSGI application that keeps nothing between requests but connections to services."""

    def __init__(
        self, chains: Sequence[forwarding.Chain], trusted_proxies: int, brand: Brand = UNBRANDED
    ) -> None:
        services = [forwarding.Service(chain, trusted_proxies) for chain in chains]
        self._of_path = {service.chain.path: service for service in services}
        self._of_id = {str(service.chain.chain_id): service for service in services}
        self._trusted_proxies = trusted_proxies
        self._page = _page(chains, brand)
        # A service takes at most REQUESTS_AT_ONCE of these threads, however slow it is.
        self._pool = ThreadPoolExecutor(forwarding.REQUESTS_AT_ONCE * len(chains))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = str(environ["PATH_INFO"])
        try:
            response = self._respond(environ, path)
        except ScanError as error:
            response = interface_of(
                path, environ, (replies.ETHERSCAN, fields.SOURCIFY), None
            ).refuse(error)
        if isinstance(response, forwarding.Forwarded):
            start_response(response.status_line, response.headers)
            return response.body
        start_response(response.status, [*response.headers, *CORS])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [response.body]

    def _respond(self, environ: Environ, path: str) -> Response:
        service = self._of_path.get(path.split("/", 2)[1] if path[:1] == "/" else "")
        if service is not None:
            return self._below_path(environ, service, path)
        if environ["REQUEST_METHOD"] == "OPTIONS":
            requested = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", SENT_HEADERS)
            allow = ", ".join(sorted((*METHODS, "OPTIONS")))
            return WsgiResponse("204 No Content", preflight_headers(allow, requested), b"")
        if environ["REQUEST_METHOD"] not in METHODS:
            raise MethodNotAllowed("Method not allowed.")
        return self._by_chain_id(environ, path.rstrip("/"))

    def _below_path(self, environ: Environ, service: forwarding.Service, path: str) -> Response:
        prefix = f"/{service.chain.path}"
        target = _target(environ).removeprefix(prefix)
        if path == prefix:
            query = target.partition("?")[2]
            location = f"{prefix}/{'?' * bool(query)}{query}"
            return WsgiResponse("308 Permanent Redirect", [("Location", location)], b"")
        if not target.startswith("/") or _is_of_operators(path, service.chain.path):
            raise NotFound("Not found.")
        return service.forward(environ, target, _body(environ))

    def _by_chain_id(self, environ: Environ, path: str) -> Response:
        if path == replies.CHAIN_LIST:
            return self._chain_list(environ)
        if interface_of(path, environ, (replies.ETHERSCAN,), None) is replies.ETHERSCAN:
            return self._etherscan(environ)
        if _ALL_CHAINS_OF_SOURCIFY.fullmatch(path):
            return self._on_all_chains(environ)
        if match := _CHAIN_OF_SOURCIFY.fullmatch(path):
            chain_id = match[1] or match[2] or ""
            service = self._of_id.get(fields.canonical_id(chain_id))
            if service is None:
                raise fields.UnsupportedChain(chain_id)
            return service.forward(environ, _target(environ), _body(environ))
        if _JOB.fullmatch(path):
            return self._verification_job(environ)
        if path in ("/chains", "/server/chains"):
            chains = [service.chain for service in self._of_path.values()]
            listed = [fields.chain_record(chain.chain_id, chain.name) for chain in chains]
            return json_response(200, listed, [])
        if path == "/readyz":
            return self._readiness()
        if path == "/healthz":
            return json_response(200, {"status": "ok"}, [])
        if path == "":
            return self._page
        paths = ", ".join(f"/{path}/" for path in self._of_path)
        raise NotFound(f"Not found; the chains are at {paths}.")

    def _etherscan(self, environ: Environ) -> forwarding.Forwarded:
        body = _body(environ)
        # A form is searched for this field, not parsed: 5 MB would take 50 ms.
        chain_id = _chain_id_of_form(environ, body) or _chain_id_of_query(environ)
        service = self._of_id.get(chain_id.lstrip("0"))
        if service is None:
            raise InvalidParameter(NO_CHAIN)
        return service.forward(environ, _target(environ), body)

    def _verification_job(self, environ: Environ) -> forwarding.Forwarded:
        """Ask the services of all chains at once: a job's id does not tell its chain."""
        target, body = _target(environ), _body(environ)
        unavailable, not_found = None, None
        requests = [
            self._pool.submit(service.forward, dict(environ), target, body, JOB_READ_S)
            for service in self._of_path.values()
        ]
        for request in as_completed(requests):
            try:
                response = request.result()
            except Unavailable as error:
                unavailable = error
                continue
            if response.status != 404:
                return response
            not_found = response
        if unavailable is not None or not_found is None:
            raise unavailable or Unavailable("No chain's service answers; try again shortly.")
        return not_found

    def _on_all_chains(self, environ: Environ) -> Response:
        """Return the verified contracts at an address, of all chains; none may be missing."""
        target = _target(environ)
        plain = {name: value for name, value in environ.items() if name not in _OF_ONE_RESPONSE}
        get = {**plain, "REQUEST_METHOD": "GET"}
        services = self._of_path.values()
        responses: list[forwarding.Forwarded] = [
            *self._pool.map(lambda service: service.forward(get, target, b""), services)
        ]
        other = [response for response in responses if response.status not in (200, 404)]
        if other:
            return other[0]
        results = [orjson.loads(b"".join(response.body))["results"] for response in responses]
        listed = [*itertools.chain.from_iterable(results)]
        return json_response(200 if listed else 404, {"results": listed}, [])

    def _states(self) -> list[forwarding.ServiceState]:
        return list(self._pool.map(forwarding.Service.state, self._of_path.values()))

    def _readiness(self) -> WsgiResponse:
        """Return /readyz of all chains in one: ready if all are, with the largest lag, null where
        one is not known."""
        states = self._states()
        lags = [state.lag_blocks for state in states if state.lag_blocks is not None]
        problems = [f"{state.chain.path}: {state.problem}" for state in states if state.problem]
        value = {
            "status": "unavailable" if problems else "ready",
            "problem": "; ".join(problems) or None,
            "lagBlocks": max(lags, default=0) if len(lags) == len(states) else None,
            "chains": [
                {
                    "path": state.chain.path,
                    "chainId": state.chain.chain_id,
                    "lagBlocks": state.lag_blocks,
                    "problem": state.problem or None,
                }
                for state in states
            ],
        }
        return json_response(503 if problems else 200, value, [])

    def _chain_list(self, environ: Environ) -> WsgiResponse:
        base = replies.public_url(environ, self._trusted_proxies)
        records = [
            replies.chain_record(
                str(chain.chain_id),
                chain.name,
                f"{base}/{chain.path}/",
                f"{base}/v2/api",
                is_answering=is_answering,
            )
            for chain, is_answering, *_ in self._states()
        ]
        return json_response(200, replies.chain_list(records), [])


def _target(environ: Environ) -> str:
    """Return the path and the query as they were sent."""
    target = str(environ["RAW_URI"])
    if not target.startswith("/"):
        raise InvalidParameter("The request must name a path.")
    return target


def _is_of_operators(path: str, chain_path: str) -> bool:
    """Return whether a path is /metrics of a chain, however a service or a proxy before it may read
    the path: decoded again, with dots, with other slashes or letter case, or below the chain's path
    more than once."""
    names: list[str] = []
    for name in unquote(path).lower().replace("\\", "/").split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", ".", chain_path):
            names.append(name.partition(";")[0])
    return names[:1] == ["metrics"]


def _body(environ: Environ) -> bytes:
    return bytes(environ["wsgi.input"].read())


def _chain_id_of_form(environ: Environ, body: bytes) -> str:
    """Return the `chainid` of a form, whose name may be in any letter case."""
    names = body.lower()
    if environ.get("CONTENT_TYPE", "").lower().startswith("multipart/"):
        start = names.find(_MULTIPART_FIELD)
        value = body[start:].partition(b"\r\n\r\n")[2] if start >= 0 else b""
        return value.partition(b"\r\n")[0][:100].decode("latin-1").strip()
    start = (b"&" + names).rfind(_URLENCODED_FIELD)
    value = body[start + len(_URLENCODED_FIELD) - 1 :] if start >= 0 else b""
    return value.partition(b"&")[0][:100].decode("latin-1").strip()


def _chain_id_of_query(environ: Environ) -> str:
    values: Iterator[str] = (
        value.strip()
        for name, value in reversed(parse_qsl(environ["QUERY_STRING"]))
        if name.lower() == "chainid"
    )
    return next(values, "")


def _page(chains: Sequence[forwarding.Chain], brand: Brand) -> WsgiResponse:
    """Return the page of the chains, which searches all of them; all that it shows is in it, since
    no service may answer."""
    static = files(brand)
    icon = static[icon_of(brand)]
    inline = {
        "script": SCRIPT.read_text(encoding="utf-8"),
        "style": (static["scan.css"].content.decode() + brand.css).replace("</", "<"),
    }
    template = Template(PAGE.read_text(encoding="utf-8"), autoescape=True)
    body = template.render(
        chains=chains,
        brand=brand,
        icon=f"data:{icon.content_type};base64,{b64encode(icon.content).decode()}",
        inline={name: Markup(text) for name, text in inline.items()},
    ).encode()
    hashes = (
        f"{name}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for name, text in inline.items()
    )
    policy = "; ".join((POLICY, *hashes))
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Length": str(len(body)),
        "Content-Security-Policy": policy,
    }
    return WsgiResponse("200 OK", [*headers.items()], body)
