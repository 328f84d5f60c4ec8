"""The loop that keeps the index at the node's head. After a fault it waits and tries again."""

import logging
import random
import threading
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.node_errors import RETRIED
from scan.indexer.chain_identity import WrongLogs
from scan.indexer.chain_indexer import ChainIndexer, FarBehind, UnfinishedBackfill
from scan.indexer.derivation import RowsRemoved
from scan.indexer.fork_finder import ForkTooDeep
from scan.indexer.progress import StatusReporter
from scan.indexer.writer import HeadChanged, NotTheWriter
from scan.settings import Settings

log = logging.getLogger(__name__)

HEAD_POLL_S = 0.4
TAKE_OVER_S = 1.0


class BackfillEnd(NamedTuple):
    """The end of a bulk backfill: done, or with a problem. `is_refused`: it cannot even begin."""

    problem: str = ""
    is_refused: bool = False


class Follower:
    """Brings one database to the head of one node, and keeps it there until `stop` is set."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: Node,
        stop: threading.Event,
        backfill: Callable[[], BackfillEnd] | None = None,
    ) -> None:
        """`backfill` fills an empty index that is far behind, or finishes a backfill that was
        begun. Without it the index is filled block after block."""
        self._stop = stop
        self._database = database
        self._backfill = backfill
        self._status = StatusReporter(database, node)
        self._indexer = ChainIndexer(settings, database, node, self._status, stop)
        if backfill is not None:
            self._indexer.bulk_backfill_blocks = settings.bulk_backfill_blocks

    def run(self) -> None:
        """Follow the node until stopped. After a fault of node or database, wait and try again; a
        fault that repeats is logged once."""
        with closing(self._indexer), self._status.watching():
            while not self._stop.is_set():
                self._stop.wait(self._step())

    def _step(self) -> float:
        """Take one step; return the seconds to wait before the next one."""
        try:
            return HEAD_POLL_S if self._indexer.step() else 0.0
        except HeadChanged:
            log.info("the database's head is not the one written last; beginning anew")
            self._indexer.end_session()
            return 0.0
        except NotTheWriter:
            self._indexer.end_session()
            self._status.is_writing = False
            if self._status.is_new("another indexer"):
                log.info("another indexer writes to this database; waiting to take over")
            return TAKE_OVER_S * random.uniform(0.7, 1.3)
        except (*RETRIED, WrongLogs, RowsRemoved, ForkTooDeep) as error:
            return self._recover(error)
        except (FarBehind, UnfinishedBackfill) as error:
            return self._fill(error)
        except Exception as error:
            if self._status.is_new(repr(error)):
                log.exception("unexpected")
            return self._recover(error, f"unexpected {type(error).__name__}: {error}"[:500])

    def _fill(self, reason: FarBehind | UnfinishedBackfill) -> float:
        """Fill the database in bulk; return the seconds to wait for the next step."""
        if self._backfill is None:
            return self._recover(reason)
        self._indexer.end_session()
        self._status.is_writing = False  # the backfill reports
        self._database.close()  # releases the writer's lock, which the backfill takes
        end = self._backfill()
        if not end.problem:
            return 0.0
        if end.is_refused and isinstance(reason, FarBehind):
            log.warning("indexing block after block, not in bulk: %s", end.problem)
            self._indexer.bulk_backfill_blocks = None
            return 0.0
        return self._recover(reason, f"the bulk backfill has stopped: {end.problem}")

    def _recover(self, error: Exception, reason: str | None = None) -> float:
        """Record a problem, and return the seconds to wait."""
        self._indexer.end_session()
        return self._status.record_problem(self._indexer.node_head, error, reason)
