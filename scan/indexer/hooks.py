"""What extensions add to indexing: tables, traces of blocks, and tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from scan import registry
from scan.database import connection, transaction
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.sparse_tables import InternalTransfer, SparseTable
from scan.registry import Part
from scan.settings import Settings

if TYPE_CHECKING:  # what serves reads tables here, and reaches no node by itself
    from scan.ethereum.client import Node


class BlockRange(NamedTuple):
    """A range of blocks whose rows are written. `span` has the first and last row of each table, a
    value of the type block_range in sql/schema: blocks by number, all others by ordinal, where the
    last is before the first if there are none. `trades` are those of dex_trades."""

    span: tuple[int, ...]
    trades: tuple[int, int]
    listed: list[str]  # the tables with rows in the range whose lists list_counts counts


class Rows(Part, module="rows"):
    """Tables whose rows follow from a block."""

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


class Derived(Part, module="derived", chapter="rows"):
    """Derived tables. `<table>_expected()` of the schema returns all rows of one, from which the
    indexer fills a table whose extension was off."""

    tables: Mapping[str, DerivedTable]
    """The tables by name."""
    derive: Callable[[transaction.Transaction, BlockRange], list[transaction.Row]]
    """Adds what blocks change, and returns the lists that passed a checkpoint."""
    unwind: Callable[[transaction.Transaction, BlockRange], None] = lambda tx, orphaned: None
    """Removes what orphaned blocks changed."""


TRACE_ATTEMPTS = 3  # after which a block that the node fails to trace is returned without traces


class TracedBlock(NamedTuple):
    """The result of tracing a block. `created` includes the contracts that transactions create; the
    code of `destroyed` ones may have ended.

    `is_complete` is False where needed traces could not be read, where logs may have the transfers
    (EIP-7708), and None where none are needed, since no transaction ran code. Where some could be
    read, `known` has the indexes of the transactions whose transfers it has. `failed` has the
    indexes of failed transactions, only where receipts have no status. `called` are the contracts
    that another one called, where no event need say what that changed: see may_change_unsaid().
    `delegated` has the contracts to which the last call of each function of a contract was passed
    on whole by DELEGATECALL; None where it was not, or to several.
    """

    created: list[bytes]
    transfers: list[InternalTransfer]
    is_complete: bool | None
    failed: frozenset[int] = frozenset()
    destroyed: tuple[bytes, ...] = ()
    called: frozenset[bytes] = frozenset()
    known: frozenset[int] = frozenset()
    delegated: Mapping[tuple[bytes, bytes], bytes | None] = MappingProxyType({})


class TraceReader:
    """Returns what is known of blocks without traces."""

    @property
    def can_trace(self) -> bool:
        """Whether the node may offer a method that traces."""
        return False

    def read(self, blocks: list[DecodedBlock]) -> list[TracedBlock]:
        """Return the traces of the blocks in their order, at least of the first one; of fewer
        blocks where they have many transfers.

        Raises MalformedBlock, and NodeError where the node may trace a block later.
        """
        return [*map(self.without_traces, blocks)]

    def without_traces(self, block: DecodedBlock) -> TracedBlock:
        """Return what is known of a block without traces of it."""
        return TracedBlock([], [], False if block.ran_code else None)


class BlockTraces(Part, module="block_traces"):
    """What contracts created and moved in blocks to index."""

    reader: Callable[[Node, threading.Lock, str], TraceReader]
    """A reader of a node's traces, with the lock of large responses; the last is SCAN_TRACES."""


class Completer(Protocol):
    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock: ...


class BlockCompletion(Part, module="block_completion"):
    """What a block to index has beside its JSON."""

    completer: Callable[[Node, Callable[[], int]], Completer]
    """Completes blocks of a node; the second returns the chain's id."""


class Task(Protocol):
    def advance(self, head: int) -> None: ...


class Maintenance(Part, module="maintenance"):
    """What the indexer does between commits."""

    task: Callable[[connection.Database, Settings], Task]
    """A task that is advanced after commits, with the head."""


class PrunedHistory(Part, module="indexing"):
    """Blocks that an empty index needs and the node has pruned."""

    cure: str
    """What helps, in the words of an advice."""
    has_blocks: Callable[[Settings], bool]
    """Whether the extension has the blocks, so that the index is filled in bulk."""


def make_trace_reader(node: Node, large_lock: threading.Lock, *, traces: str) -> TraceReader:
    """Return an extension's reader of traces, if there is one. `large_lock` is held while a large
    response is read and decoded; `traces` is as SCAN_TRACES."""
    part = registry.only(BlockTraces)
    return TraceReader() if part is None else part.reader(node, large_lock, traces)
