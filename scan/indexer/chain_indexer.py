"""The loop that keeps the index at the node's head, a step at a time: begin a session, unwind a
reorganisation, write the missing blocks, or refresh. After a fault it waits and tries again.

The blocks of one request are written as they are read; of more blocks, batches are read ahead of
the writer, and committed together.
"""

import itertools
import logging
import random
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import NamedTuple

from scan import registry
from scan.database.connection import Database
from scan.ethereum import client, fork_schedule, node_errors
from scan.ethereum.served_chain import BlockId
from scan.indexer import block_rows, block_source, chain_identity, hooks, node_reader, writer
from scan.indexer.contract_inspection import ContractInspector
from scan.indexer.contract_state import StateReader, load_factories
from scan.indexer.derivation import RowsRemoved, fill_missing
from scan.indexer.fork_finder import ForkBackoff, ForkFinder, ForkTooDeep, Looks, require_linked
from scan.indexer.prefetch import (
    CATCH_UP,
    BatchReader,
    BlockPrefetcher,
    CatchUpLimits,
    MissingBlocks,
)
from scan.indexer.progress import CatchUpProgress, StatusReporter
from scan.indexer.stale_state import StaleStateRefresher
from scan.observability import metrics
from scan.settings import Settings

log = logging.getLogger(__name__)

HEAD_POLL_S = 0.4
# A developer sends a transaction and looks at its page at once.
DEVELOPMENT_POLL_S = 0.1
EVENTLESS_EVERY_S = 0.4  # that contracts of a development chain are looked at for tokens
TAKE_OVER_S = 1.0
CHECK_CHAIN_EVERY_S = 60.0  # in sessions; Node compares the chain of each new connection
COMMIT_TRANSACTIONS = 1_000_000
# Before a commit its blocks are in no response, and a stop or a migration may have to wait for it.
COMMIT_S = 20.0


class UnfinishedBackfill(Exception):
    """A bulk backfill of this database was begun and has to be finished before indexing."""


class FarBehind(Exception):
    """The index is empty, and so far behind the node that it has to be filled in bulk."""


class _Stopped(Exception):
    """Indexing stops, and several batches are dropped: updating derived tables takes too long."""


class BackfillEnd(NamedTuple):
    """The end of a bulk backfill: done, or with a problem. `is_refused`: it cannot even begin."""

    problem: str = ""
    is_refused: bool = False


@dataclass
class Session:
    """The known state of chain and contracts up to a head, valid only for that head."""

    chain: chain_identity.StoredChain
    forks: ForkFinder
    inspector: ContractInspector
    logs: block_rows.LogSelection
    head: writer.IndexedHead | None  # as written last


class ChainIndexer:
    """Brings one database to the head of one node, and keeps it there until `stop` is set."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: client.Node,
        stop: threading.Event,
        backfill: Callable[[], BackfillEnd] | None = None,
        limits: CatchUpLimits = CATCH_UP,
    ) -> None:
        """`backfill` fills an empty index that is far behind, or finishes a backfill that was
        begun. Without it the index is filled block after block."""
        self._settings = settings
        self._database = database
        self._node = node
        self._stop = stop
        self._backfill = backfill
        self._limits = limits
        # The missing blocks from which on an empty index is filled in bulk; None: never.
        self._bulk_blocks = settings.bulk_backfill_blocks if backfill else None
        self._status = StatusReporter(database, node)
        self._source = block_source.BlockSource(
            node, traces=settings.traces, stores_bodies=settings.stores_bodies
        )
        self._prefetcher = BlockPrefetcher(settings, self._source, stop, limits)
        self._writer = writer.Writer(database, settings.partition_rows, settings.keep)
        self._state = StateReader(node)  # which knows for longer than a session what fails
        self._refresher = StaleStateRefresher(self._state, database, self._writer)
        self._tasks = [part.task(database, settings) for part in registry.parts(hooks.Maintenance)]
        self._fork_backoff = ForkBackoff()
        self._behind = Looks()  # that have found the node behind the index
        self._session: Session | None = None
        # As it was checked last: a session after a failure of the node asks nothing of it again.
        self._chain: chain_identity.StoredChain | None = None
        self._check_chain_at = 0.0
        self._look_for_eventless_at = 0.0
        self._node_head: int | None = None  # in this step
        self._has_committed = False  # several batches, since the last fault
        self._derive_s = 0.0  # for each batch of the last commit

    def run(self) -> None:
        """Follow the node until stopped. After a fault of node or database, wait and try again; a
        fault that repeats is logged once."""
        with closing(self._prefetcher), self._status.watching():
            while not self._stop.is_set():
                self._stop.wait(self.step())

    def step(self) -> float:
        """Take one step; return the seconds to wait before the next one. After a fault the session
        ends: it may know contracts that the database does not have."""
        metrics.beat()
        self._node_head = None
        try:
            return self._poll_s() if self._advance() else 0.0
        except writer.HeadChanged:
            log.info("the database's head is not the one written last; beginning anew")
            self._session = self._chain = None
            return 0.0
        except writer.NotTheWriter:
            self._session = self._chain = None
            self._status.is_writing = False
            if self._status.is_new("another indexer"):
                log.info("another indexer writes to this database; waiting to take over")
            return TAKE_OVER_S * random.uniform(0.7, 1.3)
        except (*node_errors.RETRIED, chain_identity.WrongLogs, RowsRemoved, ForkTooDeep) as error:
            return self._recover(error)
        except (FarBehind, UnfinishedBackfill) as error:
            return self._fill(error)
        except Exception as error:
            if self._status.is_new(repr(error)):
                log.exception("unexpected")
            return self._recover(error, f"unexpected {type(error).__name__}: {error}"[:500])

    def _poll_s(self) -> float:
        chain = self._chain
        return DEVELOPMENT_POLL_S if chain and chain.identity.is_development else HEAD_POLL_S

    def _recover(self, error: Exception, reason: str | None = None) -> float:
        """Record a problem, and return the seconds to wait."""
        self._session = None
        if isinstance(error, client.WrongChain) or not isinstance(error, node_errors.NODE_FAILURES):
            self._chain = None
        return self._status.record_problem(self._node_head, error, reason)

    def _fill(self, reason: FarBehind | UnfinishedBackfill) -> float:
        """Fill the database in bulk; return the seconds to wait for the next step."""
        if self._backfill is None:
            return self._recover(reason)
        self._session = self._chain = None
        self._status.is_writing = False  # the backfill reports
        self._database.close()  # releases the writer's lock, which the backfill takes
        metrics.beat(inf)  # it may take days
        end = self._backfill()
        if not end.problem:
            return 0.0
        if end.is_refused and isinstance(reason, FarBehind):
            log.warning("indexing block after block, not in bulk: %s", end.problem)
            self._bulk_blocks = None
            return 0.0
        return self._recover(reason, f"the bulk backfill has stopped: {end.problem}")

    def _advance(self) -> bool:
        """Bring the index closer to the node's head; return whether there was nothing to do."""
        session = self._session or self._begin()
        head = session.head
        began = monotonic()
        node = node_reader.read_head(self._node, head and head.number)
        node_head = self._node_head = node.number
        self._status.note_head(node_head, monotonic() - began)
        if node.chain_id != session.chain.identity.chain_id:
            self._chain = None
            session = self._begin()  # raises WrongChain, as the node was replaced at its URL
        if head and not session.forks.has_head(head, node):
            self._unwind(head, node_head)
            return False
        self._fork_backoff.record_agreement()
        if head and node_head < head.number:
            self._node.rest()  # another may have the head
            if self._behind.is_steady():
                blocks = head.number - node_head
                raise client.NodeError(f"the node is {blocks} blocks behind the index")
        else:
            self._behind.end()
        first = head.number + 1 if head else session.chain.start_block
        if head is None and session.chain.identity.is_fork:
            self._chain = None  # the node may fork another block by now
            session = self._begin()
            if session.head != head:
                raise writer.HeadChanged
            first = session.chain.start_block
        if head is None and self._bulk_blocks is not None:
            self._require_near(first, node_head, self._bulk_blocks)
        if first <= node_head:
            selection = block_rows.watched_selection(session.logs, self._database)
            genesis_hash = session.chain.identity.genesis_hash
            missing = MissingBlocks(first, node_head, head, genesis_hash, selection)
            # What one request has, as at the head, is not fetched ahead: a thread that stays has a
            # connection to the node.
            is_short = node_head - first < self._prefetcher.limit.blocks
            write = self._write if is_short else self._write_many
            session.head = write(session.inspector, missing)
            return False
        # What writes compares the heads itself.
        if self._writer.head() != head:
            raise writer.HeadChanged
        is_idle = True
        if head:
            for task in self._tasks:
                task.advance(head.number)
            if head.number == node_head:
                is_looked_at = self._settings.development_node == "auto"
                is_live = is_looked_at and session.chain.identity.is_development
                is_idle = not self._refresher.refresh(head, are_reported=is_live)
                if is_idle and is_live:
                    is_idle = not self._find_eventless(session.inspector, head)
        self._status.record_following(node_head)
        return is_idle

    def _find_eventless(self, inspector: ContractInspector, head: writer.IndexedHead) -> bool:
        """Store tokens of a development chain that have no event; return whether there are any."""
        now = monotonic()
        if now < self._look_for_eventless_at:
            return False
        self._look_for_eventless_at = now + EVENTLESS_EVERY_S
        findings = inspector.eventless_tokens(BlockId(head.number, head.hash))
        if findings.tokens:
            self._writer.store_contracts(head, findings)
        return bool(findings.tokens)

    def _begin(self) -> Session:
        """Begin and return a session. Raises NotTheWriter, WrongChain, WrongLogs, NodeError,
        UnfinishedBackfill, RowsRemoved."""
        self._session = None
        if self._bulk_blocks is None:
            self._require_no_backfill()  # before the lock, which the backfill needs to continue
        self._writer.acquire_lock()
        self._status.is_writing = True
        self._require_no_backfill()
        chain = self._chain
        if chain is None or monotonic() >= self._check_chain_at:
            chain = self._chain = self._check_chain()
            self._check_chain_at = monotonic() + CHECK_CHAIN_EVERY_S
        head = self._writer.head()  # before the selection of logs, which it tells changes of
        self._session = Session(
            chain,
            ForkFinder(
                self._source,
                self._database,
                chain.start_block,
                self._settings.finality,
                is_development=chain.identity.is_development,
            ),
            ContractInspector(self._state, self._database, load_factories(chain.identity.chain_id)),
            block_rows.read_stored(self._database).for_new_blocks(),
            head,
        )
        return self._session

    def _check_chain(self) -> chain_identity.StoredChain:
        """Return the chain of the database, which the node has to serve, and prepare the database
        for what this process writes. Raises as _begin() does."""
        chain = chain_identity.store_or_check(
            self._node, self._database, self._settings.start_block, self._settings.logs
        )
        self._source.expect(chain.identity.rules_id)
        begins = f"the node serves {chain.identity}: the index begins at block {chain.start_block}"
        if chain.identity.is_fork and self._status.is_new(begins):
            log.info(begins)
        metrics.beat(inf)
        fill_missing(self._database)
        metrics.beat()
        self._database.rows("indexer/bodies_from_set", is_stored=self._settings.stores_bodies)
        with suppress(client.NodeError):  # what is asked next says so
            cures = ("update Scan before", "update the node")
            for warning, cure in zip(fork_schedule.fork_warnings(self._node), cures, strict=True):
                if warning and self._status.is_new(warning):
                    log.warning("%s: %s", warning, cure)
        proven = self._database.value("indexer/blocks_find_proven")
        if proven is not None:
            self._source.checker.record_proven(proven)
        return chain

    def _require_no_backfill(self) -> None:
        if self._database.value("indexer/bulk_backfill_is_unfinished"):
            raise UnfinishedBackfill(
                "a bulk backfill is not finished: `scan backfill chain` continues it"
            )

    def _require_near(self, first: int, node_head: int, most: int) -> None:
        """Raise FarBehind where an empty index is to be filled in bulk: it lacks many blocks, or
        blocks that the node has pruned and an extension has. Raises HistoryPruned."""
        missing = node_head + 1 - first
        is_far = missing >= most
        if not node_reader.are_elsewhere(self._settings):
            if not is_far:
                return
            node_reader.require_kept(self._node, first)
        elif not is_far and (missing <= 0 or node_reader.is_kept(self._node, max(first, 1))):
            return
        raise FarBehind(f"{missing} blocks are to be indexed in bulk")

    def _unwind(self, head: writer.IndexedHead, node_head: int) -> None:
        """Remove the blocks after the fork, but only once the blocks that replace them are read."""
        self._chain = None  # what serves another fork may serve another chain
        session = self._begin()
        if session.head != head:
            raise writer.HeadChanged
        self._fork_backoff.require_elapsed()
        fork = session.forks.find(head, node_head)
        log.info("reorganisation: unwinding %d blocks after %d", head.number - fork, fork)
        self._writer.unwind(fork)
        self._fork_backoff.record_unwound(head.hash)
        session.head = self._writer.head()

    def _write(self, inspector: ContractInspector, missing: MissingBlocks) -> writer.IndexedHead:
        """Write what one request returns of the missing blocks, as at the node's head, and return
        the new head. Raises NodeError where blocks do not link, as after a reorganisation."""
        first, last, head, genesis_hash, selection = missing
        blocks = self._prefetcher.fetch(first, last, selection)
        contracts = [block.contracts for block in blocks]
        require_linked(contracts, head and head.hash, genesis_hash)
        began = monotonic()
        batch = writer.inspected_batch(blocks, inspector.inspect(contracts))
        inspected = monotonic()
        with self._writer.appending(head, batch, alone=True) as append:
            append.add(batch)
            head = append.derive()
            self._status.store_following(append.transaction, last)
        metrics.count_stage("inspect", inspected - began)
        metrics.count_stage("write", monotonic() - inspected)
        self._note_written(inspector, head, last)
        return head

    def _write_many(
        self, inspector: ContractInspector, missing: MissingBlocks
    ) -> writer.IndexedHead | None:
        """Write the missing blocks while the next ones are read, and return the new head. Ends
        early where the selection lacks emitters that webhooks watch by now. Batches before a fault
        are written. Raises NodeError as _write() does."""
        head = missing.head
        check_watched_at = monotonic() + self._limits.check_watched_s
        with (
            closing(CatchUpProgress(missing.first, missing.last)) as progress,
            closing(BatchReader(self._prefetcher, inspector, missing, progress.seconds)) as batches,
        ):
            while (batch := batches.peek()) is not None and not self._stop.is_set():
                try:
                    head = self._commit(head, batch, batches, progress)
                except _Stopped:
                    return head
                self._note_written(inspector, head, missing.last)
                if monotonic() >= check_watched_at:
                    present = block_rows.watched_selection(missing.selection, self._database)
                    if not present.watched <= missing.selection.watched:
                        return head
                    check_watched_at = monotonic() + self._limits.check_watched_s
            if batches.fault is not None:
                raise batches.fault
        return head

    def _commit(
        self,
        head: writer.IndexedHead | None,
        first: writer.InspectedBatch,
        batches: BatchReader,
        progress: CatchUpProgress,
    ) -> writer.IndexedHead:
        """Commit `first` with the batches after it, and return the new head. After a fault `first`
        is committed alone, so that a fault that recurs with many batches does not stop the index.
        """
        size = 0  # the transactions that the commit is to have; 0 for a single batch
        if head is not None and self._has_committed:
            size = min(head.totals.transactions // self._limits.commit_share, COMMIT_TRANSACTIONS)
        self._has_committed = False
        with self._writer.appending(head, first) as append:
            began = monotonic()
            for count in itertools.count(1):
                batch = batches.take()
                with progress.seconds.clock("write"):
                    append.add(batch)
                # A batch that is not full comes from a slow node; it is committed at once.
                if append.transactions >= size or not batch.is_full:
                    break
                batch_s = (monotonic() - began) / count + self._derive_s
                if (count + 1) * batch_s > COMMIT_S:
                    break
                following = batches.peek()
                if self._stop.is_set():
                    raise _Stopped
                if following is None or not self._writer.can_take(append.head, following):
                    break
            derive_began = monotonic()
            with progress.seconds.clock("write"):
                head = append.derive()
            self._derive_s = (monotonic() - derive_began) / count
            self._status.store_following(append.transaction, progress.last)
        self._has_committed = True
        progress.advance(head.number, append.transactions)
        return head

    def _note_written(
        self, inspector: ContractInspector, head: writer.IndexedHead, last: int
    ) -> None:
        metrics.beat()
        self._fork_backoff.record_written(head.hash)
        self._status.note_following(last)
        inspector.stored_to = head.number
        for task in self._tasks:
            task.advance(head.number)
