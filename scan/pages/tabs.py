"""The type of the tabs of an address's and of a token's page.

The core's tabs stand in address_head.py and tokens.py; transaction_tabs.py has a type of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from flask import Response

from scan import registry
from scan.hex import to_hex
from scan.hooks import Pages
from scan.pages.filtered_lists import FilteredList, entity_list
from scan.pages.formatting import grouped
from scan.pages.records import Record, requested_tab
from scan.queries.pages import Window
from scan.queries.reader import Reader

# The groups of an address's tabs, in their order: what happened, what it has, its code.
ACTIVITY, HOLDINGS, CONTRACT = GROUPS = ("Activity", "Holdings", "Contract")


Feed = Callable[[Reader, bytes, Window], Sequence[Record]]  # of an address


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
    read: Callable[[bytes], tuple[FilteredList | None, Mapping[str, Any]]] = lambda _: (None, {})
    respond: Callable[[bytes], Response] | None = None
    list: str = ""
    counted: str = ""
    group: str = ACTIVITY
    feed: Feed | None = None  # what a feed at the tab's name below the address lists

    @property
    def length_name(self) -> str:
        return self.counted or self.list

    def has_link(self, head: Mapping[str, Any]) -> bool:
        return self.is_linked(head) and (not self.list or self.list in head["counts"])


class AddressTab(Tab):
    """A tab that an extension adds to an address's page."""


class TokenTab(Tab):
    """A tab that an extension adds to a token's page."""


def list_of_address(
    entity: str, filter_key: str, api_path: str, tab: str
) -> Callable[[bytes], tuple[FilteredList, Mapping[str, Any]]]:
    """Return the `read` of an address's tab that lists the rows of an entity which a filter by the
    address matches; `api_path` has `{address}`."""

    def read(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
        own = to_hex(key)
        shown = entity_list(
            entity,
            f"/address/{own}",
            api_path.format(address=own),
            tab=tab,
            left_out=("maker",),
            fixed={filter_key: own},
        )
        return shown, {}

    return read


_Tab = TypeVar("_Tab")


def tabs_of(kind: type[_Tab]) -> Sequence[_Tab]:
    """Return the tabs of a kind that extensions add."""
    tabs = (tab for pages in registry.parts(Pages) for tab in pages.tabs)
    return [tab for tab in tabs if isinstance(tab, kind)]


def with_extensions(own: Sequence[Tab], kind: type[Tab]) -> Sequence[Tab]:
    """Return the tabs of a page, with those of a kind that extensions add."""
    return sorted([*own, *tabs_of(kind)], key=lambda tab: tab.place)


def requested(tabs: Sequence[Tab]) -> Tab:
    """Return the requested tab, the first by default; raises InvalidParameter for another."""
    by_name = {tab.name: tab for tab in tabs}
    return by_name[requested_tab([*by_name])]


def titles(
    tabs: Sequence[Tab], current: str, values: Mapping[str, Any], lengths: Mapping[str, int | None]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the groups that have tabs which a page links, its current one among them, each with
    its title and the names and titles of these tabs. Titles have the lengths that are known."""
    linked = [tab for tab in tabs if tab.name == current or tab.has_link(values)]
    of_groups = [
        (
            group,
            [
                (tab.name, _title(tab, lengths.get(tab.length_name)))
                for tab in linked
                if tab.group == group
            ],
        )
        for group in GROUPS
    ]
    return [(group, of_group) for group, of_group in of_groups if of_group]


def _title(tab: Tab, length: int | None) -> str:
    return tab.title if length is None else f"{tab.title} ({grouped(length)})"
