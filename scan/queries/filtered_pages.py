"""A page of a list by any filters: the statement that serves it, and which of the filters' lists it
reads, between which bounds.
"""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from scan import parameters
from scan.database.lists import all_entities
from scan.database.transaction import Row
from scan.queries.cursors import Traversal
from scan.queries.filter_values import Value
from scan.queries.list_pages import Page, Window, in_blocks
from scan.queries.reader import Reader

# How PostgreSQL writes records: as /api/v1 returns them, or in a form that sql/lists.toml has.
Form = str

# The most entries that a page of a list by several keys reads; checkpoint_every() divides it.
# PostgreSQL takes about half a microsecond an entry in memory.
MAX_ENTRIES = 262_144
# Of a list of all rows, where no filter has a list of its own: each row is joined to what it is
# compared with, at about a microsecond.
MAX_UNLISTED_ENTRIES = 32_768
UNBOUNDED: Mapping[str, Any] = {"lowest": 0, "highest": parameters.BIGINT_MAX}
ALL_BLOCKS = 0, parameters.BIGINT_MAX


def filtered_page(
    reader: Reader,
    entity: str,
    filters: Mapping[str, Value | None],
    window: Window,
    *,
    form: Form = "api",
    unlisted: Collection[str] = (),
    blocks: tuple[int, int] = ALL_BLOCKS,
    are_kept: bool = False,
    **of_several: object,
) -> Page:
    """Return a page of the rows that match all filters: without a filter by ordinal, with one from
    the nearest checkpoint of its list, with several from the shortest of their lists.

    `unlisted` are filters whose lists may lack matching rows, `blocks` the first and the last block
    that can have such rows, `of_several` the parameters of statements by several filters alone.
    `are_kept`: they are of a transaction whose rows are kept, in whichever block.
    """
    matched = {name: value for name, value in filters.items() if value is not None}
    traversal = window.traversal(entity, matched)
    kept_from = None if are_kept else reader.kept_from_of(*kept_keys(reader, entity, matched))
    window = in_blocks(reader, window).kept(kept_from)
    if blocks != ALL_BLOCKS:
        window = window._replace(
            block_from=max(window.block_from, blocks[0]), block_to=min(window.block_to, blocks[1])
        )
    declared, values = all_entities()[entity], window.params(traversal)
    if declared.forms:
        values["form"] = form
    if len(matched) > 1 or not matched.keys() <= declared.listed.keys():
        values |= _bounded(window, traversal)
        with_lists = {name: value for name, value in matched.items() if name not in unlisted}
        row = _row_by_several(reader, entity, with_lists, window, values, of_several)
    elif matched or declared.is_sparse:
        # Where few blocks have rows of an entity, all of them are a list, too, by an empty key.
        list_name: str = entity
        key: Value = b""
        for name, value in matched.items():
            list_name, key = declared.listed[name].name, _key(value)
        row = reader.row(f"queries/{list_name}_list", key=key, **values, **_bounded(window))
    else:
        row = reader.row(f"queries/{entity}_list", **values)
    return Page.from_row(reader, entity, traversal, row, kept_from)


def kept_keys(
    reader: Reader, entity: str, matched: Mapping[str, Value | None]
) -> tuple[bytes, ...]:
    """Return the addresses among filters, all rows of which stay where one is kept; none where all
    rows are kept."""
    if reader.kept_from is None:
        return ()
    by_param = all_entities()[entity].by_param
    given = ((by_param[name].kind, value) for name, value in matched.items() if name in by_param)
    return tuple(v for kind, v in given if kind in ("address", "pool") and isinstance(v, bytes))


def _bounded(window: Window, traversal: Traversal | None = None) -> dict[str, bool]:
    """Return whether a statement of a filter has to look for a first and a last block: those of
    the window, and where the traversal begins at a cursor, that."""
    from_cursor = window.direction if traversal is not None and traversal.cursor else None
    return {
        "has_lower": window.block_from > 0 or from_cursor == "asc",
        "has_upper": window.block_to < parameters.BIGINT_MAX or from_cursor == "desc",
    }


def _row_by_several(
    reader: Reader,
    entity: str,
    matched: Mapping[str, Value],
    window: Window,
    values: Mapping[str, Any],
    of_several: Mapping[str, object],
) -> Row:
    """Return a page's row from the shortest list of the filters `matched`, whose rows are compared
    with the other filters."""
    listed = all_entities()[entity].listed
    most = None if window.offset or of_several.get("has_total") else window.max_entries
    if most and not all_entities()[entity].is_sparse and listed.keys().isdisjoint(matched):
        most = min(most, MAX_UNLISTED_ENTRIES)
    shortest, end, bounds = bounds_of(reader, entity, matched, values, most)
    list_, of_row = list_by(entity, shortest, matched)
    read = partial(
        reader.row,
        f"queries/{list_}_list_by_filters",
        is_unbounded=True,
        **{**values, **dict.fromkeys(all_entities()[entity].by_param), **of_row, **of_several},
    )
    data, count, total, position, newest, *more = read(**bounds)
    if len(reader.versions) > 1:  # the index changed in between
        return read(**UNBOUNDED)
    if position is None and end.ordinal is not None:  # the page is not full
        position = end.ordinal
        # In ascending order the cursor refers to the block of that entry, since all before it were
        # read.
        newest = end.block if window.direction == "asc" or newest is None else newest
    return (data, count, total, position, newest, *more)


class End(NamedTuple):
    """The entry of a list at which a page ends that is not full; None where the list ends."""

    ordinal: int | None
    block: bytes | None  # as block_reference() makes it


def bounds_of(
    reader: Reader,
    entity: str,
    matched: Mapping[str, Value],
    values: Mapping[str, Any],
    max_entries: int | None,
) -> tuple[str | None, End, Mapping[str, Any]]:
    """Return the filter whose list is the shortest (None where none has a list), the page's end,
    and the lowest and highest ordinals to read."""
    names = [name for name in all_entities()[entity].listed if name in matched]
    shortest, ordinal, block, *bounds = reader.row(
        f"queries/{entity}_get_bounds",
        names=names,
        keys=[_key(matched[name]) for name in names],
        max_entries=max_entries,
        **{name: values[name] for name in ("block_from", "block_to", "direction", "after")},
    )
    return shortest, End(ordinal, block), dict(zip(UNBOUNDED, bounds, strict=True))


def list_by(
    entity: str, shortest: str | None, matched: Mapping[str, Value]
) -> tuple[str, Mapping[str, Value | None]]:
    """Return the list that rows by several filters are read from, and the filters' values. Those of
    two filters of the same rows are exchanged where the one that shares the other's list has the
    fewest entries."""
    if "counterparty" in matched and matched["counterparty"] == matched.get("address"):
        matched = {"from": matched["address"], "to": matched["address"], **matched}
    if "from" in matched and matched["from"] == matched.get("to"):
        return f"{entity}_to_self", matched
    if shortest is None:
        return entity, matched
    list_of = all_entities()[entity].by_param[shortest].list_of
    exchanged = {list_of: matched[shortest], shortest: matched.get(list_of)} if list_of else {}
    return all_entities()[entity].listed[shortest].name, {**matched, **exchanged}


def _key(value: Value) -> Value:
    """Return a filter's value as the key of a list: names are in UTF-8."""
    return value.encode() if isinstance(value, str) else value
