"""What an operator sees of indexing: the progress of a long catch-up, as a bar on a terminal or a
log line every few seconds; and why the head does not advance, in the database for /readyz, and in
the log when it is new.
"""

import logging
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Never

from tqdm import tqdm

from scan.database import connection, transaction
from scan.database.errors import Away
from scan.database.outages import is_due
from scan.errors import ScanError
from scan.ethereum.client import Call, Node, NodeError, RpcError, TimedOut
from scan.ethereum.node_errors import NODE_FAILURES, Retries, without_addresses
from scan.hex import BadHex
from scan.indexer.node_reader import block_number, result_of
from scan.observability import metrics

log = logging.getLogger(__name__)

LOG_EVERY_S = 5.0
LONG_CATCH_UP_BLOCKS = 50
FROM_NODE = (*NODE_FAILURES, BadHex)
STAGES = ("node", "decode", "inspect", "write")


class StageSeconds:
    """The seconds of a catch-up by stage, which overlap, for several threads.

    `node` is waiting for answers and `decode` decoding them, both summed over the requests in
    flight; `inspect` is reading contracts and tokens from the node; `write` is PostgreSQL.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: Counter[str] = Counter()

    def add(self, stage: str, seconds: float) -> None:
        metrics.count_stage(stage, seconds)
        with self._lock:
            self._sums[stage] += seconds  # type: ignore[assignment]

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - began)

    def __str__(self) -> str:
        return ", ".join(f"{stage} {self._sums[stage]:.1f} s" for stage in STAGES)


class CatchUpProgress:
    """The progress of a catch-up from `first` to `last`: rate, share, time left, time by stage."""

    def __init__(self, first: int, last: int) -> None:
        self.first = first
        self.last = last
        self._began = self._logged_at = time.monotonic()
        self._transactions = 0
        self.seconds = StageSeconds()
        self._is_long = last - first >= LONG_CATCH_UP_BLOCKS
        self._bar: tqdm[Never] | None = None
        if self._is_long and sys.stderr.isatty():
            self._bar = tqdm(total=last - first + 1, desc="indexing", unit=" blocks", leave=False)

    def advance(self, number: int, transactions: int) -> None:
        self._transactions += transactions
        if self._bar is not None:
            self._bar.update(number - self.first + 1 - self._bar.n)
        now = time.monotonic()
        is_end = number == self.last
        if not self._is_long or (now - self._logged_at < LOG_EVERY_S and not is_end):
            return
        self._logged_at = now
        if self._bar is not None and not is_end:
            return
        written = number - self.first + 1
        elapsed_s = max(now - self._began, 1e-6)
        left_s = (self.last - number) * elapsed_s / written
        log.info(
            "block %d of %d (%.0f %%), %.0f blocks/s, %.0f transactions/s, %s left; %s",
            number,
            self.last,
            100 * written / (self.last - self.first + 1),
            written / elapsed_s,
            self._transactions / elapsed_s,
            f"{left_s / 60:.0f} min" if left_s > 120 else f"{left_s:.0f} s",
            self.seconds,
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


RECORD_AGAIN_AFTER_S = 4.0  # /readyz asks the node itself after ten seconds
ANSWER_S = 4.0  # so that the log has a line within ten seconds after a node has frozen
SLOW_S = 1.0  # for the number of the newest block
SILENT_S = 15.0  # a node that has answered within it is slow


class StatusReporter:
    """Records the indexer's status. The same kind of problem is logged once a minute at most."""

    def __init__(self, database: connection.Database, node: Node) -> None:
        self._database = database
        self._node = node
        self._has_logged_problem = False  # True until the end of the problem is logged
        self._retries = Retries()
        self._problem: str | None = None
        self._slowness: str | None = None  # why the node is slow
        self._reported_at = 0.0
        self._head: int | None = None  # as the node reported it at _answered_at
        self._answered_at = 0.0
        self.is_writing = False  # whether this indexer is the one that writes to the database

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Report in a thread, every RECORD_AGAIN_AFTER_S, while a step takes longer: a transaction
        may take minutes, and a node that is frozen is waited for."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(RECORD_AGAIN_AFTER_S / 4):
                if self.is_writing:
                    self._report_during_step(self._reported_at)
            self._database.close()  # this thread's connection

        thread = threading.Thread(target=watch, name="status", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _report_during_step(self, reported_at: float) -> None:
        if time.monotonic() - reported_at < RECORD_AGAIN_AFTER_S:
            return
        head, problem = None, self._problem
        try:
            [answer] = self._node.once([Call("eth_blockNumber", ())], ANSWER_S)
            head = self._head = block_number(result_of(answer))
            self._answered_at = time.monotonic()
        except (NodeError, RpcError, BadHex, ScanError) as error:  # the database has the chain's id
            problem = without_addresses(str(error))
            if isinstance(error, TimedOut) and time.monotonic() < self._answered_at + SILENT_S:
                head, problem = self._head, f"the node is slow: no response within {ANSWER_S:.0f} s"
            self._log(problem, error)
        if self._reported_at == reported_at:  # else the step's own report is newer
            self._record(head, problem)

    def note_head(self, node_head: int, seconds: float) -> None:
        """Note how long the node took to report its newest block, and record it if that was long,
        as the step will be."""
        self._head, self._answered_at = node_head, time.monotonic()
        if seconds < SLOW_S:
            self._slowness = None
            return
        self._slowness = f"the node is slow: its newest block took {seconds:.0f} s"
        if self.is_new(self._slowness):
            log.warning("%s (%s)", self._slowness, self._node.origins)
        self._record(node_head, None)

    def record_following(self, node_head: int) -> None:
        self.note_following(node_head)
        self._record(node_head, None)

    def note_following(self, node_head: int) -> None:
        """Note that there is no problem, as is recorded already."""
        if self._has_logged_problem:
            log.info("following again; the node is at block %d", node_head)
        self._has_logged_problem = False
        if self._problem is not None:
            self._problem = None
            self._retries = Retries()

    def store_following(self, tx: transaction.Transaction, node_head: int) -> None:
        """Record that there is no problem, with the blocks that a transaction writes: a commit of
        its own would take another flush of PostgreSQL's log."""
        metrics.INDEXER_STALLED.set(False)
        tx.defer("indexer/chain_record_status", **self._columns(node_head, None))

    def record_problem(
        self, node_head: int | None, error: Exception, reason: str | None = None
    ) -> float:
        """Record a problem, with the node's head where it was read in spite of it, and log it if it
        is new. Return the seconds to wait before the next try. `reason` is the error's own text by
        default."""
        text = str(error) if reason is None else reason
        self._problem = without_addresses(text) if isinstance(error, FROM_NODE) else text
        self._log(self._problem, error)
        self._record(node_head, self._problem)
        return self._retries.pause_s(error)

    def is_new(self, reason: str) -> bool:
        """Return whether this kind of problem is due to be logged. Problems that differ in numbers
        or hashes alone are of one kind."""
        return is_due(self, re.sub(r"0x[0-9a-f]+|(?<!HTTP )\b[0-9]+", "#", reason))

    def _log(self, reason: str, error: Exception) -> None:
        if isinstance(error, Away):
            self._has_logged_problem = True
        elif self.is_new(reason):
            where = f" ({self._node.origins})" if isinstance(error, FROM_NODE) else ""
            log.warning("the head does not advance: %s%s", reason, where)
            self._has_logged_problem = True

    def _record(self, node_head: int | None, problem: str | None) -> None:
        self._reported_at = time.monotonic()
        metrics.INDEXER_STALLED.set(problem is not None)
        try:
            columns = self._columns(node_head, problem)
            self._database.rows("indexer/chain_record_status", **columns)
        except ScanError as error:
            log.debug("the status cannot be recorded: %s", error)

    def _columns(self, node_head: int | None, problem: str | None) -> dict[str, object]:
        by_hash = self._node.takes_block_hashes
        return {"node_head": node_head, "problem": problem or self._slowness, "by_hash": by_hash}
