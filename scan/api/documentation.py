"""GET /api/v1/openapi.json, and /docs, where a browser tries every request."""

import functools

import orjson
from flask import Blueprint, Response
from flask_swagger_ui import get_swaggerui_blueprint

from scan.api.openapi import PREFIX, document
from scan.http.requests import query_arguments
from scan.http.responses import json_body

blueprint = Blueprint("documentation", __name__)

DOCUMENT = f"{PREFIX}/openapi.json"


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
    query_arguments()
    return json_body(_document())


@functools.cache
def _document() -> bytes:
    return orjson.dumps(document())
