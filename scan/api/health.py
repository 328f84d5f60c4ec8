"""GET /healthz and /readyz: for load balancers and people, outside /api/v1."""

from datetime import UTC, datetime
from typing import Any

import orjson
from flask import Blueprint

from scan.database import migrations
from scan.database.errors import CannotWrite
from scan.errors import ScanError, Unavailable
from scan.hex import BadHex, quantity
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.http.services import services
from scan.queries import network

HEALTH = "/readyz"  # the client that its requests to the node are counted for
NODE_WAIT_S = 0.5
REPORT_S = 5.0

blueprint = Blueprint("health", __name__)


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
        services().limiter.peek_address("")
        # A newer schema is current, too: while instances are replaced, the old ones serve.
        newest = services().reads.value("database/migrations_get_newest")
        if newest < migrations.expected_schema().newest:
            raise Unavailable("The database schema is outdated; run `scan migrate`.")
        chain_name = services().settings.chain_name or None
        status = orjson.loads(network.status(reader(), chain_name))
        if services().reads is not services().writes:
            _compare_with_primary(status)
        if _is_old(status["checkedAt"]):
            _explain_silence(status)
            _compare_with_node(status)
        status["problem"] = services().sources.gateway.wrong_chain or status["problem"]
    except ScanError as error:
        problem = {"status": "unavailable", "problem": error.message, **error.body()}
        response = json_value({**status, **problem}, 503)
        response.headers.update(error.headers)
        return response
    return json_value(status)


def _explain_silence(status: dict[str, Any]) -> None:
    """Say that the database takes no writes where that is why the indexer reports nothing."""
    try:
        if status["problem"] is None:
            services().writes.rows("http/index_probe_write")
    except CannotWrite as error:
        status["problem"] = error.message


def _compare_with_node(status: dict[str, Any]) -> None:
    """Set the head to the node's where the indexer has not reported one lately: it may hang."""
    if status["indexedBlock"] is None:
        return
    session = services().sources.gateway.session(HEALTH)
    try:
        head = quantity(session.within(NODE_WAIT_S).call("eth_blockNumber"))
    except (ScanError, BadHex):
        status["problem"] = status["problem"] or "the node cannot be reached"
        return
    status["headBlock"] = max(head, status["headBlock"])
    status["lagBlocks"] = max(head - status["indexedBlock"], status["lagBlocks"] or 0)


def _is_old(checked_at: str | None) -> bool:
    if checked_at is None:
        return True
    return (datetime.now(UTC) - datetime.fromisoformat(checked_at)).total_seconds() > REPORT_S


def _compare_with_primary(status: dict[str, Any]) -> None:
    """Set the head and the lag to the primary's, since the replica's are as old as its rows.

    Raises Unavailable where the replica is too far behind, but not where the primary cannot be
    reached, since reading goes on without it.
    """
    try:
        row = services().writes.row("queries/chain_get_head")
    except Unavailable:
        status["problem"] = (
            "the primary cannot be reached, so the lag is that reported by the replica"
        )
        return
    if row is None:
        return
    newest, head = row
    indexed = -1 if status["indexedBlock"] is None else status["indexedBlock"]
    status["headBlock"] = max(head, indexed)
    status["lagBlocks"] = max(head - indexed, 0)
    behind = max(newest - indexed, 0)
    status["replicaLagBlocks"] = behind
    if behind > services().settings.max_lag_blocks:
        raise Unavailable(f"The replica is {behind} blocks behind the primary.")
