"""A page of a list: its window, its form, the filters of entities, as sql/lists.toml declares them,
how their values are read, and the statement that serves them.

A new filter is an entry there; of a new kind it is a parser here and a field in [filters] of
scan/api/openapi/shared.toml, too.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self

from scan import parameters
from scan.cached_values import LazyMapping, LazySequence
from scan.contracts import abi
from scan.database.lists import Filter, all_entities, of_kind, served_entities
from scan.database.transaction import Row
from scan.queries.cursors import ORDINAL, Kind, Traversal, read_reference, require_same_chain
from scan.queries.cursors import Value as CursorValue
from scan.queries.reader import KeptFrom, Reader

TOKEN_TYPES = ("BEP20", "BEP721", "BEP1155", "BEP6909")
WITH_AMOUNTS = TOKEN_TYPES[2:]  # of ids
MAX_DEX_NAME = 100

Value = bytes | str | bool | int | list[bytes]

_ENTITIES = LazySequence(
    lambda: dict.fromkeys(("transactions", "blocks", "tokens", *served_entities()))
)
# The entities of /query.
QUERIED = LazySequence(
    lambda: (
        name
        for name in _ENTITIES
        if name not in served_entities() or served_entities()[name].is_queried
    )
)
# The filters of each entity, without the ranges of blocks and times, which the Window has.
FILTERS: Mapping[str, tuple[Filter, ...]] = LazyMapping(
    lambda: {
        entity: all_entities()[entity].filters if entity in all_entities() else ()
        for entity in _ENTITIES
    }
)
FILTER_KEYS: Mapping[str, tuple[str, ...]] = LazyMapping(
    lambda: {entity: tuple(f.key for f in filters) for entity, filters in FILTERS.items()}
)


def _choice(choices: Mapping[str, str], value: Any, name: str) -> Value:
    """Return what is stored for one of a filter's choices; raises InvalidParameter."""
    return bytes.fromhex(choices[parameters.one_of(value, name, choices)])


# Parsers of filters by kind: each takes a value, from a query string or JSON, and the filter's key.
PARSERS: Mapping[str, Callable[[Any, str], Value]] = {
    "address": parameters.address,
    "dex": partial(parameters.text, most=MAX_DEX_NAME),
    "event": partial(parameters.text, most=abi.MAX_LENGTH),  # which the page of logs reads
    "flag": parameters.flag,
    "hash": parameters.hash32,
    "method": partial(parameters.text, most=abi.MAX_LENGTH),  # which method_names.selectors() reads
    "nonce": partial(parameters.unsigned, most=parameters.BIGINT_MAX),
    "pool": parameters.pool,
    "pubkey": parameters.pubkey,
    "token_type": partial(parameters.one_of, allowed=TOKEN_TYPES),
    "topic": parameters.hash32,
    "transaction_type": partial(parameters.unsigned, most=parameters.MAX_TYPE),
}
PARSER_OF_KEY: Mapping[str, Callable[[Any, str], Value]] = LazyMapping(
    lambda: {
        filter_.key: partial(_choice, filter_.choices)
        if filter_.choices
        else of_kind(filter_.kind, PARSERS, "PARSERS of scan/queries/pages.py")
        for filter_ in chain.from_iterable(FILTERS.values())
    }
)


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


class Window(NamedTuple):
    """A part of a list: `direction` is asc or desc; ranges of blocks and of times, in Unix seconds,
    include both ends. It begins at the offset, or after the `cursor`, or after the row at a
    `position`, as a cursor of the list has it. With `max_entries` a page of a list by several keys
    may end before it is full; its cursor continues there.
    """

    limit: int
    offset: int
    direction: str = "desc"
    block_from: int = 0
    block_to: int = parameters.BIGINT_MAX
    cursor: str | None = None
    time_from: int | None = None
    time_to: int | None = None
    position: tuple[CursorValue, ...] | None = None
    max_entries: int | None = None

    def traversal(
        self,
        entity: str,
        filters: Mapping[str, object],
        kinds: Sequence[Kind] = (ORDINAL,),
        *,
        has_blocks: bool = True,
    ) -> Traversal:
        """Return the list's traversal; raises InvalidParameter for a cursor of another list."""
        filters = {
            **filters,
            "block_from": self.block_from,
            "block_to": self.block_to,
            "time_from": self.time_from,
            "time_to": self.time_to,
        }
        traversal = Traversal.of(entity, self.direction, filters)
        if self.position is not None:
            return traversal.after_position(self.position)
        if self.cursor is not None:
            return traversal.at(self.cursor, kinds, has_blocks=has_blocks)
        return traversal

    def page(self, traversal: Traversal) -> dict[str, Any]:
        """Return the parameters that every statement of a list by one key takes."""
        return {"limit": self.limit, "offset": self.offset, "after": traversal.after}

    def params(self, traversal: Traversal) -> dict[str, Any]:
        """Return the parameters that every statement of a list along the chain takes."""
        return {
            **self.page(traversal),
            "direction": self.direction,
            "block_from": self.block_from,
            "block_to": self.block_to,
            "seen_block": traversal.seen_block,
        }


def in_blocks(reader: Reader, window: Window) -> Window:
    """Return the same window with its times as blocks: those that are in both ranges."""
    first, last = window.block_from, window.block_to
    if window.time_from is not None:
        _, after = reader.row("queries/blocks_get_by_time", time_s=window.time_from)
        first = parameters.BIGINT_MAX if after is None else max(first, after)
    if window.time_to is not None:
        before, _ = reader.row("queries/blocks_get_by_time", time_s=window.time_to)
        last = -1 if before is None else min(last, before)
    return window._replace(block_from=first, block_to=last, time_from=None, time_to=None)


def in_kept_blocks(reader: Reader, window: Window) -> Window:
    """Return the same window, as in_blocks() does, within the blocks whose rows are kept."""
    if window.time_from is not None or window.time_to is not None:
        window = in_blocks(reader, window)
    if reader.kept_from is None:
        return window
    return window._replace(block_from=max(window.block_from, reader.kept_from.number))


@dataclass
class Page:
    """`data` is a JSON array as text; `total` counts the rows that match the filter, exactly.

    The total is None where no counter has it: by several keys at once, and of a node's logs.
    """

    data: str
    count: int
    total: int | None
    next: str | None = None  # the cursor of the page after this one; None where no rows follow
    untraced_blocks: int | None = None  # of internal transfers; None where no block has traces
    kept_from: KeptFrom | None = None  # the block at which the list begins; None: it has all rows
    # The block from which on no row is missing, of extensions that were off before; None: none is.
    complete_from: int | None = field(default=None, kw_only=True)
    position: int | None = field(default=None, kw_only=True)  # the ordinal in `next`
    # The cursor of this page itself, where it begins after a window's position.
    beginning: str | None = field(default=None, kw_only=True)

    @property
    def more(self) -> Mapping[str, object]:
        """What the answer of the API says of the page besides."""
        return {}

    @property
    def file_headers(self) -> Mapping[str, str]:
        """The headers of a file whose last page this is."""
        return {}

    @classmethod
    def from_row(
        cls,
        reader: Reader,
        entity: str,
        traversal: Traversal,
        row: Row,
        kept_from: KeptFrom | None = None,
    ) -> Self:
        """Return the page in the row of a statement with cursors; raises Reorganised."""
        data, count, total, position, newest, seen, *untraced_blocks = row
        if traversal.cursor is not None:
            require_same_chain(
                reader,
                traversal,
                read_reference(seen),
                lambda ends: [_position_at(traversal, ends.of(entity))],
            )
        newest_block = read_reference(newest)
        return cls(
            data,
            count,
            total,
            None if position is None else traversal.next([position], newest_block),
            untraced_blocks[0] if untraced_blocks else None,
            kept_from,
            complete_from=reader.incomplete.get(entity),
            position=position,
            beginning=None if traversal.cursor is None else traversal.beginning(newest_block),
        )

    @classmethod
    def keyed(cls, traversal: Traversal, row: Sequence[Any], **more: Any) -> Self:
        """Return the page in the row of a statement whose rows have no ordinals: data, count,
        total, and the position of the last row, null where no rows follow."""
        data, count, total, *last = row
        following = None
        if None not in last:
            position = [bytes(v) if isinstance(v, memoryview) else int(v) for v in last]
            following = traversal.next(position)
        return cls(data, count, total, following, **more)


def _position_at(traversal: Traversal, end: int) -> int:
    """Return the position of a client that has dropped the rows from the ordinal `end` on."""
    if traversal.direction == "asc":
        return end - 1
    return min(end, int(traversal.after or 0))


def filtered_page(
    reader: Reader,
    entity: str,
    filters: Mapping[str, Value | None],
    window: Window,
    *,
    form: Form = "api",
    unlisted: Collection[str] = (),
    blocks: tuple[int, int] = ALL_BLOCKS,
    **of_several: object,
) -> Page:
    """Return a page of the rows that match all filters: without a filter by ordinal, with one from
    the nearest checkpoint of its list, with several from the shortest of their lists.

    `unlisted` are filters whose lists may lack matching rows, `blocks` the first and the last block
    that can have such rows, `of_several` the parameters of statements by several filters alone.
    """
    matched = {name: value for name, value in filters.items() if value is not None}
    traversal = window.traversal(entity, matched)
    window = in_kept_blocks(reader, window)
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
    return Page.from_row(reader, entity, traversal, row, reader.kept_from)


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
    row = _ended(read(**bounds), end, window.direction)
    if len(reader.versions) > 1:  # the index changed in between
        row = read(**UNBOUNDED)
    return row


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


def _ended(row: Row, end: End, direction: str) -> Row:
    """Return the row of a page, with the position of `end` where the page is not full.

    In ascending order the cursor refers to the block of that entry, since all before it were read.
    """
    data, count, total, position, newest, *more = row
    if position is not None or end.ordinal is None:
        return row
    newest = end.block if direction == "asc" or newest is None else newest
    return (data, count, total, end.ordinal, newest, *more)


def list_by(
    entity: str, shortest: str | None, matched: Mapping[str, Value]
) -> tuple[str, Mapping[str, Value | None]]:
    """Return the list that rows by several filters are read from, and the filters' values. Those of
    two filters of the same rows are exchanged where the one that shares the other's list has the
    fewest entries."""
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
