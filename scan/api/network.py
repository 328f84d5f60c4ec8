"""GET /api/v1/stats."""

from flask import Blueprint, Response

from scan.api import chain_body, services

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    return chain_body(services().reads.prepared_value("network_stats"))
