"""The state of the index against its node, for /readyz and /status, and the check beside serving
that the node serves the chain of the index."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

from scan.database.errors import CannotWrite
from scan.errors import ScanError, Unavailable
from scan.ethereum.node_errors import RpcError
from scan.ethereum.request_node import NodeTimedOut
from scan.hex import BadHex, quantity
from scan.http.services import Services
from scan.http.worker_thread import WorkerThread
from scan.queries import network
from scan.queries.reader import Reader

EVERY_S = 30.0
HEALTH = "/readyz"  # the client that its requests to the node are counted for
NODE_WAIT_S = 0.5
REPORT_S = 10.0  # the indexer reports every four seconds, later while it waits for the node

SLOW = f"the node is slow: it did not respond within {NODE_WAIT_S} s"


def threads(core: Services) -> Iterable[WorkerThread]:
    def check() -> bool:
        core.sources.gateway.check_chains()
        return False

    return (WorkerThread("node-check", check, EVERY_S, core.writes, "the node is not checked"),)


def read_status(core: Services, reader: Reader) -> dict[str, Any]:
    """Return the state of the index as /readyz shows it. `headBlock` and `lagBlocks` are None where
    the node's newest block is not known now."""
    status: dict[str, Any] = orjson.loads(network.status(reader, core.settings.chain_name or None))
    if core.reads is not core.writes:
        _compare_with_primary(core, status)
    if _is_old(status["checkedAt"]):
        _explain_silence(core, status)
        if core.settings.rpc_urls:
            _compare_with_node(core, status)
    status["problem"] = core.sources.gateway.wrong_chain or status["problem"]
    return status


def _is_old(checked_at: str | None) -> bool:
    if checked_at is None:
        return True
    return (datetime.now(UTC) - datetime.fromisoformat(checked_at)).total_seconds() > REPORT_S


def _explain_silence(core: Services, status: dict[str, Any]) -> None:
    """Say that the database takes no writes where that is why the indexer reports nothing."""
    try:
        if status["problem"] is None:
            core.writes.rows("http/index_probe_write")
    except CannotWrite as error:
        status["problem"] = error.message


def _compare_with_node(core: Services, status: dict[str, Any]) -> None:
    """Set the head to the node's where the indexer has not reported one lately: it may hang."""
    session = core.sources.gateway.session(HEALTH)
    try:
        head = quantity(session.within(NODE_WAIT_S).call("eth_blockNumber"))
    except NodeTimedOut:
        # A slow one has answered the indexer within the last minute.
        problem = "the node does not respond" if status["headBlock"] is None else SLOW
    except (ScanError, RpcError, BadHex) as error:
        is_away = isinstance(error, ScanError)
        problem = "the node cannot be reached" if is_away else "the node does not report its head"
        _set_head(core, status, None)
    else:
        _set_head(core, status, max(head, status["headBlock"] or 0))
        return
    status["problem"] = status["problem"] or problem


def _compare_with_primary(core: Services, status: dict[str, Any]) -> None:
    """Set the head and the lag to the primary's, since the replica's are as old as its rows, unless
    the primary cannot be reached: reading goes on without it."""
    try:
        row = core.writes.row("queries/chain_get_head")
    except Unavailable:
        status["problem"] = (
            "the primary cannot be reached, so the lag is that reported by the replica"
        )
        return
    if row is None:
        return
    newest, head = row
    _set_head(core, status, head)
    indexed = status["indexedBlock"]
    status["replicaLagBlocks"] = max(newest - (-1 if indexed is None else indexed), 0)


def _set_head(core: Services, status: dict[str, Any], head: int | None) -> None:
    """Set the node's newest block, and the lag behind it; None where that is not known."""
    before_first = (status["firstBlock"] or core.settings.start_block or 0) - 1
    indexed = before_first if status["indexedBlock"] is None else status["indexedBlock"]
    status["headBlock"] = None if head is None else max(head, indexed)
    status["lagBlocks"] = None if head is None else max(head - indexed, 0)
