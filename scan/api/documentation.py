"""GET /api/v1/openapi.json, and /docs, where a browser can try every request."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flask_swagger_ui
import orjson
from flask import Blueprint, send_from_directory

from scan.http.interfaces import API
from scan.http.requests import query_arguments
from scan.http.responses import Response, json_body

DOCUMENT = f"{API}/openapi.json"
PAGE = Path(__file__).with_name("docs")
PAGE_FILES = ("index.html", "docs.css", "docs.js")
SWAGGER_UI = Path(flask_swagger_ui.__file__).with_name("dist")
# Swagger UI has its icons in data: URLs of its style sheet.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def paths() -> frozenset[str]:
    """Return the paths of the document, the page and its files, without trailing slashes."""
    names = {*PAGE_FILES, *(file.name for file in SWAGGER_UI.iterdir())}
    return frozenset({DOCUMENT, "/docs", *(f"/docs/{name}" for name in names)})


def docs() -> Blueprint:
    """Return the blueprint of Swagger UI with our page, style and script, all served from here."""
    blueprint = Blueprint("docs", __name__)

    @blueprint.get("/")
    @blueprint.get("/<path:path>")
    def file(path: str = "index.html") -> Response:
        response = send_from_directory(PAGE if path in PAGE_FILES else SWAGGER_UI, path)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return blueprint


def describe(document: Callable[[], dict[str, Any]]) -> Blueprint:
    """Return the blueprint of the OpenAPI document, which the first request builds."""
    blueprint = Blueprint("documentation", __name__)
    body = functools.cache(lambda: orjson.dumps(document()))

    @blueprint.get(DOCUMENT)
    def openapi() -> Response:
        query_arguments()
        return json_body(body())

    return blueprint
