"""GET /api/v1/openapi.json, and /docs, where a browser tries every request."""

import functools

import orjson
from flask import Blueprint, Response
from flask_swagger_ui import get_swaggerui_blueprint

from scan.api.openapi import PREFIX, document
from scan.http.requests import query_arguments
from scan.http.responses import json_body
from scan.http.services import services

blueprint = Blueprint("documentation", __name__)

DOCUMENT = f"{PREFIX}/openapi.json"


def docs(base_path: str) -> Blueprint:
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
    page: Blueprint = get_swaggerui_blueprint(
        f"{base_path}/docs", f"{base_path}{DOCUMENT}", settings
    )
    return page


@blueprint.get(DOCUMENT)
def openapi() -> Response:
    query_arguments()
    return json_body(_document(services().settings.base_path))


@functools.cache
def _document(base_path: str) -> bytes:
    return orjson.dumps(document(base_path))
