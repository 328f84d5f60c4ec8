"""Paths that programs and links expect: /llms.txt, /robots.txt and the files of /.well-known, which
are not rate limited; and URLs of Blockscout's and Etherscan's pages, which redirect to those of
Scan.

Every target begins with a path of Scan, in which arguments are quoted: none leads to another host.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from flask import Blueprint, Flask, Response, current_app, request

from scan import parameters
from scan.errors import InvalidParameter, NotFound
from scan.ethereum.text_cleaning import WRITTEN_BY_STRANGERS
from scan.http.hooks import Interfaces
from scan.http.interfaces import API, Interface
from scan.http.prerequisites import Mark, marked
from scan.http.services import services
from scan.settings import Settings

LLMS = "/llms.txt"
CATALOG = "/.well-known/api-catalog"
ROBOTS = "/robots.txt"
SECURITY = "/.well-known/security.txt"
# Interfaces for programs, and pages that differ for every query or visitor (RFC 9309).
NOT_CRAWLED = ("/api/", "/v2/", "/server/", "/mcp", "/search", "/watchlist", "/keys", "/webhooks")
# RFC 9727 and RFC 9264.
CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
SECURITY_LASTS = timedelta(days=180)  # RFC 9116: less than a year

HEAD = Path(__file__).with_name("llms.txt")


discovery = Blueprint("discovery", __name__)


@discovery.get(LLMS)
@marked(Mark.UNLIMITED)
def llms() -> Response:
    base = services().settings.base_path
    lines = [interface.line_of_llms for interface in _interfaces() if interface.line_of_llms]
    tools = "".join(f"{line.format(base=base)}\n" for line in lines)
    head = HEAD.read_text(encoding="utf-8")
    head = head.format(base=base, tools=tools, strangers=WRITTEN_BY_STRANGERS)
    operations = _operations(current_app.extensions["scan.document"](), base)
    return Response(head + "".join(operations), content_type="text/plain; charset=utf-8")


@discovery.get(CATALOG)
@marked(Mark.UNLIMITED)
def catalog() -> Response:
    linkset = _linkset(services().settings.base_path)
    response = Response(orjson.dumps(linkset), content_type=CATALOG_TYPE)
    response.headers["Link"] = f'<{CATALOG}>; rel="api-catalog"'
    return response


@discovery.get(SECURITY)
@marked(Mark.UNLIMITED)
def security() -> Response:
    contact = services().settings.brand.security_contact
    if not contact:
        raise NotFound("The operator has named no security contact.")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    expires = (midnight + SECURITY_LASTS).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Response(
        f"Contact: {contact}\nExpires: {expires}\n", content_type="text/plain; charset=utf-8"
    )


@discovery.get(ROBOTS)
@marked(Mark.UNLIMITED)
def robots() -> Response:
    settings = services().settings
    refused = NOT_CRAWLED if settings.pages and settings.brand.robots == "index" else ("/",)
    rules = [f"Disallow: {settings.base_path}{path}\n" for path in refused]
    return Response("".join(["User-agent: *\n", *rules]), content_type="text/plain")


def _interfaces() -> Sequence[Interface]:
    interfaces: Sequence[Interface] = current_app.extensions["scan.permanent"].interfaces
    return interfaces


def _operations(document: dict[str, Any], base: str) -> list[str]:
    return [
        f"- `{method.upper()} {base}{path}`: {operation['summary']}\n"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and "summary" in operation
    ]


def _linkset(base: str) -> dict[str, Any]:
    described = {
        "service-desc": [
            {"href": f"{base}/api/v1/openapi.json", "type": "application/openapi+json"}
        ],
        "service-doc": [{"href": f"{base}/docs/", "type": "text/html"}],
        "status": [{"href": f"{base}/readyz", "type": "application/json"}],
    }
    apis = [API, *(interface.catalogued for interface in _interfaces() if interface.catalogued)]
    return {
        "linkset": [
            {"anchor": f"{base}{CATALOG}", "item": [{"href": f"{base}{api}"} for api in apis]},
            *({"anchor": f"{base}{api}", **described} for api in apis),
        ]
    }


REDIRECTS = Path(__file__).with_name("redirects.toml")
TARGETS: Mapping[str, str] = tomllib.loads(REDIRECTS.read_text(encoding="utf-8"))
# Checks of the arguments in paths: for others there is no such page.
CHECKS: Mapping[str, Callable[[str], object]] = {
    "address": parameters.address,
    "block": parameters.block_number_or_hash,
    "operation": parameters.hash32,
    "token_id": parameters.token_id,
    "transaction": parameters.hash32,
}

blueprint = Blueprint("pages_redirects", __name__)


def _redirect(**arguments: str) -> Response:
    assert request.url_rule is not None  # Flask has chosen this view by it
    try:
        for name in CHECKS.keys() & arguments.keys():
            CHECKS[name](arguments[name])
    except InvalidParameter as error:
        raise NotFound(f"There is no such page. {error.message}") from None
    variables = {"q": request.args.get("q", ""), **arguments}
    quoted = {name: quote(value, safe="") for name, value in variables.items()}
    target = TARGETS[request.url_rule.rule].format_map(quoted)
    return Response(status=301, headers={"Location": target})


for number, path in enumerate(TARGETS):
    blueprint.add_url_rule(path, f"target_{number}", _redirect)


def register(app: Flask, settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(discovery)
    if settings.pages:
        app.register_blueprint(blueprint)
    return ()


HOOKS = Interfaces(register=register)
