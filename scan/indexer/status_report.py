"""Why the head does not advance: in the database for /readyz, and in the log when it is new."""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.errors import ScanError
from scan.ethereum.client import Node
from scan.ethereum.retries import Retries
from scan.observability import metrics

log = logging.getLogger(__name__)

LOG_AGAIN_AFTER_S = 60.0
RECORD_AGAIN_AFTER_S = 30.0  # /readyz reports an indexer as missing after two minutes
MAX_KINDS = 1000


class StatusReporter:
    """Records the indexer's status. The same kind of problem is logged once a minute at most."""

    def __init__(self, database: Database, node: Node) -> None:
        self._database = database
        self._node = node
        self._logged_at: dict[str, float] = {}
        self._has_logged_problem = False  # True until the end of the problem is logged
        self._retries = Retries()

    def record_following(self, node_head: int) -> None:
        self.note_following(node_head)
        self._record(node_head, None)

    def note_following(self, node_head: int) -> None:
        """Note that there is no problem, as is recorded already."""
        if self._has_logged_problem:
            log.info("following again; the node is at block %d", node_head)
        self._has_logged_problem = False
        self._retries.succeeded()

    def store_following(self, tx: Transaction, node_head: int) -> None:
        """Record that there is no problem, with the blocks that a transaction writes: a commit of
        its own would take another flush of PostgreSQL's log."""
        metrics.INDEXER_STALLED.set(False)
        tx.defer("indexer/chain_record_status", **self._columns(node_head, None))

    @contextmanager
    def recording(self, node_head: int) -> Iterator[None]:
        """Record every RECORD_AGAIN_AFTER_S that the indexer runs, during a transaction that may
        take minutes."""
        ended = threading.Event()

        def record() -> None:
            while not ended.wait(RECORD_AGAIN_AFTER_S):
                self._record(node_head, None)
            self._database.close()  # this thread's connection

        thread = threading.Thread(target=record, name="status", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()  # so that it does not overwrite the next status

    def record_problem(
        self, node_head: int | None, error: Exception, reason: str | None = None
    ) -> float:
        """Record a problem, and log it if it is new. Return the seconds to wait before the next
        try. `reason` is the error's own text by default."""
        reason = str(error) if reason is None else reason
        if self.is_new(reason):
            log.warning("the head does not advance: %s", reason)
            self._has_logged_problem = True
        self._record(node_head, reason)
        return self._retries.pause_s(error)

    def is_new(self, reason: str) -> bool:
        """Return whether this kind of problem was not logged within LOG_AGAIN_AFTER_S. Problems
        that differ in numbers or hashes alone are of one kind."""
        kind = re.sub(r"0x[0-9a-f]+|(?<!HTTP )\b[0-9]+", "#", reason)
        now = time.monotonic()
        is_new = now - self._logged_at.get(kind, -LOG_AGAIN_AFTER_S) >= LOG_AGAIN_AFTER_S
        if is_new:
            if len(self._logged_at) > MAX_KINDS:
                self._logged_at.clear()
            self._logged_at[kind] = now
        return is_new

    def _record(self, node_head: int | None, problem: str | None) -> None:
        metrics.INDEXER_STALLED.set(problem is not None)
        try:
            columns = self._columns(node_head, problem)
            self._database.prepared_rows("indexer/chain_record_status", **columns)
        except ScanError as error:
            log.debug("the status cannot be recorded: %s", error)

    def _columns(self, node_head: int | None, problem: str | None) -> dict[str, object]:
        by_hash = self._node.takes_block_hashes
        return {"node_head": node_head, "problem": problem, "by_hash": by_hash}
