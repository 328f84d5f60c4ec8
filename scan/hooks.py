"""What an extension may add to the core: a type for each part, with a field for each hook.

A part is a module of an extension that binds HOOKS to an object of its type, as entities.py does by
`HOOKS = hooks.Entities(pages={"logs": page})`; scan/registry.py reads it from there. The type
checker holds whoever brings a hook, and whoever reads one, to the hook's type. Hooks of extensions
for others stand in the hooks.py of those. scan/extensions/README.md is made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:  # hooks are of all rooms, which stand above this one
    import argparse
    import threading

    from flask import Blueprint, Flask, Response

    from scan.database.connection import Database
    from scan.database.transaction import Row, Transaction
    from scan.ethereum.blocks import DecodedBlock
    from scan.ethereum.client import Node
    from scan.ethereum.forms.form import Form
    from scan.ethereum.request_node import NodeSession
    from scan.ethereum.sparse_tables import SparseTable
    from scan.ethereum.transaction_reader import IndexedTransaction
    from scan.http.interfaces import Interface
    from scan.http.list_format import Format
    from scan.http.services import Services
    from scan.indexer.block_traces import TraceReader
    from scan.indexer.derivation import BlockRange
    from scan.indexer.follower import BackfillEnd
    from scan.pages.records import Record
    from scan.pages.sections import Section
    from scan.pages.tabs import AddressTab, TokenTab
    from scan.pages.transaction_tabs import TransactionTab
    from scan.queries.pages import Page, Window
    from scan.settings import Settings
    from scan.webhooks.queues import Connect

Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class Part:
    """The hooks of a part; `module` is the name of the module that has them."""

    module: ClassVar[str]


class Arguments(Protocol):
    """A command's parser, or a group of options that exclude each other."""

    def add_argument(self, *names: str, **properties: Any) -> argparse.Action: ...


class CommandOptions(NamedTuple):
    """Options that a command has from an extension, or values of its own ones. `run` returns an
    exit code where one of them is given, None where the command is to run as without them. Those of
    `scan run` exclude each other, and `run_without_node` is what it runs without RPC_URL."""

    run: Callable[[Settings, argparse.Namespace], int | None]
    add_arguments: Callable[[Arguments], None] = lambda command: None
    run_without_node: Callable[[Settings], int] | None = None


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


class Completer(Protocol):
    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock: ...


class InputReader(Protocol):
    def input_of(
        self, node: NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None: ...


class Task(Protocol):
    def advance(self, head: int) -> None: ...


class Startable(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Rows(Part):
    """Tables whose rows follow from a block."""

    module = "rows"
    tables: Mapping[str, SparseTable]
    """Tables by name. The indexer notes from which block on each has all rows, and lists say it."""


@dataclass(frozen=True, kw_only=True)
class Forms(Part):
    """Forms of the blocks of chains."""

    module = "form"
    forms: Sequence[Form]
    """The forms: fields, types of transactions, parts of fees."""


@dataclass(frozen=True, kw_only=True)
class Derived(Part):
    """Derived tables. `<table>_expected()` of the schema returns all rows of one, from which the
    indexer fills a table whose extension was off."""

    module = "derived"
    tables: Mapping[str, DerivedTable]
    """The tables by name."""
    derive: Callable[[Transaction, BlockRange], list[Row]]
    """Adds what blocks change, and returns the lists that passed a checkpoint."""
    unwind: Callable[[Transaction, BlockRange], None] = lambda tx, orphaned: None
    """Removes what orphaned blocks changed."""


@dataclass(frozen=True, kw_only=True)
class SqlValues(Part):
    """What templates of statements use."""

    module = "sql_values"
    values: Mapping[str, object]
    """Values by name."""


@dataclass(frozen=True, kw_only=True)
class Api(Part):
    """The API at /api/v1."""

    module = "api"
    blueprints: Sequence[Blueprint] = ()
    """Views below /api/v1."""
    transaction_fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: {}
    """Fields that a transaction's record has besides; `unproven` names those of them that
    nothing proves."""


@dataclass(frozen=True, kw_only=True)
class Interfaces(Part):
    """Interfaces beside the API."""

    module = "interface"
    register: Callable[[Flask, Settings], Sequence[Interface]]
    """Adds the routes to the application, and returns their interfaces."""


@dataclass(frozen=True, kw_only=True)
class Pages(Part):
    """Pages, and what pages of the core show besides. Templates are in templates/, scripts and
    pictures in static/, under names of their own."""

    module = "pages"
    blueprints: Sequence[Blueprint] = ()
    """Views of pages."""
    menu: Sequence[tuple[str, str, str]] = ()
    """Links of the menu: group, path and text."""
    sections: Sequence[Section] = ()
    """Templates that pages of the core include, and what reads their values."""
    tabs: Sequence[AddressTab | TokenTab | TransactionTab] = ()
    """Tabs of the pages of addresses, tokens and transactions."""
    page_of_missing: Callable[[bytes], Response | None] = lambda transaction_hash: None
    """The page of a transaction that is not indexed; raises UpstreamFailed or Unavailable where
    the node does not say whether it has it."""
    add_to_transactions: Callable[[Sequence[Record]], None] = lambda transactions: None
    """Adds to records of transactions what lists show besides."""


@dataclass(frozen=True, kw_only=True)
class Entities(Part):
    """Entities whose pages are no plain lists."""

    module = "entities"
    pages: Mapping[str, Callable[..., Page]]
    """Functions of a reader, a window and filters, by entity."""


@dataclass(frozen=True, kw_only=True)
class Markdown(Part):
    """Pages as Markdown, for those that accept it."""

    module = "markdown"
    to_markdown: Callable[[str, str], str]
    """A page at a path as Markdown, of its HTML."""


@dataclass(frozen=True, kw_only=True)
class OwnSettings(Part):
    """Settings of the extension's own."""

    module = "settings"
    declared: type[Any]
    """A dataclass of settings; `brand` among them is that of the pages."""


@dataclass(frozen=True, kw_only=True)
class ListFiles(Part):
    """Lists as files."""

    module = "list_files"
    send: Callable[
        [str, Callable[[Window], Page], Format, Window, Mapping[str, str], bytes | None], Response
    ]
    """A list as a file: its key in [csv], its pages, format, window and arguments, and the address
    in its path."""


@dataclass(frozen=True, kw_only=True)
class AutomaticBackfill(Part):
    """Filling an empty index that is far behind."""

    module = "automatic_backfill"
    run: Callable[[Settings, threading.Event], BackfillEnd]
    """Fills the index until the end, or until the event is set."""


@dataclass(frozen=True, kw_only=True)
class PrunedHistory(Part):
    """Blocks that an empty index needs and the node has pruned."""

    module = "pruned_history"
    cure: str
    """What helps, in the words of an advice."""
    has_blocks: Callable[[Settings], bool]
    """Whether the extension has the blocks, so that the index is filled in bulk."""


@dataclass(frozen=True, kw_only=True)
class BlockTraces(Part):
    """What contracts created and moved in blocks to index."""

    module = "block_traces"
    reader: Callable[[Node, threading.Lock, str], TraceReader]
    """A reader of a node's traces, with the lock of large responses; the last is SCAN_TRACES."""


@dataclass(frozen=True, kw_only=True)
class CreationInput(Part):
    """The code that created a contract which a contract created."""

    module = "creation_input"
    reader: Callable[[str], InputReader]
    """A reader of such code, by SCAN_TRACES."""


@dataclass(frozen=True, kw_only=True)
class Maintenance(Part):
    """What the indexer does between commits."""

    module = "maintenance"
    task: Callable[[Database, Settings], Task]
    """A task that is advanced after commits, with the head."""


@dataclass(frozen=True, kw_only=True)
class BlockCompletion(Part):
    """What a block to index has beside its JSON."""

    module = "block_completion"
    completer: Callable[[Node, Callable[[], int]], Completer]
    """Completes blocks of a node; the second returns the chain's id."""


@dataclass(frozen=True, kw_only=True)
class Indexing(Part):
    """What runs beside indexing."""

    module = "indexing"
    run: Callable[[Settings, threading.Event], None]
    """Runs in a thread of the indexer's process until the event is set."""


@dataclass(frozen=True, kw_only=True)
class Commands(Part):
    """What commands do besides."""

    module = "command_options"
    options: Mapping[str, CommandOptions]
    """Options by the command that has them, and what it does with them."""


@dataclass(frozen=True, kw_only=True)
class Worker(Part):
    """What runs beside serving."""

    module = "worker"
    threads: Callable[[Services], Iterable[Startable]]
    """What a worker starts, and stops at its end, such as WorkerThread."""


@dataclass(frozen=True, kw_only=True)
class Deliveries(Part):
    """Webhooks that are no HTTP requests."""

    module = "deliveries"
    connect: Mapping[str, Callable[[Settings, Database], Connect]]
    """What connects to receivers, by the scheme of their URLs."""


@dataclass(frozen=True, kw_only=True)
class Service(Part, Generic[Kind]):
    """What lives as long as the process, where it is made of the core's; Sources.get() returns it
    by type, and makes what needs no arguments."""

    module = "service"
    make: Callable[[Services], Kind]
    """Makes it."""
    base: type[Kind] | None = None
    """The class that the core or another extension has for such a service, by which it is known
    there: its own methods are what there is without the extension."""
