"""GET /api/v1/stats."""

from flask import Blueprint, Response

from scan import VERSION
from scan.http.chain_reads import read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body
from scan.http.services import services

blueprint = Blueprint("network", __name__)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    chain_name = services().settings.chain_name or None
    (body,) = read_chain("api/network_get_stats", version=VERSION, chain_name=chain_name)
    return json_body(body)
