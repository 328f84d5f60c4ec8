"""Paths outside /api/v1: GET /healthz and /readyz, for load balancers and people, and GET / where
no pages are served, and /api/v1, which name the paths of documentation and status.
"""

from typing import Any

from flask import Blueprint

from scan import VERSION
from scan.database import migrations
from scan.errors import ScanError, Unavailable
from scan.http import background_threads, interfaces, services
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.rate_limits.window_storage import probe_window

blueprint = Blueprint("health", __name__)
root_blueprint = Blueprint("root", __name__)


@blueprint.get("/healthz")
def alive() -> Response:
    return json_value({"status": "alive"})


@blueprint.get("/readyz")
def ready() -> Response:
    """Return the lag behind the node, with status 200 where the service can serve, else 503.

    Limits have to be counted, the database has to answer with the current schema, and a replica
    must not be more than SCAN_MAX_LAG_BLOCKS behind its primary.
    """
    status: dict[str, Any] = {}
    try:
        services.services().limiter.store.charge(probe_window())
        # A newer schema is current, too: while instances are replaced, the old ones serve.
        newest = services.services().reads.value("database/migrations_get_newest")
        if newest < migrations.expected_schema().newest:
            raise Unavailable("The database schema is outdated; run `scan migrate`.")
        status = background_threads.read_status(services.services(), reader())
        behind = status.get("replicaLagBlocks", 0)
        if behind > services.services().settings.max_lag_blocks:
            raise Unavailable(f"The replica is {behind} blocks behind the primary.")
    except ScanError as error:
        problem = {"status": "unavailable", "problem": error.message, **error.body()}
        response = json_value({**status, **problem}, 503)
        response.headers.update(error.headers)
        return response
    return json_value(status)


@blueprint.get(interfaces.API)
def get_api() -> Response:
    query_arguments()
    return root()


@root_blueprint.get("/")
def root() -> Response:
    base_path = services.services().settings.base_path
    return json_value(
        {
            "name": "Scan",
            "version": VERSION,
            "documentation": f"{base_path}/docs/",
            "openapi": f"{base_path}/api/v1/openapi.json",
            "status": f"{base_path}/readyz",
        }
    )
