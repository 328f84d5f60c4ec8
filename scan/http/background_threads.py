"""What runs beside serving: a thread that `threads()` of an extension's Worker returns, the state
of the index against its node, for /readyz and /status, the check that the node serves the chain of
the index, comparisons of creations, and compilations of restored sources."""

import logging
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import orjson

from scan import registry
from scan.database import connection, errors
from scan.database.outages import log_pause
from scan.errors import ScanError, Unavailable
from scan.ethereum import node_errors, request_node
from scan.hex import BadHex, quantity
from scan.http import hooks
from scan.http.services import Services
from scan.queries import network
from scan.queries.reader import Reader
from scan.verification.creations import EqualCreations
from scan.verification.restored_sources import RestoredSources

log = logging.getLogger(__name__)

STOP_S = 2.0  # for the end of a step


class WorkerThread:
    """A thread that takes steps until stop(). `step` returns whether the next follows at once,
    rather than after `pause_s`, as it does after an error. `failure` begins the log's line."""

    def __init__(
        self,
        name: str,
        step: Callable[[], bool],
        pause_s: float,
        database: connection.Database,
        failure: str,
    ) -> None:
        self.name = name
        self._step = step
        self._pause_s = pause_s
        self._database = database
        self._failure = failure
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._step():
                    continue
            except Exception as error:
                log_pause(log, self._failure, error)
            self._stop.wait(self._pause_s)
        self._database.close()


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
        # The replica's head and lag are as old as its rows. Without the primary, reading goes on.
        try:
            row = core.writes.row("queries/chain_get_head")
        except Unavailable:
            reason = "the primary cannot be reached, so the lag is that reported by the replica"
            status["problem"], row = reason, None
        if row is not None:
            newest, head = row
            _set_head(core, status, head)
            indexed = status["indexedBlock"]
            status["replicaLagBlocks"] = max(newest - (-1 if indexed is None else indexed), 0)
    checked = status["checkedAt"] and datetime.fromisoformat(status["checkedAt"])
    if not checked or (datetime.now(UTC) - checked).total_seconds() > REPORT_S:
        if status["problem"] is None:  # the indexer may report nothing because it cannot write
            try:
                core.writes.rows("http/index_probe_write")
            except errors.CannotWrite as error:
                status["problem"] = error.message
        if core.settings.rpc_urls:
            _compare_with_node(core, status)
    status["problem"] = core.sources.gateway.wrong_chain or status["problem"]
    return status


def _compare_with_node(core: Services, status: dict[str, Any]) -> None:
    """Set the head to the node's where the indexer has not reported one lately: it may hang."""
    session = core.sources.gateway.session(HEALTH)
    try:
        head = quantity(session.within(NODE_WAIT_S).call("eth_blockNumber"))
    except request_node.NodeTimedOut:
        # A slow one has answered the indexer within the last minute.
        problem = "the node does not respond" if status["headBlock"] is None else SLOW
    except (ScanError, node_errors.RpcError, BadHex) as error:
        is_away = isinstance(error, ScanError)
        problem = "the node cannot be reached" if is_away else "the node does not report its head"
        _set_head(core, status, None)
    else:
        _set_head(core, status, head)
        return
    status["problem"] = status["problem"] or problem


def _set_head(core: Services, status: dict[str, Any], head: int | None) -> None:
    """Set the node's newest block, and the lag behind it; None where that is not known."""
    before_first = (status["firstBlock"] or core.settings.start_block or 0) - 1
    indexed = before_first if status["indexedBlock"] is None else status["indexedBlock"]
    status["headBlock"] = head
    status["lagBlocks"] = None if head is None else max(head - indexed, 0)


POLL_S = 1.0


def equal_creations_threads(core: Services) -> Iterable[WorkerThread]:
    comparing = EqualCreations(core.writes, core.verifier.creations)
    failure = "creations are not compared"
    return (WorkerThread("creations", comparing.step, POLL_S, core.writes, failure),)


RESTORED_EVERY_S = 5.0


def restored_sources_threads(core: Services) -> Iterable[WorkerThread]:
    queues = [part.queue(core) for part in registry.parts(hooks.UnverifiedSources)]
    compiling = RestoredSources(core.writes, core.verifier, queues=queues)
    failure = "restored sources are not compiled"
    return (
        WorkerThread("restored-sources", compiling.step, RESTORED_EVERY_S, core.writes, failure),
    )
