"""Tables derived again from stored blocks, without a node: those of extensions that were off when
blocks were indexed, and those whose rule has changed.

The rows are derived beside a running indexer into a table of their own, range by range, so that a
later run continues after a kill. Then one transaction, for which the indexer waits, makes the table
hold them, and its lists anew. A fork that takes the last of these blocks back begins it anew.
"""

import logging
import multiprocessing
import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

from scan.audit import block_comparison, derived_tables, stored_source
from scan.database import connection, transaction
from scan.errors import ScanError
from scan.ethereum.stored_blocks import DamagedBody
from scan.indexer import block_rows, partitions

log = logging.getLogger(__name__)

RANGE_BLOCKS = 50
TRANSACTION_S = 0.0002  # to derive its rows, in one process, measured
# Tables of the core whose rows follow from a stored block, its own rows and its traces; transfers
# and trades also from the tokens and pools that are known. Those of the first have ordinals without
# gaps, so that rows after a changed one are numbered anew, and all that is derived from them.
NUMBERED: Mapping[str, Sequence[str]] = {
    "transactions": block_rows.TRANSACTION_COLUMNS,
    "token_transfers": block_rows.TRANSFER_COLUMNS,
    "dex_trades": block_rows.TRADE_COLUMNS,
    "logs": block_rows.LOG_COLUMNS,
}
OF_BLOCKS = (*NUMBERED, "contract_creations", "log_emitters")
# What SCAN_LOGS may become: the logs that it adds follow from stored blocks.
WIDER = {"none": ("standard", "all"), "standard": ("all",), "all": ()}

Lines = Mapping[str, str]  # COPY text by table


class CannotRebuild(ScanError):
    """A table cannot be derived from stored blocks; the message says why."""


class _Forked(Exception):
    """A reorganisation has taken back blocks of which rows were derived."""


class Step(NamedTuple):
    """A table that is derived again, in a range of blocks from the next one on; the numbers are
    null where it is to begin."""

    table: str
    first: int
    last: int
    next: int
    selection: str | None  # of logs
    is_to_begin: bool  # for the first time, or anew after a fork


def from_blocks() -> list[str]:
    """Return the tables that can be derived again from stored blocks."""
    return [*OF_BLOCKS, *block_rows.WRITTEN]


def estimated_s(database: connection.Database) -> float:
    """Return about how long it takes to derive tables again from all blocks."""
    totals = (database.row("indexer/blocks_get_head") or (0, b"", {}))[2]
    return float(totals.get("transactions", 0) * TRANSACTION_S)


def is_needed(database: connection.Database) -> bool:
    """Return whether tables are to be derived again, or lack rows of stored blocks."""
    if database.value("indexer/retention_get_oldest") is not None:
        return False
    stored = _stored_blocks(database)
    missing = database.rows("queries/filled_tables_list", tables=[*block_rows.WRITTEN])
    are_stored = stored is not None and any(stored[0] < begins for _, begins in missing)
    derivable = {*from_blocks(), *derived_tables.DERIVED}
    return are_stored or not derivable.isdisjoint(_requested(database))


def _requested(database: connection.Database | transaction.Transaction) -> dict[str, Step]:
    """Return what is to be done of each table."""
    steps = (Step(*row) for row in database.rows("audit/rebuilds_list"))
    return {step.table: step for step in steps}


def _stored_blocks(database: connection.Database) -> tuple[int, int] | None:
    """Return the first and the last block of those that are stored without a gap."""
    first, last = database.row("audit/bodies_get_ends") or (None, None)
    return None if first is None or last is None else (first, last)


class Rebuild:
    """Derives tables of one database again until `stop` is set."""

    def __init__(
        self,
        database: connection.Database,
        url: str,
        stop: threading.Event,
        workers: int = 1,
        partition_rows: int = partitions.DEFAULT_ROWS,
        range_blocks: int = RANGE_BLOCKS,
    ) -> None:
        self._database = database
        self._range_blocks = range_blocks
        self._partition_rows = partition_rows
        self._url = url
        self._stop = stop
        self._workers = workers

    def _ranges(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        for start in range(first, last + 1, self._range_blocks):
            yield start, min(start + self._range_blocks - 1, last)

    def request(self, tables: Sequence[str], *, is_optional: bool = False, logs: str = "") -> None:
        """Have tables derived again in all stored blocks, by this run or by a later one; where that
        `is_optional`, those that can be. The table of logs then has those of `logs`, as SCAN_LOGS.
        Raises CannotRebuild."""
        self._require_all_rows()
        rows = self._database.rows(
            "indexer/filled_tables_list_missing", tables=[*block_rows.WRITTEN]
        )
        unknown = {table for (table,) in rows}.intersection(tables)
        reason = "start the indexer with its extension first, which then writes its rows"
        if _stored_blocks(self._database) is None:
            unknown, reason = {*from_blocks()}.intersection(tables), "no block is stored"
        if unknown and not is_optional:
            raise CannotRebuild(f"{', '.join(sorted(unknown))}: cannot be derived: {reason}")
        derivable = [table for table in tables if table not in unknown]
        if "logs" in derivable and logs:
            self._widen(logs)
        self._database.rows("database/rebuilds_request", tables=derivable)

    def _widen(self, logs: str) -> None:
        """Begin to derive logs by another selection. Raises CannotRebuild."""
        row = self._database.row("indexer/chain_get")
        *_, start_block, stored, _ = row or (0, "none", 0)
        first, last = _stored_blocks(self._database) or (0, -1)
        begun = _requested(self._database).get("logs")
        if logs == stored or (begun and begun.selection == logs):
            return
        if logs not in WIDER[stored]:
            raise CannotRebuild(f"logs: {stored} ones are stored, which cannot become {logs}")
        if first > start_block:
            raise CannotRebuild(f"logs: blocks before {first} are not stored (SCAN_BODIES)")
        if logs == "standard":
            topics = block_rows.load_standard_topics()
            self._database.rows("indexer/event_topics_insert", topics=topics)
        for table in ("logs", *(block_rows.FOLLOWED if logs == "all" else ())):
            self._begin(table, (first, last), logs)

    def request_missing(self) -> None:
        """Have tables derived that lack rows of stored blocks, as their extensions were off. Raises
        CannotRebuild."""
        self._require_all_rows()
        stored = _stored_blocks(self._database)
        if stored is None:
            return
        begun = _requested(self._database)
        for table, first in self._database.rows(
            "queries/filled_tables_list", tables=[*block_rows.WRITTEN]
        ):
            if stored[0] < first and table not in begun:
                self._begin(table, (stored[0], first - 1))

    def run(self) -> Iterator[tuple[str, int, int]]:
        """Derive the requested tables, those of blocks first, and yield after each range which
        tables it was of, how many blocks are done, and how many there are. Raises CannotRebuild,
        DamagedBody."""
        while not self._stop.is_set() and (steps := self._steps()):
            of_range = [step for step in steps if step[1:] == steps[0][1:]]
            try:
                yield from self._derive(of_range)
                if not self._stop.is_set():
                    self._end(of_range)
            except _Forked:
                log.info("a reorganisation took back blocks; deriving their rows anew")
                for step in of_range:
                    self._begin(step.table, _stored_blocks(self._database), step.selection)
        requested = _requested(self._database)
        derived = [table for table in derived_tables.DERIVED if table in requested]
        if derived and not self._stop.is_set():
            with self._database.transaction() as tx:
                tx.execute("indexer/writes_lock")
                _derive(tx, derived)
                tx.execute("audit/rebuilds_forget", tables=derived)
                tx.execute("indexer/chain_notify")

    def _require_all_rows(self) -> None:
        if self._database.value("indexer/retention_get_oldest") is not None:
            raise CannotRebuild("rows of older blocks are removed (SCAN_KEEP_DAYS)")

    def _steps(self) -> list[Step]:
        """Return what is to be done, in the order of the blocks. Raises CannotRebuild where rows
        of older blocks are removed."""
        self._require_all_rows()
        tables = {*from_blocks()}
        for table, step in _requested(self._database).items():
            if table in tables and step.is_to_begin:
                self._begin(table, _stored_blocks(self._database), step.selection)
        steps = [step for table, step in _requested(self._database).items() if table in tables]
        return sorted(steps, key=lambda step: (step.selection or "", *step[1:4]))

    def _begin(
        self, table: str, blocks: tuple[int, int] | None, selection: str | None = None
    ) -> None:
        if blocks is None:
            raise CannotRebuild(f"{table} cannot be derived: no blocks are stored (SCAN_BODIES)")
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")  # which what puts rows into a table has, too
            tx.execute(
                "audit/rebuilds_begin",
                table=table,
                columns=[*_columns(table)],
                block_from=blocks[0],
                block_to=blocks[1],
                selection=selection,
            )

    def _derive(self, steps: Sequence[Step]) -> Iterator[tuple[str, int, int]]:
        _, first, last, following, selection, _ = steps[0]
        tables = [step.table for step in steps]
        for end, lines in self._lines(tables, self._ranges(following, last), selection):
            with self._database.transaction() as tx:
                _advance(tx, tables, following, end + 1)
                _copy(tx, lines)
            following = end + 1
            yield ", ".join(tables), end - first + 1, last - first + 1
            if self._stop.is_set():
                return

    def _lines(
        self, tables: Sequence[str], ranges: Iterator[tuple[int, int]], selection: str | None
    ) -> Iterator[tuple[int, Lines]]:
        """Yield the last block of each range with its rows, in the order of the ranges."""
        if self._workers == 1:
            for first, last in ranges:
                yield last, _lines_in_snapshot(tables, selection, first, last, self._database)
            return
        context = multiprocessing.get_context("spawn")
        waiting: deque[tuple[int, Future[Lines]]] = deque()
        with ProcessPoolExecutor(self._workers, context, _open, (self._url,)) as pool:
            try:
                while True:
                    for first, last in islice(ranges, 2 * self._workers - len(waiting)):
                        future = pool.submit(_lines_in_snapshot, tables, selection, first, last)
                        waiting.append((last, future))
                    if not waiting:
                        return
                    last, lines = waiting.popleft()
                    yield last, lines.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _end(self, steps: Sequence[Step]) -> None:
        """Put the rows into their tables."""
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            derived = {step.table for step in steps}
            _advance(tx, [*derived], steps[0].last + 1, steps[0].last + 1)
            requested = _requested(tx)
            if any(requested[table].is_to_begin for table in derived):
                raise _Forked
            for step in steps:
                if step.table in NUMBERED:
                    self._number(tx, step)
                changed = tx.value("audit/rebuilds_end", table=step.table)
                log.info("%s: %d rows are others than before", step.table, changed)
                if changed and step.table in NUMBERED:
                    derived.update(derived_tables.DERIVED)
            _derive(tx, derived)
            tx.execute("indexer/chain_notify")

    def _number(self, tx: transaction.Transaction, step: Step) -> None:
        """Derive the rows of the blocks that were indexed since, too, and number all of them."""
        _, newest = tx.row("audit/blocks_get_ends") or (0, -1)
        for first, last in self._ranges(step.last + 1, newest):
            _copy(tx, _lines_of(tx, [step.table], first, last, step.selection))
        needed: int = tx.value("audit/rebuilds_number", table=step.table)
        partitions.make_empty(tx, step.table, self._partition_rows, needed)


def _advance(
    tx: transaction.Transaction, tables: Sequence[str], first: int, following: int
) -> None:
    """Note that the rows of tables are derived up to the block before `following`, where `first`
    was noted. Raises CannotRebuild where another process derives them, too."""
    advanced = tx.execute("audit/rebuilds_advance", tables=tables, first=first, next=following)
    if advanced < len(tables):
        raise CannotRebuild("another process derives the same tables: leave it to that")


def _derive(tx: transaction.Transaction, tables: Collection[str]) -> None:
    """Compute derived tables anew of the rows of all blocks."""
    for table in derived_tables.DERIVED:
        if table in tables or "list_checkpoints" in tables:
            derived_tables.expect(tx, table)
        if table in tables:
            tx.execute("audit/derived_repair", table=table)


_database: connection.Database | None = None  # of a worker


def _open(url: str) -> None:
    global _database
    _database = connection.Database(url, statement_timeout_ms=0, name="scan-rebuild")


def _lines_in_snapshot(
    tables: Sequence[str],
    selection: str | None,
    first: int,
    last: int,
    database: connection.Database | None = None,
) -> Lines:
    database = database or _database
    assert database is not None
    with database.transaction(snapshot=True) as tx:
        return _lines_of(tx, tables, first, last, selection)


def _lines_of(
    tx: transaction.Transaction, tables: Sequence[str], first: int, last: int, selection: str | None
) -> Lines:
    """Return the rows of a range of blocks. Raises CannotRebuild for a damaged one, and _Forked
    where one is not there."""
    source = stored_source.StoredSource(tx, proves="transactions" in tables)
    try:
        fetched = source.blocks(first, last)
    except DamagedBody as error:
        raise CannotRebuild(error.message) from None
    if len(fetched) < last - first + 1:
        raise _Forked
    logs = block_rows.NO_LOGS
    if not {"logs", *block_rows.FOLLOWED}.isdisjoint(tables):
        logs = block_rows.read_stored(tx)
        if selection not in (None, logs.stored):
            topics = frozenset(block_rows.load_standard_topics())
            logs = logs._replace(stored=selection, topics=topics)
    rows = block_rows.stored_rows(tx, fetched, logs)
    events = {}
    if not {"token_transfers", "dex_trades"}.isdisjoint(tables):
        events = block_comparison.events_of(tx, [block.block for block in fetched], rows)
    return {table: "".join(map(transaction.line, _rows(table, rows, events))) for table in tables}


def _rows(
    table: str,
    made: Sequence[block_rows.TableRows],
    events: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table in the chain's order, with the columns of _columns()."""
    if table in ("transactions", "logs"):
        yield from (row for rows in made for row in getattr(rows, table))
    elif table in NUMBERED:
        for row in events[table]:
            # The first of a batch has no index in it.
            yield [
                row[name] or None if name == "batch_index" else row[name]
                for name in NUMBERED[table]
            ]
    else:
        yield from (row for rows in made for row in rows.unnumbered[table])


def _columns(table: str) -> Sequence[str]:
    return NUMBERED[table] if table in NUMBERED else block_rows.UNNUMBERED[table]


def _copy(tx: transaction.Transaction, lines: Lines) -> None:
    for table, text in lines.items():
        transaction.copy_lines(tx, f"expected_{table}", _columns(table), [text])
