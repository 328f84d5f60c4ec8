"""GET /healthz and /readyz: for load balancers and people, outside /api/v1."""

from flask import Blueprint, Response

from scan.api import json_body, json_value, services
from scan.errors import ScanError

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def alive() -> Response:
    return json_value({"status": "alive"})


@blueprint.get("/readyz")
def ready() -> Response:
    """200 when the database answers with the current schema; how far behind the node it is."""
    try:
        body = services().reads.value("chain_status")
    except ScanError as error:
        told = {"status": "unavailable", "problem": error.message, **error.body()}
        response = json_value(told, 503)
        response.headers.update(error.headers)
        return response
    return json_body(body)
