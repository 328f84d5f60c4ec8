"""GET / where no pages are served: the paths of documentation and status."""

from flask import Blueprint

from scan import VERSION
from scan.http.request_state import services
from scan.http.requests import Response, json_value

blueprint = Blueprint("root", __name__)


@blueprint.get("/")
def root() -> Response:
    base_path = services().settings.base_path
    return json_value(
        {
            "name": "Scan",
            "version": VERSION,
            "documentation": f"{base_path}/docs/",
            "openapi": f"{base_path}/api/v1/openapi.json",
            "status": f"{base_path}/readyz",
        }
    )
