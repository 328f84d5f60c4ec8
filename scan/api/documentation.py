"""GET /api/v1/openapi.json, and /docs, where a browser tries every request."""

import functools
from collections.abc import Collection, Mapping
from pathlib import Path

import flask_swagger_ui
import orjson
from flask import Blueprint, Response
from flask_swagger_ui import get_swaggerui_blueprint

from scan.api.openapi import PREFIX, document
from scan.http.responses import json_body

DOCUMENT = f"{PREFIX}/openapi.json"


def paths() -> frozenset[str]:
    """Of the document, the page, and the files of the page; without slashes at their end."""
    folder = Path(flask_swagger_ui.__file__).with_name("dist")
    return frozenset({DOCUMENT, "/docs", *(f"/docs/{file.name}" for file in folder.iterdir())})


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


def describe(base_path: str, etherscan_actions: Mapping[str, Collection[str]]) -> Blueprint:
    """The document, as it is of one application; it is made for the first that asks."""
    blueprint = Blueprint("documentation", __name__)
    made = functools.cache(lambda: orjson.dumps(document(base_path, etherscan_actions)))

    @blueprint.get(DOCUMENT)
    def openapi() -> Response:
        return json_body(made())

    return blueprint
