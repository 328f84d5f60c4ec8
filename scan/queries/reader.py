"""One request's reads of the chain, and the versions of the index that they saw."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from scan import registry
from scan.cached_values import TimedValue, cached_property
from scan.concurrency.concurrency_limit import PLACE_WAIT_S, ConcurrencyLimit
from scan.contracts.account_state import AccountStates, ReplacedCodes
from scan.contracts.read_calls import ReadCalls
from scan.contracts.transaction_contents import TransactionContents
from scan.database.connection import Database
from scan.database.transaction import Row
from scan.errors import NotFound
from scan.ethereum import request_node
from scan.ethereum.client import Call
from scan.indexer.hooks import Rows

PROCESSOR_WAIT_S = 1.0
READ_AGAIN_S = 5.0
READ_TABLES_AGAIN_S = 60.0

T = TypeVar("T")


class FixedValue(Generic[T]):
    """A value that is fixed by the first indexed block, so it is read once."""

    def __init__(self, database: Database, statement: str, **params: object) -> None:
        self._database = database
        self._statement = statement
        self._params = params
        self.known: T | None = None

    def read(self) -> T | None:
        """Read the value; None before the first block is indexed."""
        if self.known is None:
            self.known = self._database.value(self._statement, **self._params)
        return self.known


class UnprovenBlocks(NamedTuple):
    """The first and the last of consecutive blocks that are not proven, for a reason in words."""

    first: int
    last: int
    reason: str


class Unproven(NamedTuple):
    """The newest runs of blocks that are not proven, and how many such blocks there are."""

    runs: Sequence[UnprovenBlocks] = ()
    blocks: int = 0


class KeptFrom(NamedTuple):
    """The block at which lists begin; `timestamp` is its time (ISO 8601)."""

    number: int
    timestamp: str

    def record(self) -> dict[str, object]:
        return {"blockNumber": self.number, "timestamp": self.timestamp}


class IndexState:
    """What lists and pages say of the whole index, as of some seconds ago."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tables = [table for rows in registry.parts(Rows) for table in rows.tables]
        self.unproven = TimedValue(self._read_unproven, READ_AGAIN_S)
        self.kept_from = TimedValue(self._read_kept_from, READ_AGAIN_S)
        self.incomplete = TimedValue(self._read_incomplete, READ_AGAIN_S)
        # Of several partitions: nothing but speed depends on them.
        self.partitioned_tables: TimedValue[Sequence[str]] = TimedValue(
            partial(database.value, "queries/partitioned_tables_list"), READ_TABLES_AGAIN_S
        )

    def _read_unproven(self) -> Unproven:
        """Return what is not proven by hashes of blocks."""
        rows = self._database.rows("queries/unproven_blocks_list")
        count = self._database.value("queries/unproven_blocks_count")
        return Unproven([UnprovenBlocks(*row) for row in rows], count)

    def _read_kept_from(self) -> KeptFrom | None:
        """Return where lists begin; None where all rows are kept. Rows are removed a minute after
        a decision."""
        row = self._database.row("queries/retention_get")
        return None if row is None else KeptFrom(*row)

    def _read_incomplete(self) -> Mapping[str, int]:
        """Return by each table of an extension that was off while blocks were indexed the block
        from which on it has the rows of all blocks."""
        if not self._tables:
            return {}
        return dict(self._database.rows("queries/filled_tables_list", tables=self._tables))


def unbounded_statements() -> ConcurrencyLimit:
    """Return the limit of statements that no index bounds, which may run up to their time-out.

    It leaves most threads free. A client's next statements wait for its last one.
    """
    return ConcurrencyLimit(
        3,
        places_per_client=1,
        clients_wait=True,
        places_in_line=2,
        takes_turns=True,
        busy="Too many queries with combined filters are running; try again shortly.",
    )


def processor_places() -> ConcurrencyLimit:
    """Return the limit of requests that take the processor long, as for a transaction's 12,000
    logs: others share the interpreter with each of them. One of a client waits, as the next turn
    is no matter of milliseconds."""
    return ConcurrencyLimit(
        2,
        places_per_client=1,
        clients_wait=True,
        places_in_line=2,
        busy="Too many large answers are being made; try again shortly.",
    )


class ProcessorWait:
    """How long a large answer waits for its client's other one."""

    seconds = PROCESSOR_WAIT_S


@dataclass(frozen=True)
class Sources:
    """The sources of chain data, which live as long as the process."""

    database: Database  # may be a replica
    gateway: request_node.NodeGateway
    unbounded_statements: ConcurrencyLimit
    account_states: AccountStates
    read_calls: ReadCalls
    transaction_contents: TransactionContents
    finality: request_node.FinalityReader
    replaced_codes: ReplacedCodes
    chain_id: FixedValue[str]
    first_block: FixedValue[int]  # at which the index begins
    is_development: Callable[[], bool]  # whether state may change without a block
    index_state: IndexState
    traces: str  # as SCAN_TRACES has it
    coin_symbol: str  # as SCAN_COIN_SYMBOL has it
    writes: Database  # which keeps what requests have found out
    processor_places: ConcurrencyLimit = field(default_factory=processor_places)
    of_extensions: dict[type[Any], Any] = field(default_factory=dict)

    def keep(self, service: T, base: type[T] | None) -> None:
        """Keep what get() returns for a service's type, and for its base. Raises TypeError where
        the service leaves a method to its base, or where get() was called for that before."""
        for kind in filter(None, (type(service), base)):
            if self.of_extensions.setdefault(kind, service) is not service:
                raise TypeError(f"there are two {kind.__name__}, or it was read too early")
        for name in vars(base) if base else ():
            if name[0] != "_" and getattr(type(service), name) is getattr(base, name):
                raise TypeError(f"{type(service).__name__} has no {name}() of its own")

    def get(self, kind: type[T]) -> T:
        """Return what an extension keeps for as long as the process lives, by its type: what its
        service.py made, or, of a type that is made without arguments, what is made now."""
        service: T | None = self.of_extensions.get(kind)
        # Of two threads that make one, both get the first.
        return self.of_extensions.setdefault(kind, kind()) if service is None else service


@dataclass(eq=False)
class Reader:
    """The reads of one request, whose response may be cached while the index has their version."""

    sources: Sources
    client: Hashable  # that concurrent reads are limited by
    versions: set[int] = field(default_factory=set)  # of the index, that statements have read
    # Headers that say since when balances are known, or wrong.
    notes: dict[str, int] = field(default_factory=dict)
    staleness: str = ""  # of the index, as a page shows it
    depends_on_index_alone: bool = True
    # Fields of a list's answer that the node reports, such as the list itself, and its total.
    reported: set[str] = field(default_factory=set)
    _node: request_node.NodeSession | None = None
    _once: dict[Callable[["Reader"], Any], Any] = field(default_factory=dict)
    _kept_from_of: dict[tuple[bytes, ...], KeptFrom | None] = field(default_factory=dict)
    until_end: ExitStack | None = None  # few requests need one, which takes 2 us

    def hold_processor(self) -> None:
        """Hold one of the few places of requests that take the processor long, `until_end`.

        Raises Unavailable where none becomes free shortly."""
        if self.until_end is None:
            place = self.sources.processor_places.place(
                self.client, wait_s=self.sources.get(ProcessorWait).seconds
            )
            with ExitStack() as stack:
                stack.enter_context(place)
                self.until_end = stack.pop_all()

    def row(self, statement: str, *, is_unbounded: bool = False, **params: object) -> Row:
        """Return a statement's row without its first column, index_version().

        Such a statement always returns one row. Few of those that read an unbounded number of rows
        run at once, one for each client; more raise Unavailable.
        """
        if is_unbounded:
            with self.sources.unbounded_statements.place(self.client, wait_s=PLACE_WAIT_S):
                [row] = self.sources.database.rows(statement, **params)
        else:
            [row] = self.sources.database.rows(statement, **params)
        self.versions.add(row[0])
        return row[1:]

    def once(self, read: Callable[["Reader"], T]) -> T:
        """Return what `read` returns for this reader; it is called once a request."""
        if read not in self._once:
            self._once[read] = read(self)
        value: T = self._once[read]
        return value

    def keep(self, read: Callable[["Reader"], T], value: T) -> None:
        """Have once() return what another statement has read."""
        self._once[read] = value

    @property
    def first_block(self) -> int:
        """Return the block at which the index begins."""
        return self.sources.first_block.read() or 0

    @cached_property
    def kept_from(self) -> KeptFrom | None:
        """Return the block at which lists begin; None where all rows are kept."""
        return self.sources.index_state.kept_from.get()

    def kept_from_of(self, *addresses: bytes) -> KeptFrom | None:
        """Return the block at which lists by all of these addresses begin, one of which may be kept
        (scan keep); None where all their rows are kept."""
        if self.kept_from is None or not addresses:
            return self.kept_from
        if addresses not in self._kept_from_of:
            known = self.row("queries/kept_addresses_get", addresses=[*addresses])
            kept = self.kept_from if known[0] is None else min(KeptFrom(*known), self.kept_from)
            self._kept_from_of[addresses] = kept if kept.number else None
        return self._kept_from_of[addresses]

    @cached_property
    def incomplete(self) -> Mapping[str, int]:
        """Return the tables that lack rows of indexed blocks, each with the block from which on it
        has all."""
        return self.sources.index_state.incomplete.get()

    def with_incomplete(self, record: str | None, block: str) -> str | None:
        """Return a record, whose `block` is its block's number, as JSON text with the names of the
        tables that lack this block's rows."""
        if record is None or not self.incomplete:
            return record
        number = orjson.loads(record)[block]
        names = [name for name, first in self.incomplete.items() if number < first]
        added = f',"incomplete":{orjson.dumps(names).decode()}}}' if names else "}"
        return f"{record[:-1]}{added}"

    def indexed(self, row: T | None, what: str = "This transaction is not indexed.") -> T:
        """Return what is indexed; raises NotFound for None, as not_indexed() has it."""
        if row is None:
            raise self.not_indexed(what)
        return row

    def not_indexed(
        self, what: str, number: int | None = None, field: str | None = None
    ) -> NotFound:
        """Return the error for a row that is not indexed, as it may be older than the index, or no
        longer be kept. `number` is that of its block, None where it is not known."""
        if self.first_block > (number or 0):
            what = f"{what} The index begins at block {self.first_block}."
        elif self.kept_from is not None:
            what = f"{what} Rows before block {self.kept_from.number} are not kept."
        return NotFound(what, field=field)

    @property
    def node(self) -> request_node.NodeSession:
        """Return the request's session with the node, whose time runs from the first use."""
        if self._node is None:
            if self.is_development:
                self.do_not_cache()
            self._node = self.sources.gateway.session(self.client, is_optional=False)
        return self._node

    @property
    def is_development(self) -> bool:
        """Return whether the node is one for development, where `anvil_setBalance` and others
        change state without a block."""
        return self.sources.is_development()

    @property
    def called(self) -> Sequence[tuple[Call, str]]:
        """The first calls of contracts that this request has made, each with the word returned."""
        return () if self._node is None else self._node.called

    @property
    def has_node_failed(self) -> bool:
        return self._node is not None and self._node.failed

    def do_not_cache(self) -> None:
        """Note that the response depends on more than the index."""
        self.depends_on_index_alone = False
