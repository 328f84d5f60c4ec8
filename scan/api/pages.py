"""What people look at: / says what this is, /docs tries every request, both from one document."""

import functools
import json

import orjson
from flask import Blueprint, Response, render_template, request
from flask_swagger_ui import get_swaggerui_blueprint

from scan.api import json_body, services
from scan.errors import ScanError
from scan.openapi import PREFIX, document

blueprint = Blueprint("pages", __name__)

DOCUMENT = f"{PREFIX}/openapi.json"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def docs() -> Blueprint:
    """Swagger UI, its files from the package: nothing is fetched from elsewhere."""
    settings = {
        "app_name": "Scan API",
        "validatorUrl": None,
        "oauth2RedirectUrl": None,
        "layout": "BaseLayout",
        "tryItOutEnabled": True,
        "displayRequestDuration": True,
        "defaultModelsExpandDepth": 0,
    }
    page: Blueprint = get_swaggerui_blueprint("/docs", DOCUMENT, settings)
    return page


@blueprint.get(DOCUMENT)
def openapi() -> Response:
    return json_body(_document())


@functools.cache
def _document() -> bytes:
    return orjson.dumps(document())


@blueprint.get("/")
def landing() -> Response:
    """Never an error: whoever looks here wants to know why nothing else answers."""
    problem, answer, stats, head = None, "", None, {}
    try:
        answer = services().reads.prepared_value("network_stats")
        stats = json.loads(answer)
        head = json.loads(services().reads.value("chain_status"))
    except ScanError as error:
        problem = error.message
    page = render_template(
        "landing.html",
        base=request.host_url.rstrip("/"),
        answer=answer,
        stats=stats,
        head=head,
        problem=problem,
    )
    return Response(page, headers={"Content-Security-Policy": POLICY})
