"""A whole chain into an empty index, stage after stage; a run continues where the last one ended.

spool: ranges of blocks as files. inspect: links between ranges, and what contracts are, in the
chain's order. load: transfers and trades by these decisions, tables and everything derived, each
table in a transaction. accept: blocks, and with them the head, from which the indexer follows.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from scan.bulk import derivation, loading
from scan.bulk.contracts import RangeInspector
from scan.bulk.estimates import estimate, free_bytes
from scan.bulk.progress import StageProgress
from scan.bulk.range_files import SELECTED, Range, RangeFiles, broken_links, split
from scan.bulk.spool import spool
from scan.bulk.warehouse import FILE, Warehouse
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.ethereum.client import Node, NodeError
from scan.indexer import chain_identity, log_selection
from scan.indexer.block_source import BlockSource
from scan.indexer.contract_inspection import ContractInspector, load_factories
from scan.indexer.writer import Writer, copy_contracts
from scan.settings import Settings

log = logging.getLogger(__name__)

RANGE_BLOCKS = 500
ATTEMPTS, MAX_PAUSE_S = 8, 20.0
GB = 10**9

# In the transaction that makes blocks visible: what differs from the node, a line each.
Audit = Callable[[Transaction], Sequence[str]]


class CannotBackfill(Exception):
    """The message says what has to change first."""


class Forked(Exception):
    """The node's chain is another than in the files."""


class Plan(NamedTuple):
    """What a backfill was begun with, and how far it has come, as bulk_backfill has it."""

    folder: Path
    first_block: int
    last_block: int
    range_blocks: int
    stage: str
    inspected_to: int | None
    loaded: Sequence[str]

    @property
    def ranges(self) -> list[Range]:
        return split(self.first_block, self.last_block, self.range_blocks)


class Resources(NamedTuple):
    """What a run may use."""

    processes: int  # that fetch
    memory_bytes: int  # of DuckDB; beyond it spills to the folder
    threads: int


class ChainBackfill:
    """One run of the backfill that a database was begun with, or of a new one."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        node: Node,
        resources: Resources,
        audit: Audit,
        stop: threading.Event,
    ) -> None:
        self._settings = settings
        self._database = database
        self._node = node
        self._resources = resources
        self._audit = audit
        self._stop = stop
        self._source = BlockSource(node, traces=settings.traces)

    def begin(
        self, folder: Path, range_blocks: int = RANGE_BLOCKS, last_block: int | None = None
    ) -> Plan:
        """The backfill that was begun, or a new one, up to `last_block` or where no fork reaches.

        Raises CannotBackfill, and NotTheWriter, WrongChain, WrongLogs and NodeError as the indexer.
        """
        Writer(self._database).acquire_lock()
        settings = self._settings
        if (plan := self._plan()) is not None:
            stored = chain_identity.check(self._node, self._database)
            if stored is not None and settings.logs not in ("", stored.logs):
                raise CannotBackfill(f"it was begun with SCAN_LOGS={stored.logs}: --discard it")
            return plan
        chain = chain_identity.store_or_check(
            self._node, self._database, settings.start_block, settings.logs
        )
        if not self._database.value("bulk/index_is_empty"):
            raise CannotBackfill("the database holds a chain already, which the indexer continues")
        if self._database.value("indexer/webhooks_find_active"):
            raise CannotBackfill("there are active webhooks: the indexer sends their events")
        if last_block is None:
            last_block = self._source.head()[0] - settings.finality
        if last_block < chain.start_block:
            raise CannotBackfill("the node has no blocks that are older than SCAN_FINALITY blocks")
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier one
        with self._database.transaction() as tx:
            loading.require_writer(tx)
            tx.execute(
                "bulk/state_insert",
                folder=str(folder),
                first_block=chain.start_block,
                last_block=last_block,
                range_blocks=range_blocks,
            )
        return self._required_plan()

    def describe(self, plan: Plan) -> str:
        """What it will do and take; raises CannotBackfill for too small a disk, and NodeError."""
        if plan.stage != "spool":
            return f"continuing at stage {plan.stage}, up to block {plan.last_block}"
        needed = estimate(self._node, plan.first_block, plan.last_block)
        free = free_bytes(plan.folder)
        if free < needed.file_bytes:
            raise CannotBackfill(
                f"{plan.folder} has {free / GB:.1f} GB free; about {needed.file_bytes / GB:.1f} GB"
                " are needed: give another --folder"
            )
        return (
            f"blocks {plan.first_block} to {plan.last_block}, about {needed.transactions:,}"
            f" transactions (from a sample); about {needed.file_bytes / GB:.1f} GB of files in"
            f" {plan.folder} meanwhile, {needed.table_bytes / GB:.1f} GB in the database;"
            f" {self._resources.memory_bytes / GB:.1f} GB of memory besides that of the workers"
        )

    def discard(self) -> None:
        """End a backfill that is not accepted: the index is empty then. Raises NotTheWriter."""
        Writer(self._database).acquire_lock()
        plan = self._required_plan()
        with self._database.transaction() as tx:
            loading.require_writer(tx)
            tx.execute("bulk/tables_truncate")
            tx.execute("bulk/chain_reset")
            tx.execute("bulk/state_delete")
        shutil.rmtree(plan.folder, ignore_errors=True)

    def run(self) -> bool:
        """All stages from where it is; whether it came to its end before `stop`.

        Raises SpoolFailed, NodeError, CannotBackfill, duckdb's errors and those of begin().
        """
        stages = {
            "spool": self._spool,
            "inspect": self._inspect,
            "load": self._load,
            "accept": self._accept,
        }
        while not self._stop.is_set() and (plan := self._plan()) is not None:
            try:
                stages[plan.stage](plan)
            except Forked as error:
                log.warning("%s; reading again what differs", error)
                self._reset(plan)
        return self._plan() is None

    def _spool(self, plan: Plan) -> None:
        files = RangeFiles(plan.folder)
        files.remove_temporary()
        for attempt in range(ATTEMPTS):
            missing = [blocks for blocks in plan.ranges if not files.has(blocks)]
            if missing:
                self._spool_ranges(plan, files, missing)
            if self._stop.is_set():
                return
            broken = list(broken_links(files, plan.ranges))
            if not broken:
                break
            for before, after in broken:
                log.warning("block %d is not block %d's parent", before.last, after.first)
                files.remove(before)
                files.remove(after)
            self._stop.wait(min(0.25 * 2.0**attempt, MAX_PAUSE_S))
        else:
            raise NodeError("the node's blocks do not name each other as parents")
        self._set_stage("inspect")

    def _spool_ranges(self, plan: Plan, files: RangeFiles, missing: Sequence[Range]) -> None:
        total = len(plan.ranges)
        progress = StageProgress("spool", "ranges", total, total - len(missing))
        selection = log_selection.read_stored(self._database)
        processes = self._resources.processes
        spool(self._settings, selection, files, missing, processes, progress.advance, self._stop)

    def _inspect(self, plan: Plan) -> None:
        files = RangeFiles(plan.folder)
        identity = chain_identity.read_identity(self._source)
        if plan.first_block == 0 and files.ends(plan.ranges[0]).first_hash != identity.genesis_hash:
            raise Forked("the node has another genesis block now")
        inspector = self._inspector(identity.chain_id, files)
        inspected_to = -1 if plan.inspected_to is None else plan.inspected_to
        remaining = [blocks for blocks in plan.ranges if blocks.first > inspected_to]
        total = len(plan.ranges)
        progress = StageProgress("inspect", "ranges", total, total - len(remaining))
        failures = 0
        while remaining and not self._stop.is_set():
            blocks = remaining[0]
            try:
                findings = inspector.inspect(blocks)
            except NodeError as error:
                failures += 1
                if self._has_another(files, blocks):
                    raise Forked(f"the node has another block {blocks.last} now") from None
                if failures == ATTEMPTS:
                    raise
                log.warning("%s", error)
                self._stop.wait(min(0.25 * 2.0**failures, MAX_PAUSE_S))
                inspector = self._inspector(identity.chain_id, files)
                continue
            with self._database.transaction() as tx:
                loading.require_writer(tx)
                copy_contracts(tx, findings)
                tx.execute("bulk/state_set_inspected", block_number=blocks.last)
            failures = 0
            del remaining[0]
            progress.advance(1)
        if not remaining:
            self._set_stage("load")

    def _inspector(self, chain_id: int, files: RangeFiles) -> RangeInspector:
        """Anew after a failure, since it may hold what was not written."""
        inspector = ContractInspector(self._node, self._database, load_factories(chain_id))
        return RangeInspector(inspector, files)

    def _load(self, plan: Plan) -> None:
        files, ranges = RangeFiles(plan.folder), plan.ranges
        remaining = [step for step in loading.STEPS if step not in plan.loaded]
        with closing(self._warehouse(plan)) as warehouse:
            progress = StageProgress("select transfers and trades", "ranges", len(ranges))
            derivation.open_files(
                warehouse, self._database, files, ranges, lambda: progress.advance(1)
            )
            progress = StageProgress(
                "load",
                "tables",
                len(derivation.DERIVED) + len(loading.STEPS),
                len(plan.loaded),
            )
            for table in derivation.DERIVED:
                if self._stop.is_set():
                    return
                derivation.derive(warehouse, table)
                progress.advance(1)
            for step in remaining:
                if self._stop.is_set():
                    return
                loading.load(self._database, warehouse, step)
                progress.advance(1)
        self._set_stage("accept")

    def _accept(self, plan: Plan) -> None:
        files = RangeFiles(plan.folder)
        if self._has_another(files, plan.ranges[-1]):
            raise Forked(f"the node has another block {plan.last_block} now")
        with (
            closing(self._warehouse(plan)) as warehouse,
            self._database.transaction() as tx,
        ):
            loading.require_writer(tx)
            for table in loading.ACCEPTED:
                loading.load_table(tx, warehouse, table)
            tx.execute("bulk/pool_candles_accept")
            differences = self._audit(tx)
            if differences:
                raise CannotBackfill("not as the node has it: " + "; ".join(differences))
            tx.execute("bulk/state_delete")
            tx.execute("indexer/chain_notify")
        shutil.rmtree(plan.folder, ignore_errors=True)

    def _warehouse(self, plan: Plan) -> Warehouse:
        resources = self._resources
        return Warehouse(
            plan.folder, memory_bytes=resources.memory_bytes, threads=resources.threads
        )

    def _has_another(self, files: RangeFiles, blocks: Range) -> bool:
        return self._source.hash_at(blocks.last) != files.ends(blocks).hash

    def _reset(self, plan: Plan) -> None:
        """Nothing is known of contracts any more; files stay where the node has the same blocks."""
        with self._database.transaction() as tx:
            loading.require_writer(tx)
            tx.execute("bulk/tables_truncate")
            tx.execute("bulk/chain_reset")
            tx.execute("bulk/state_reset")
        files = RangeFiles(plan.folder)
        for kind in SELECTED:
            shutil.rmtree(plan.folder / kind, ignore_errors=True)
        for path in plan.folder.glob(f"{FILE}*"):
            path.unlink(missing_ok=True)
        for blocks in reversed(plan.ranges):
            if files.has(blocks):
                if not self._has_another(files, blocks):
                    break
                files.remove(blocks)

    def _plan(self) -> Plan | None:
        row = self._database.row("bulk/state_get")
        return None if row is None else Plan(Path(row[0]), *row[1:])

    def _required_plan(self) -> Plan:
        plan = self._plan()
        if plan is None:
            raise CannotBackfill("no bulk backfill was begun")
        return plan

    def _set_stage(self, stage: str) -> None:
        with self._database.transaction() as tx:
            loading.require_writer(tx)
            tx.execute("bulk/state_set_stage", stage=stage)
