"""The tabs of a transaction's page: the core's, and those of extensions."""

from collections.abc import Iterable, Sequence
from functools import cache

from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.http.prerequisites import Prerequisite
from scan.pages.formatting import grouped
from scan.pages.hooks import Shown, TransactionTab, tabs_of
from scan.pages.records import OTHER_TABS, requested_tab

OVERVIEW = TransactionTab("overview", "Overview")


@cache
def tabs() -> Sequence[TransactionTab]:
    return OVERVIEW, *tabs_of(TransactionTab)


def titles(heads: Iterable[Shown]) -> list[tuple[str, str]]:
    """Return the keys and titles of all tabs; titles have the numbers that are known."""
    counts = {name: count for head in heads for name, count in head.counts.items()}
    numbers = {name: f" ({grouped(count)})" for name, count in counts.items()}
    return [(tab.key, f"{tab.title}{numbers.get(tab.name, '')}") for tab in tabs()]


def requested() -> TransactionTab:
    """Return the requested tab; raises InvalidParameter for an unknown one."""
    by_name = {tab.name: tab for tab in tabs()}
    return by_name[requested_tab([*by_name])]


def is_open(tab: TransactionTab) -> bool:
    """Return whether all details of a tab are open; raises InvalidParameter where it has none."""
    if "open" not in request.args:
        return False
    if not tab.opens:
        names = " and ".join(tab.name for tab in tabs() if tab.opens)
        raise InvalidParameter(f"open=all is for the tabs of {names}.", field="open")
    return bool(parameters.one_of(request.args["open"], "open", ("all",)))


def prerequisite(query: str) -> Prerequisite:
    """Return the page's prerequisite by its query string: the node for tabs by traces."""
    is_of_node = any(f"tab={name}" in query for name in _of_node())
    return Prerequisite.NODE if is_of_node else Prerequisite.NODE_FIELDS


@cache
def _of_node() -> Sequence[str]:
    """Return the names of tabs that need the node, also Blockscout's."""
    names = {tab.name for tab in tabs() if tab.needs_node}
    return *names, *(theirs for theirs, ours in OTHER_TABS.items() if names & {*ours})
