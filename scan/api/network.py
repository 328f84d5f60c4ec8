"""GET /api/v1/stats."""

from flask import Blueprint, Response

from scan.api import json_body, services

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    return json_body(services().chain.value("network_stats"))
