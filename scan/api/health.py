"""GET /healthz and /readyz: for load balancers and people, outside /api/v1."""

from flask import Blueprint, Response

from scan import VERSION
from scan.database import migrations
from scan.errors import ScanError, Unavailable
from scan.http.chain_reads import read_chain
from scan.http.responses import json_body, json_value
from scan.http.services import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def alive() -> Response:
    return json_value({"status": "alive"})


@blueprint.get("/readyz")
def ready() -> Response:
    """200 when the database answers with the current schema; how far behind the node it is."""
    try:
        _require_current_schema()
        (body,) = read_chain("api/chain_get_status", version=VERSION)
    except ScanError as error:
        told = {"status": "unavailable", "problem": error.message, **error.body()}
        response = json_value(told, 503)
        response.headers.update(error.headers)
        return response
    return json_body(body)


def _require_current_schema() -> None:
    """A newer one is current, too: while instances are replaced one by one, the old ones serve."""
    newest = services().reads.value("database/migrations_get_newest")
    if newest < migrations.expected_schema().newest:
        raise Unavailable("The database's schema is not the current one; run `scan migrate`.")
