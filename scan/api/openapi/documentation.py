"""GET /api/v1/openapi.json, and /docs, where a browser can try every request."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask
import flask_swagger_ui
import orjson
from flask import Blueprint, Flask, send_from_directory
from jinja2 import Template
from markupsafe import Markup

from scan.api.openapi.document import document
from scan.errors import NotFound
from scan.http import application, interfaces, services
from scan.http.current_request import query_arguments
from scan.http.json_responses import Response, json_body

DOCUMENT = f"{interfaces.API}/openapi.json"
PAGE = Path(__file__).with_name("docs")
EXAMPLES = PAGE / "examples.json"  # by operation: request, body, answer, of the demo chain
EXAMPLE_PARTS = ("request", "body", "answer")
SWAGGER_UI = Path(flask_swagger_ui.__file__).with_name("dist")
# Swagger UI has its icons in data: URLs of its style sheet.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
InPage = Callable[[Markup, Markup], str]


@functools.cache
def files() -> dict[str, application.StaticFile]:
    """Return the files that the page loads, by name."""
    paths = [
        PAGE / "docs.css",
        PAGE / "docs.js",
        SWAGGER_UI / "swagger-ui-bundle.js",
        SWAGGER_UI / "swagger-ui.css",
        SWAGGER_UI / "favicon-32x32.png",
    ]
    return {path.name: application.static_file(path.name, path.read_bytes()) for path in paths}


def paths() -> frozenset[str]:
    """Return the paths of the document, of what names it, of the page and its files, without
    trailing slashes."""
    names = {"index.html", *files(), *(file.name for file in SWAGGER_UI.iterdir())}
    versions = {f"{file.version}/{name}" for name, file in files().items()}
    return frozenset(
        {interfaces.API, DOCUMENT, "/docs", *(f"/docs/{name}" for name in {*names, *versions})}
    )


@functools.cache
def _template() -> Template:
    template: Template = Template((PAGE / "index.html").read_text("utf-8"), autoescape=True)
    return template


def docs(read: Callable[[], dict[str, Any]], in_page: InPage | None) -> Blueprint:
    """Return the blueprint of the page, which lists all operations until one is chosen that Swagger
    UI, half a megabyte, then shows, and of its files. `in_page` returns it as a page of the site,
    of what it has in its head and in its main part."""
    blueprint = Blueprint("docs", __name__)

    @blueprint.get("/")
    @blueprint.get("/index.html")
    def index() -> Response:
        settings = services.services().settings
        base = settings.base_path  # relative links would be others at /docs than at /docs/
        urls = {name: f"{base}/docs/{file.version}/{name}" for name, file in files().items()}
        values = {"site": settings.brand.name or "Scan", "base": base, "urls": urls}
        parts: Any = _template().make_module(values | {"groups": _groups(read())})
        text = in_page(parts.head(), parts.body()) if in_page else str(parts)
        return flask.Response(text, headers={"Content-Security-Policy": POLICY})

    @blueprint.get("/<name>")
    def file(name: str) -> Response:
        is_of_swagger = name in {path.name for path in SWAGGER_UI.iterdir()}
        response = send_from_directory(SWAGGER_UI if is_of_swagger else PAGE, name)
        response.headers["Content-Security-Policy"] = POLICY
        return response

    @blueprint.get("/<version>/<name>")
    def file_of_version(version: str, name: str) -> Response:
        if name not in files():
            raise NotFound("File not found.")
        return files()[name].response(version)

    return blueprint


def _groups(document: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Return method, path, summary, id and the parts of an example of all operations, by tag."""
    examples = orjson.loads(EXAMPLES.read_bytes())
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "tags" in operation:
                name = operation["operationId"]
                of_name = examples.get(name, {})
                # A request and its answer as text: JSON, but forms and streams.
                parts = {part: of_name[part] for part in EXAMPLE_PARTS if part in of_name}
                texts = {
                    k: p if isinstance(p, str) else json.dumps(p, indent=1)
                    for k, p in parts.items()
                }
                row = (method.upper(), path, operation["summary"], name, texts)
                groups.setdefault(operation["tags"][0], []).append(row)
    return groups


def describe(read: Callable[[], dict[str, Any]]) -> Blueprint:
    """Return the blueprint of the OpenAPI document, which the first request builds."""
    blueprint = Blueprint("documentation", __name__)
    body = functools.cache(lambda: orjson.dumps(read()))

    @blueprint.get(DOCUMENT)
    def openapi() -> Response:
        query_arguments()
        return json_body(body())

    return blueprint


def add_routes(app: Flask, base_path: str, in_page: InPage | None, *, needs_key: bool) -> None:
    """Add the document, which app.extensions keeps as scan.document, and its pages."""
    described = functools.cache(lambda: document(base_path, needs_key=needs_key))
    app.extensions["scan.document"] = described
    app.register_blueprint(describe(described))
    app.register_blueprint(docs(described, in_page), url_prefix="/docs")
