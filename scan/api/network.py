"""GET /api/v1/stats."""

from flask import Blueprint, Response

from scan.http.responses import chain_body
from scan.http.services import services

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    return chain_body(services().reads.prepared_value("api/network_get_stats"))
