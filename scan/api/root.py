"""GET / where no pages are served: where to look instead."""

from flask import Blueprint, Response

from scan import VERSION
from scan.http.responses import json_value

blueprint = Blueprint("root", __name__)


@blueprint.get("/")
def root() -> Response:
    return json_value(
        {
            "name": "Scan",
            "version": VERSION,
            "documentation": "/docs/",
            "openapi": "/api/v1/openapi.json",
            "status": "/readyz",
        }
    )
