"""What extensions add to pages: sections, tabs, and pages of their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from flask import Blueprint, Response

from scan import registry
from scan.pages.records import Record
from scan.pages.svg_charts import Chart
from scan.queries import transactions
from scan.queries.addresses import Address
from scan.queries.holdings import UnitPrices
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader
from scan.registry import Part

# The groups of an address's tabs, in their order: what happened, what it has, its code.
ACTIVITY, HOLDINGS, CONTRACT = GROUPS = ("Activity", "Holdings", "Contract")


Feed = Callable[[Reader, bytes, Window], Sequence[Record]]  # of an address


class Shown(NamedTuple):
    """Values of a template, and the addresses in them and in records, which it shows by their
    names; of what tabs show, numbers by the tabs' names."""

    values: Mapping[str, Any]
    addresses: Iterable[str] = ()
    counts: Mapping[str, int] = MappingProxyType({})
    records: Iterable[Record] = ()


@dataclass(frozen=True)
class Section:
    """The templates that a page includes, by the place on it: `list` is beside the count of every
    list. `read` of the others returns what the templates show."""

    templates: Mapping[str, str]


@dataclass(frozen=True)
class StatusSection(Section):
    read: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class HomeSection(Section):
    read: Callable[[list[Record]], Mapping[str, Any]]  # of the newest blocks


@dataclass(frozen=True)
class LiveSection(Section):
    """A section of the part of the home page that is refreshed."""

    read: Callable[[list[Record]], Mapping[str, Any]]  # of the newest blocks


@dataclass(frozen=True)
class BlockSection(Section):
    """A section with lists of a block, of which the window is to be read."""

    read: Callable[[Record, Window], Mapping[str, list[Record]]]


@dataclass(frozen=True)
class TransactionSection(Section):
    read: Callable[[Record], Shown]


@dataclass(frozen=True)
class AddressSection(Section):
    """A section of an address's head, which has the names of `addresses` in `head_names`."""

    read: Callable[[bytes, Address], Shown]


@dataclass(frozen=True)
class TokenChart(Section):
    """A chart at the head of a token's page, which shows the first one by `place` that there is."""

    read: Callable[[Record, UnitPrices | None], Chart | None]
    place: int


class TabList(Protocol):
    """The list of a tab: a FilteredList."""

    @property
    def records(self) -> list[Record]: ...
    @property
    def number(self) -> int: ...
    @property
    def cursor(self) -> str | None: ...
    @property
    def source(self) -> Page | None: ...
    def filter(self, key: str) -> str: ...
    def response(self, template: str, **values: Any) -> Response: ...


class Tab(NamedTuple):
    """A tab, by whose `place` those of a group are ordered. Other tabs link it where `is_linked` is
    true of the values of the page's head, and the address has entries in its `list` of list_counts,
    if it names one. `counted` is the length that stands beside the title, by its name on the page:
    of an address a list's, by default that of `list`. An extension's has a template, and `read`,
    which returns its list, if it is one, and the template's other values (an `error` among them is
    the page's; without `names` an address's page names the addresses in the list); or `respond`,
    which returns a page of its own.
    """

    name: str
    title: str
    place: int
    is_linked: Callable[[Mapping[str, Any]], bool] = lambda _: True
    template: str = ""
    read: Callable[[bytes], tuple[TabList | None, Mapping[str, Any]]] = lambda _: (None, {})
    respond: Callable[[bytes], Response] | None = None
    list: str = ""
    counted: str = ""
    group: str = ACTIVITY
    feed: Feed | None = None  # what a feed at the tab's name below the address lists

    @property
    def length_name(self) -> str:
        return self.counted or self.list


class AddressTab(Tab):
    """A tab that an extension adds to an address's page."""


class TokenTab(Tab):
    """A tab that an extension adds to a token's page."""


class TransactionTab(NamedTuple):
    """A tab of a transaction's page. `path` is that of the same in the API, below the
    transaction's; `read` returns what the template shows; `opens`: it has details, which the page
    shows closed or all open."""

    name: str
    title: str
    path: str = ""
    read: Callable[[Record], Shown] = lambda _: Shown({})
    opens: bool = False
    needs_node: bool = False

    @property
    def key(self) -> str:
        """The tab's name in the query string; empty for the first."""
        return "" if self.name == "overview" else self.name

    @property
    def template(self) -> str:
        return f"transaction_{self.name}.html"


class Pages(Part, module="pages", chapter="views"):
    """Pages, and what pages of the core show besides. Templates are in templates/, scripts and
    pictures in static/, under names of their own."""

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
    add_to_transactions: Callable[[Reader, Sequence[Record]], None] | None = None
    """Adds what lists show besides."""
    add_to_transfers: Callable[[Reader, Sequence[Record]], None] | None = None
    """Adds to transfers of tokens the `call` that their transaction is."""
    feeds: Callable[[str, bool], Iterable[tuple[str, str]]] | None = None
    """Paths and titles of a page's feeds, by its path and whether all logs are stored."""


_Section = TypeVar("_Section", bound=Section)


@cache
def sections_of(kind: type[_Section]) -> Sequence[_Section]:
    """Return the sections of a kind."""
    sections = (section for pages in registry.parts(Pages) for section in pages.sections)
    return [section for section in sections if isinstance(section, kind)]


_Tab = TypeVar("_Tab")


def tabs_of(kind: type[_Tab]) -> Sequence[_Tab]:
    """Return the tabs of a kind that extensions add."""
    tabs = (tab for pages in registry.parts(Pages) for tab in pages.tabs)
    return [tab for tab in tabs if isinstance(tab, kind)]


def complete_transactions(
    reader: Reader, records: Sequence[Record], party: str | None = None
) -> None:
    """Add to records of transactions what lists show besides: what moved, of `party` or else of the
    sender, and the names of methods."""
    if records:
        transactions.add_moved(reader, records, party)
    for pages in registry.parts(Pages):
        if pages.add_to_transactions is not None:
            pages.add_to_transactions(reader, records)


def complete_transfers(reader: Reader, records: Sequence[Record]) -> None:
    """Add to records of transfers what lists show of their transactions besides."""
    for pages in registry.parts(Pages):
        if records and pages.add_to_transfers is not None:
            pages.add_to_transfers(reader, records)
