"""GET /api/v1/stats."""

from flask import Blueprint, Response

from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body
from scan.http.services import services
from scan.queries import network

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    return json_body(network.stats(reader(), services().settings.chain_name or None))
