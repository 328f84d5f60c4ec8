"""The tabs of an address's and of a token's page: the core's, which stand in address_head.py and
tokens.py, and those of extensions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scan.hex import to_hex
from scan.pages.filtered_lists import FilteredList, entity_list
from scan.pages.formatting import grouped
from scan.pages.hooks import GROUPS, Tab, tabs_of
from scan.pages.records import requested_tab


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
