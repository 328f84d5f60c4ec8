"""What extensions add to indexing: tables, traces of blocks, and tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from scan import registry
from scan.database import connection, transaction
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.sparse_tables import SparseTable
from scan.indexer.block_traces import TraceReader
from scan.registry import Part
from scan.settings import Settings

if TYPE_CHECKING:  # what serves reads tables here, and reaches no node by itself
    from scan.ethereum.client import Node

Bounds = dict[str, int]
# The attributes of the type block_range in sql/schema.
SPAN = tuple(
    """
    block_from block_to first_transaction last_transaction first_transfer last_transfer first_trade
    last_trade first_internal last_internal first_log last_log
    """.split()
)


class BlockRange(NamedTuple):
    """The first and last row of each table in a range: blocks by number, all others by ordinal."""

    blocks: Bounds
    transactions: Bounds
    transfers: Bounds
    trades: Bounds
    internal: Bounds
    logs: Bounds
    listed: list[str]  # the tables with rows in the range whose lists list_counts counts

    @property
    def span(self) -> tuple[int, ...]:
        """The range as a value of the type block_range."""
        bounds = self.blocks | self.rows | self.logs
        return tuple(bounds[name] for name in SPAN)

    @property
    def rows(self) -> Bounds:
        """The bounds of the numbered tables, without those of logs."""
        return self.transactions | self.transfers | self.trades | self.internal


@dataclass(frozen=True, kw_only=True)
class Rows(Part):
    """Tables whose rows follow from a block."""

    module = "rows"
    tables: Mapping[str, SparseTable]
    """Tables by name. The indexer notes from which block on each has all rows, and lists say it."""


class DerivedTable(NamedTuple):
    """A derived table: the name of a row, by its columns, and statements.

    `kept_rows_check` checks it where older rows are removed, and it is compared row by row there.
    In a bulk backfill, in DuckDB, `bulk_derive` computes its rows and `bulk_copy` returns their
    text, or `bulk_accept` fills it at the end.
    """

    row_name: str
    kept_rows_check: str = ""
    bulk_derive: str = ""
    bulk_copy: str = ""
    bulk_accept: str = ""


@dataclass(frozen=True, kw_only=True)
class Derived(Part):
    """Derived tables. `<table>_expected()` of the schema returns all rows of one, from which the
    indexer fills a table whose extension was off."""

    module = "derived"
    chapter = "rows"
    tables: Mapping[str, DerivedTable]
    """The tables by name."""
    derive: Callable[[transaction.Transaction, BlockRange], list[transaction.Row]]
    """Adds what blocks change, and returns the lists that passed a checkpoint."""
    unwind: Callable[[transaction.Transaction, BlockRange], None] = lambda tx, orphaned: None
    """Removes what orphaned blocks changed."""


@dataclass(frozen=True, kw_only=True)
class BlockTraces(Part):
    """What contracts created and moved in blocks to index."""

    module = "block_traces"
    reader: Callable[[Node, threading.Lock, str], TraceReader]
    """A reader of a node's traces, with the lock of large responses; the last is SCAN_TRACES."""


class Completer(Protocol):
    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock: ...


@dataclass(frozen=True, kw_only=True)
class BlockCompletion(Part):
    """What a block to index has beside its JSON."""

    module = "block_completion"
    completer: Callable[[Node, Callable[[], int]], Completer]
    """Completes blocks of a node; the second returns the chain's id."""


class Task(Protocol):
    def advance(self, head: int) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Maintenance(Part):
    """What the indexer does between commits."""

    module = "maintenance"
    task: Callable[[connection.Database, Settings], Task]
    """A task that is advanced after commits, with the head."""


@dataclass(frozen=True, kw_only=True)
class PrunedHistory(Part):
    """Blocks that an empty index needs and the node has pruned."""

    module = "pruned_history"
    cure: str
    """What helps, in the words of an advice."""
    has_blocks: Callable[[Settings], bool]
    """Whether the extension has the blocks, so that the index is filled in bulk."""


def make_trace_reader(node: Node, large_lock: threading.Lock, *, traces: str) -> TraceReader:
    """Return an extension's reader of traces, if there is one. `large_lock` is held while a large
    response is read and decoded; `traces` is as SCAN_TRACES."""
    part = registry.only(BlockTraces)
    return TraceReader() if part is None else part.reader(node, large_lock, traces)
