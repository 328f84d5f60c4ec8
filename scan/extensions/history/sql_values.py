"""The types of rows in a history: a table in sql/lists.toml, from which statements are rendered."""

import functools
from collections.abc import Mapping
from typing import NamedTuple

from scan.cached_values import LazyMapping
from scan.database.hooks import SqlValues
from scan.database.lists import Entity, List, all_entities, all_lists, read_table


class HistoryType(NamedTuple):
    """A type of rows in the history of an address, and the lists that have them; see
    sql/lists.toml."""

    name: str
    rank: int
    sent: List
    read: str
    columns: Mapping[str, str]
    received: List | None = None
    to_self: List | None = None
    whole: List | None = None

    @property
    def entity(self) -> Entity:
        return all_entities()[self.sent.table]

    @property
    def lists(self) -> tuple[List, ...]:
        """The lists that its rows are read from."""
        return (self.sent,) if self.received is None else (self.sent, self.received)


@functools.cache
def all_history_types() -> tuple[HistoryType, ...]:
    """Return the types of rows in a history that come from lists, in the order of the positions in
    its cursors."""
    lists = all_lists()
    roles = ("sent", "received", "to_self", "whole")
    return tuple(
        HistoryType(
            name, **values | {role: lists[values[role]] for role in roles if role in values}
        )
        for name, values in read_table()["history"].items()
    )


def history_numbers() -> Mapping[str, int]:
    """Return the places of a history's lists, by name, in the arrays that bound its pages, from 1
    as in SQL."""
    names = (list_.name for type_ in all_history_types() for list_ in type_.lists)
    return {name: number for number, name in enumerate(names, start=1)}


HOOKS = SqlValues(
    values=LazyMapping(
        lambda: {"history_numbers": history_numbers(), "history_types": all_history_types()}
    )
)
