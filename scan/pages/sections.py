"""The sections that extensions add to pages of the core."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from scan import registry
from scan.hooks import Pages
from scan.pages.records import Record
from scan.queries.addresses import Address
from scan.queries.pages import Window


class Shown(NamedTuple):
    """Values of a template, and the addresses in them and in records, which it shows by their
    names; of what tabs show, numbers by the tabs' names."""

    values: Mapping[str, Any]
    addresses: Iterable[str] = ()
    counts: Mapping[str, int] = MappingProxyType({})
    records: Iterable[Record] = ()


@dataclass(frozen=True)
class Section:
    """The templates that a page includes, by the place on it: `head` is in the head of every page,
    `foot` among the links of its footer, `list` beside the count of every list. `read` of the
    others returns what the templates show."""

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
    """A section of an address's head."""

    read: Callable[[bytes, Address], Mapping[str, Any]]


_Section = TypeVar("_Section", bound=Section)


@cache
def sections_of(kind: type[_Section]) -> Sequence[_Section]:
    """Return the sections of a kind."""
    sections = (section for pages in registry.parts(Pages) for section in pages.sections)
    return [section for section in sections if isinstance(section, kind)]
