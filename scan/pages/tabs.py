"""Tabs of the pages of addresses, tokens and transactions: the core's and those of extensions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite
from scan.pages import filtered_lists, formatting, records
from scan.pages.hooks import GROUPS, Shown, Tab, TransactionTab, tabs_of

AnyTab = TypeVar("AnyTab", bound=Tab | TransactionTab)


def list_of_address(
    entity: str, filter_key: str, api_path: str, tab: str
) -> Callable[[bytes], tuple[filtered_lists.FilteredList, Mapping[str, Any]]]:
    """Return the `read` of an address's tab that lists the rows of an entity which a filter by the
    address matches; `api_path` has `{address}`."""

    def read(key: bytes) -> tuple[filtered_lists.FilteredList, Mapping[str, Any]]:
        address = to_hex(key)
        tab_list = filtered_lists.entity_list(
            entity,
            f"/address/{address}",
            api_path.format(address=address),
            tab=tab,
            left_out=("maker",),
            fixed={filter_key: address},
        )
        return tab_list, {}

    return read


def page_tabs(tabs_of_core: Sequence[Tab], kind: type[Tab]) -> Sequence[Tab]:
    """Return the tabs of a page, with those of a kind that extensions add."""
    return sorted([*tabs_of_core, *tabs_of(kind)], key=lambda tab: tab.place)


def requested(tabs: Sequence[AnyTab]) -> AnyTab:
    """Return the requested tab, the first by default; raises InvalidParameter for another."""
    by_name = {tab.name: tab for tab in tabs}
    return by_name[records.requested_tab([*by_name])]


def titles(
    tabs: Sequence[Tab], current: str, values: Mapping[str, Any], lengths: Mapping[str, int | None]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the groups that have tabs which a page links, its current one among them, each with
    its title and the names and titles of these tabs. Titles have the lengths that are known."""
    groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
    for tab in tabs:
        has_entries = not tab.list or tab.list in values["counts"]
        if tab.name == current or (has_entries and tab.is_linked(values)):
            length = lengths.get(tab.length_name)
            counted = "" if length is None else f" ({formatting.grouped(length)})"
            groups[tab.group].append((tab.name, tab.title + counted))
    return [(group, titled) for group, titled in groups.items() if titled]


OVERVIEW = TransactionTab("overview", "Overview")


@cache
def tabs() -> Sequence[TransactionTab]:
    return OVERVIEW, *tabs_of(TransactionTab)


def transaction_titles(heads: Iterable[Shown]) -> list[tuple[str, str]]:
    """Return the keys and titles of all tabs; titles have the numbers that are known."""
    counts = {name: count for head in heads for name, count in head.counts.items()}
    numbers = {name: f" ({formatting.grouped(count)})" for name, count in counts.items()}
    return [(tab.key, f"{tab.title}{numbers.get(tab.name, '')}") for tab in tabs()]


def is_open(tab: TransactionTab) -> bool:
    """Return whether all details of a tab are open; raises InvalidParameter where it has none."""
    if "open" not in request.args:
        return False
    if not tab.opens:
        names = " and ".join(tab.name for tab in tabs() if tab.opens)
        raise InvalidParameter(f"open=all is for the tabs of {names}.", field="open")
    return bool(parameters.one_of(request.args["open"], "open", ("all",)))


def prerequisite(query: str) -> Prerequisite | None:
    """Return the page's prerequisite by its query string: the node for tabs that need it, also by
    Blockscout's names."""
    names = {tab.name for tab in tabs() if tab.needs_node}
    theirs = {name for name, ours in records.OTHER_TABS.items() if names & {*ours}}
    is_of_node = any(f"tab={name}" in query for name in names | theirs)
    return Prerequisite.NODE if is_of_node else None
