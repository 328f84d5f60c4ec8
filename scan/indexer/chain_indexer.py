"""One step of indexing: begin a session, unwind a reorganisation, catch up, or refresh."""

import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from scan import registry
from scan.database.connection import Database
from scan.ethereum.client import Node, NodeError
from scan.ethereum.fork_schedule import missed_fork, unknown_fork
from scan.indexer import chain_identity, log_selection, pruned_history
from scan.indexer.batch_reader import MissingBlocks
from scan.indexer.block_source import BlockSource
from scan.indexer.catch_up import CatchUp
from scan.indexer.chain_identity import StoredChain
from scan.indexer.contract_inspection import ContractInspector, load_factories
from scan.indexer.derivation import fill_missing
from scan.indexer.fork_finder import ForkBackoff, ForkFinder
from scan.indexer.hooks import Maintenance
from scan.indexer.log_selection import LogSelection
from scan.indexer.prefetch import BlockPrefetcher
from scan.indexer.stale_state import StaleStateRefresher
from scan.indexer.status_report import StatusReporter
from scan.indexer.writer import HeadChanged, IndexedHead, Writer
from scan.settings import Settings

log = logging.getLogger(__name__)


class UnfinishedBackfill(Exception):
    """A bulk backfill of this database was begun and has to be finished before indexing."""


class FarBehind(Exception):
    """The index is empty, and so far behind the node that it has to be filled in bulk."""


@dataclass
class Session:
    """The known state of chain and contracts up to a head, valid only for that head."""

    chain: StoredChain
    forks: ForkFinder
    inspector: ContractInspector
    logs: LogSelection
    head: IndexedHead | None  # as written last


class ChainIndexer:
    """Brings one database closer to the head of one node, a step at a time."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: Node,
        status: StatusReporter,
        stop: threading.Event,
    ) -> None:
        self.node_head: int | None = None
        self._settings = settings
        self._database = database
        self._node = node
        self._status = status
        self._source = BlockSource(node, traces=settings.traces)
        self._prefetcher = BlockPrefetcher(settings, self._source, stop)
        self._writer = Writer(database, settings.partition_rows, settings.keep)
        self._fork_backoff = ForkBackoff()
        self._tasks = [part.task(database, settings) for part in registry.parts(Maintenance)]
        self._catch_up = CatchUp(
            self._writer, self._prefetcher, status, self._fork_backoff, stop, self._maintain
        )
        self._refresher = StaleStateRefresher(node, database, self._writer)
        self._session: Session | None = None
        # The missing blocks from which on an empty index raises FarBehind. None: an empty index is
        # filled block after block.
        self.bulk_backfill_blocks: int | None = None

    def end_session(self) -> None:
        """Forget the session, as after any fault: its findings may never have been written."""
        self._session = None

    def close(self) -> None:
        self._prefetcher.close()

    def step(self) -> bool:
        """Take one step; return whether there was nothing to do. After HeadChanged, as after any
        error, the session has to end: it may know contracts that the database does not have."""
        self.node_head = None
        session = self._session or self._begin()
        head = session.head
        began = time.monotonic()
        node = self._source.head(head and head.number)
        self.node_head = node_head = node.number
        self._status.note_head(node_head, time.monotonic() - began)
        if node.chain_id != session.chain.identity.chain_id:
            session = self._begin()  # raises WrongChain, as the node was replaced at its URL
        if head and not session.forks.has_head(head, node):
            self._unwind(head, node_head)
            return False
        self._fork_backoff.record_agreement()
        first = head.number + 1 if head else session.chain.start_block
        if head is None and self.bulk_backfill_blocks is not None:
            self._require_near(first, node_head, self.bulk_backfill_blocks)
        if first <= node_head:
            genesis_hash = session.chain.identity.genesis_hash
            selection = log_selection.with_watched(session.logs, self._database)
            session.head = self._catch_up.run(
                session.inspector,
                MissingBlocks(first, node_head, head, genesis_hash, selection),
                lambda selection: log_selection.lacks_watched(selection, self._database),
            )
            return False
        # What writes compares the heads itself.
        if self._writer.head() != head:
            raise HeadChanged
        is_idle = True
        if head:
            self._maintain(head.number)
        if head and head.number == node_head:
            is_idle = not self._refresher.refresh(head)
        self._status.record_following(node_head)
        return is_idle

    def _maintain(self, head: int) -> None:
        """Do what extensions have to do between commits; `head` is the newest block."""
        for task in self._tasks:
            task.advance(head)

    def _require_near(self, first: int, node_head: int, most: int) -> None:
        """Raise FarBehind where an empty index is to be filled in bulk: it lacks many blocks, or
        blocks that the node has pruned and an extension has. Raises HistoryPruned."""
        missing = node_head + 1 - first
        is_far = missing >= most
        if not pruned_history.are_elsewhere(self._settings):
            if not is_far:
                return
            self._source.require_kept(first)
        elif not is_far and (missing <= 0 or self._source.is_kept(first)):
            return
        raise FarBehind(f"{missing} blocks are to be indexed in bulk")

    def _begin(self) -> Session:
        """Begin and return a session. Raises NotTheWriter, WrongChain, WrongLogs, NodeError,
        UnfinishedBackfill, RowsRemoved."""
        self._session = None
        if self.bulk_backfill_blocks is None:
            self._require_no_backfill()  # before the lock, which the backfill needs to continue
        self._writer.acquire_lock()
        self._status.is_writing = True
        self._require_no_backfill()
        chain = chain_identity.store_or_check(
            self._node, self._database, self._settings.start_block, self._settings.logs
        )
        self._source.expect(chain.identity.chain_id)
        fill_missing(self._database)
        self._warn_of_fork()
        proven = self._database.value("indexer/blocks_find_proven")
        if proven is not None:
            self._source.checker.record_proven(proven)
        self._session = Session(
            chain,
            ForkFinder(self._source, self._database, chain.start_block, self._settings.finality),
            ContractInspector(self._node, self._database, load_factories(chain.identity.chain_id)),
            log_selection.read_stored(self._database),
            self._writer.head(),
        )
        return self._session

    def _warn_of_fork(self) -> None:
        with suppress(NodeError):  # what is asked next says so
            fork = unknown_fork(self._node)
            if fork and self._status.is_new(fork):
                log.warning("%s: update Scan before", fork)
            missed = missed_fork(self._node)
            if missed and self._status.is_new(missed):
                log.warning("%s: update the node", missed)

    def _require_no_backfill(self) -> None:
        if self._database.value("indexer/bulk_backfill_is_unfinished"):
            raise UnfinishedBackfill(
                "a bulk backfill is not finished: `scan backfill chain` continues it"
            )

    def _unwind(self, head: IndexedHead, node_head: int) -> None:
        """Remove the blocks after the fork, but only once the blocks that replace them are read."""
        session = self._begin()
        if session.head != head:
            raise HeadChanged
        self._fork_backoff.require_elapsed()
        fork = session.forks.find(head, node_head)
        log.info("reorganisation: unwinding %d blocks after %d", head.number - fork, fork)
        self._writer.unwind(fork)
        self._fork_backoff.record_unwound(head.hash)
        session.head = self._writer.head()
