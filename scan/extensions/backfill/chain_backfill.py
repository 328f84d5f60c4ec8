"""The backfill of a whole chain into an empty index, by stages that a later run continues.

spool writes ranges of blocks to files. inspect checks the links between ranges, and decides in the
chain's order what contracts are. load selects transfers and trades by these decisions, and loads
all tables and derived tables, each table or partition in a transaction. accept loads blocks, and
with them the head, from which the indexer follows.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scan.database import connection, transaction
from scan.errors import Unavailable
from scan.ethereum.client import Node, NodeError
from scan.ethereum.node_errors import RETRIED
from scan.extensions.backfill import derivation, loading, spool
from scan.extensions.backfill.contracts import Inspection, RangeInspector
from scan.extensions.backfill.plan import (
    Attempts,
    CannotBackfill,
    CannotBegin,
    Differs,
    Forked,
    PartProgress,
    Plan,
    Progress,
    Range,
    read_plan,
    require_plan,
)
from scan.extensions.backfill.range_files import SELECTED, RangeFiles
from scan.extensions.backfill.resources import Requirements, Resources
from scan.extensions.backfill.warehouse import FILE, Warehouse
from scan.extensions.backfill.worker_pool import make_tasks, spooling, start_pool
from scan.files import held_folder
from scan.indexer import block_rows, block_source, chain_identity, contract_state, node_reader
from scan.indexer.contract_inspection import ContractInspector
from scan.indexer.derivation import fill_missing, forget_others, read_block_range
from scan.indexer.writer import NotTheWriter, Writer, copy_contracts
from scan.settings import Settings

if TYPE_CHECKING:  # most runs read no files of history
    from scan.extensions.backfill.history_source import ChainFiles

log = logging.getLogger(__name__)

POLL_S = 0.2
RANGES_OF_PROCESS, LEAST_RANGE_BLOCKS = 4, 50
READINGS = 4  # of blocks that differ from the node, before a run fails
# Called as blocks become visible: differences from the node, each with its first and last block.
Audit = Callable[[transaction.Transaction], Sequence[tuple[str, int, int]]]


class ChainBackfill:
    """The backfill of a database: an unfinished one, or a new one."""

    def __init__(
        self,
        settings: Settings,
        database: connection.Database,
        node: Node,
        resources: Resources,
        audit: Audit,
        stop: threading.Event,
        history: "ChainFiles | None" = None,
    ) -> None:
        self._settings = settings
        self._database = database
        self._node = node
        self._resources = resources
        self._audit = audit
        self._stop = stop
        self._history = history
        self._source = block_source.BlockSource(node, traces=settings.traces)
        self._state = contract_state.StateReader(node)  # which knows which contracts fail
        self._links = spool.NodeLinks(self._source, history)
        self._progress = Progress(database)
        self._attempts = Attempts(self._progress, stop)
        self._readings, self._writer_pid = 1, 0
        self._warehouse = partial(
            Warehouse.open, memory_bytes=resources.memory_bytes, threads=resources.threads
        )
        self.requirements = Requirements(database, node, resources, history)

    def begin(self, folder: Path, range_blocks: int, last_block: int | None) -> Plan:
        """Return the plan of the unfinished backfill, or begin one up to `last_block`, by default
        SCAN_FINALITY blocks behind the node's head.

        Raises CannotBackfill, CannotBegin where none can begin, WrongChain, WrongLogs and, after
        PATIENCE_S, the errors of RETRIED.
        """
        return self._attempts.run(lambda: self._begin(folder, range_blocks, last_block))

    def _require_continuable(self, plan: Plan) -> None:
        """Raise CannotBackfill where an unfinished one has other settings, or needs more memory."""
        forget_others(self._database)
        stored = chain_identity.check(self._node, self._database)
        if stored is not None and self._settings.logs not in ("", stored.logs):
            raise CannotBackfill(f"it was begun with SCAN_LOGS={stored.logs}: --discard it")
        began = "off" if self._database.value("indexer/bodies_from_get") is None else "on"
        if self._settings.stores_bodies != (began == "on"):
            raise CannotBackfill(f"it was begun with SCAN_BODIES={began}: --discard it")
        needs = plan.stage, plan.first_block, plan.last_block, plan.range_blocks
        self.requirements.require_memory(*needs)

    def _begin(self, folder: Path, range_blocks: int, last_block: int | None) -> Plan:
        self._acquire_lock()
        if (plan := read_plan(self._database)) is not None:
            self._require_continuable(plan)
            return plan
        settings = self._settings
        identity = settings.start_block, settings.logs
        chain = chain_identity.store_or_check(self._node, self._database, *identity)
        if not self._database.value("bulk/index_is_empty"):
            if self._history is not None:
                self._history.end()  # what a run left that was killed at its end
            raise CannotBegin(
                "the database holds a chain already, which the indexer continues"
                + (f"; the files in {folder} may be deleted" if folder.exists() else "")
            )
        fill_missing(self._database)
        self._database.rows("indexer/bodies_from_set", is_stored=settings.stores_bodies)
        if self._database.value("indexer/webhooks_find_active"):
            raise CannotBegin("there are active webhooks: the indexer sends their events")
        if last_block is None:
            last_block = node_reader.read_head(self._source.node).number - settings.finality
        if last_block < chain.start_block:
            raise CannotBegin("the node has no blocks that are older than SCAN_FINALITY blocks")
        if self._history is None or self._history.last_block < chain.start_block:
            node_reader.require_kept(self._source.node, chain.start_block)
        # In a small chain shorter ranges, so that no process waits long for the last one.
        share = (last_block - chain.start_block) // (self._resources.processes * RANGES_OF_PROCESS)
        range_blocks = min(range_blocks, max(share, LEAST_RANGE_BLOCKS))
        try:
            self.requirements.require_memory("spool", chain.start_block, last_block, range_blocks)
            self.requirements.require_room(folder, chain.start_block, last_block)
        except CannotBackfill as error:
            raise CannotBegin(str(error)) from None
        with held_folder(folder):
            shutil.rmtree(folder, ignore_errors=True)  # files of an earlier backfill
        with loading.writing(self._database) as tx:
            tx.execute(
                "bulk/state_insert",
                folder=str(folder),
                first_block=chain.start_block,
                last_block=last_block,
                range_blocks=range_blocks,
            )
        return require_plan(self._database)

    def discard(self) -> None:
        """End an unfinished backfill and empty the index. Raises CannotBackfill."""
        self._acquire_lock()
        plan = require_plan(self._database)
        with loading.writing(self._database) as tx:
            tx.execute("bulk/tables_truncate")
            tx.execute("bulk/chain_reset")
            tx.execute("bulk/state_delete")
        shutil.rmtree(plan.folder, ignore_errors=True)

    def run(self) -> bool:
        """Run all stages from the plan's on, until `stop` is set; return whether all completed.

        Waits PATIENCE_S for a node or database that fails. Raises CannotBackfill, duckdb's errors
        and those of begin().
        """
        plan = self._attempts.run(lambda: require_plan(self._database))
        with held_folder(plan.folder), self._progress:
            while not (is_done := self._attempts.run(self._run_stage)) and not self._stop.is_set():
                pass
        return is_done

    def _run_stage(self) -> bool:
        """Run the plan's stage, and return whether there was none left."""
        self._acquire_lock()  # a lost connection has lost it
        if (plan := read_plan(self._database)) is None:
            return True
        stages = {
            "spool": self._spool,
            "inspect": self._inspect,
            "load": self._load,
            "accept": self._accept,
        }
        try:
            stages[plan.stage](plan)
        except NotTheWriter:
            raise Unavailable("the connection with the writer's lock was lost") from None
        except Forked as error:
            log.warning("%s; reading again what differs", error)
            self._reset(plan)
        except Differs as error:
            if self._readings == READINGS:
                raise CannotBackfill(str(error)) from None
            self._readings += 1
            log.warning("%s; reading these blocks and those beside them again", error)
            self._node.rest()
            for first, last in error.blocks:
                span = Range(first - plan.range_blocks, last + plan.range_blocks)
                spool.remove(RangeFiles(plan.folder), plan.ranges, span)
            self._reset(plan)
        return False

    def _acquire_lock(self) -> None:
        try:
            Writer(self._database).acquire_lock()
        except NotTheWriter:
            message = "another indexer or backfill is running on this database: stop it first"
            raise CannotBackfill(message) from None
        self._writer_pid = int(self._database.value("bulk/writer_get_pid"))

    def _spool(self, plan: Plan) -> None:
        """Write the files of all ranges and, meanwhile, inspect contracts in the chain's order."""
        files = RangeFiles(plan.folder)
        selection = block_rows.read_stored(self._database)
        inspection = Inspection(files, plan.ranges, plan.inspected_to)
        inspection.require_none(self._links.remove_refused(files, plan.ranges))
        missing = [blocks for blocks in plan.ranges if not files.has(blocks)]
        if missing:
            total = len(plan.ranges)
            progress = PartProgress(self._progress, "spool", "ranges", total, total - len(missing))
            resources = self._resources
            tasks = make_tasks(self._settings, resources, selection, missing, self._history)
            pool = partial(start_pool, resources, files)

            def advance(transactions: int) -> None:
                progress.advance(1, transactions)
                if self._history is not None:
                    self._history.release(partial(files.have, plan.ranges))

            with spooling(pool, tasks, advance, self._stop) as end:
                self._inspect_behind(inspection, end)
        if self._stop.is_set():
            return
        if damaged := [blocks for blocks in plan.ranges if not files.is_whole(blocks)]:
            for blocks in damaged:
                files.remove(blocks)
            raise NodeError("the files of blocks {} to {} are not whole".format(*damaged[0]))
        removed = self._links.remove_refused(files, plan.ranges)
        removed = removed or self._links.remove_broken(files, plan.ranges)
        inspection.require_none(removed)
        if removed:
            raise NodeError(f"blocks from {removed[0].first} on are not of one chain")
        self._set_stage("inspect")

    def _inspect_behind(self, inspection: Inspection, spooling: Future[None]) -> None:
        """Inspect spooled ranges until all are spooled, or one does not link to the one before."""
        inspector = None
        while not spooling.done() and not self._stop.is_set() and inspection.remaining:
            if not inspection.files.has(inspection.remaining[0]):
                self._stop.wait(POLL_S)
                continue
            if not inspection.is_next_right():
                return
            try:
                inspector = inspector or self._new_inspector(inspection.files)
                self._inspect_next(inspection, inspector)
            except RETRIED as error:  # the next stage inspects this range, and handles the error
                log.warning("%s", error)
                return

    def _inspect(self, plan: Plan) -> None:
        files = self._whole_files(plan)
        inspection = Inspection(files, plan.ranges, plan.inspected_to)
        inspector = self._new_inspector(files)
        total, remaining = len(plan.ranges), len(inspection.remaining)
        progress = PartProgress(self._progress, "inspect", "ranges", total, total - remaining)
        while inspection.remaining and not self._stop.is_set():
            blocks = inspection.remaining[0]
            try:
                self._inspect_next(inspection, inspector)
            except NodeError:
                if not self._links.are_of_node(files, blocks):
                    raise Forked(f"the node has another block {blocks.last} now") from None
                raise
            progress.advance(1)
        if not inspection.remaining:
            self._set_stage("load")

    def _inspect_next(self, inspection: Inspection, inspector: RangeInspector) -> None:
        """Inspect the first of the remaining ranges. Raises NodeError."""
        blocks = inspection.remaining[0]
        findings = inspector.inspect(blocks)
        with loading.writing(self._database) as tx:
            copy_contracts(tx, findings)
            tx.execute("bulk/state_set_inspected", block_number=blocks.last)
        inspection.note_inspected()

    def _new_inspector(self, files: RangeFiles) -> RangeInspector:
        """Return an inspector. Raises Forked where the node has another genesis block now."""
        identity = chain_identity.read_identity(self._source.node)
        first = require_plan(self._database).ranges[0]
        if first.first == 0 and files.ends(first).first_hash != identity.genesis_hash:
            raise Forked("the node has another genesis block now")
        factories = contract_state.load_factories(identity.chain_id)
        return RangeInspector(ContractInspector(self._state, self._database, factories), files)

    def _load(self, plan: Plan) -> None:
        """Load tables, each as soon as the tables that it depends on are derived."""
        files, ranges = self._whole_files(plan), plan.ranges
        with closing(self._warehouse(plan.folder)) as warehouse:
            progress = PartProgress(
                self._progress, "select transfers and trades", "ranges", len(ranges)
            )
            derivation.open_files(
                warehouse, self._database, files, ranges, lambda: progress.advance(1)
            )
            buckets = derivation.buckets_for(files, ranges, self._resources.memory_bytes)
            loader = loading.Loader(
                self._database, warehouse, self._resources.tables_at_once, self._writer_pid
            )
            with closing(loader):
                self._load_tables(plan, warehouse, buckets, loader)

    def _load_tables(
        self, plan: Plan, warehouse: Warehouse, buckets: int, loader: loading.Loader
    ) -> None:
        rows, keeps_all = self._settings.partition_rows, self._settings.keep is None
        steps = loader.make_partitions(plan.loaded, rows, keeps_all=keeps_all)
        remaining = [step for step in steps if step.name not in plan.loaded]
        total = len(derivation.DERIVED) + len(steps)
        progress = PartProgress(self._progress, "load", "tables", total, len(plan.loaded))
        derived = 0

        def advance() -> None:
            progress.advance(len(plan.loaded) + derived + loader.loaded() - progress.done)

        for step in remaining:
            if step.table not in derivation.DERIVED:
                loader.begin(step)
        for table in derivation.DERIVED:
            if self._stop.is_set():
                return
            derivation.derive(warehouse, table, buckets)
            derived += 1
            advance()
            for step in remaining:
                if step.table == table:
                    loader.begin(step)
        while not loader.wait(POLL_S):
            if self._stop.is_set():
                return
            advance()
        advance()
        for table in {step.table for step in steps if step.is_partition}:
            # Their statistics are separate from those of partitions.
            self._database.rows("indexer/partitions_analyze", table=table)
        self._set_stage("accept")

    def _accept(self, plan: Plan) -> None:
        files = self._whole_files(plan)
        self._links.require_last(plan.last_block, files.ends(plan.ranges[-1]).hash)
        with (
            closing(self._warehouse(plan.folder)) as warehouse,
            loading.writing(self._database) as tx,
        ):
            loading.accept(tx, warehouse)
            if differences := self._audit(tx):
                raise Differs(differences)
            written = read_block_range(tx, plan.ranges[0].first, plan.last_block)
            tx.execute("indexer/beacons_mark_changed", span=written.span)
            tx.execute("bulk/state_delete")
            tx.execute("indexer/chain_notify")
        shutil.rmtree(plan.folder, ignore_errors=True)
        if self._history is not None:
            self._history.end()

    def _whole_files(self, plan: Plan) -> RangeFiles:
        """Return the files of all ranges. Raises Forked where some are missing, as in an emptied
        folder, or on another machine."""
        files = RangeFiles(plan.folder)
        if not all(map(files.has, plan.ranges)):
            raise Forked(f"files are missing in {plan.folder}")
        return files

    def _reset(self, plan: Plan) -> None:
        """Empty the tables, and delete the files whose blocks the node no longer has."""
        with loading.writing(self._database) as tx:
            tx.execute("bulk/tables_truncate")
            tx.execute("bulk/chain_reset")
            tx.execute("bulk/state_reset")
        files = RangeFiles(plan.folder)
        for kind in SELECTED:
            shutil.rmtree(plan.folder / kind, ignore_errors=True)
        for path in plan.folder.glob(f"{FILE}*"):
            path.unlink(missing_ok=True)
        self._links.remove_foreign(files, plan.ranges)

    def _set_stage(self, stage: str) -> None:
        with loading.writing(self._database) as tx:
            tx.execute("bulk/state_set_stage", stage=stage)
