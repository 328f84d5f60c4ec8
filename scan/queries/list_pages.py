"""The window of a list, its part that a request asks for; and the page that answers it: rows as
JSON, their number, and the cursor of the page after it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from scan import parameters
from scan.database.transaction import Row
from scan.queries.cursors import ORDINAL, Kind, Traversal, read_reference, require_same_chain
from scan.queries.cursors import Value as CursorValue
from scan.queries.reader import KeptFrom, Reader


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

    def kept(self, kept_from: KeptFrom | None) -> Self:
        """Return the part whose rows are kept, all of it for None."""
        if kept_from is None:
            return self
        return self._replace(block_from=max(self.block_from, kept_from.number))

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
    if window.time_from is None and window.time_to is None:
        return window
    first, last = window.block_from, window.block_to
    if window.time_from is not None:
        _, after = reader.row("queries/blocks_get_by_time", time_s=window.time_from)
        first = parameters.BIGINT_MAX if after is None else max(first, after)
    if window.time_to is not None:
        before, _ = reader.row("queries/blocks_get_by_time", time_s=window.time_to)
        last = -1 if before is None else min(last, before)
    return window._replace(block_from=first, block_to=last, time_from=None, time_to=None)


def in_kept_blocks(reader: Reader, window: Window, *addresses: bytes) -> Window:
    """Return the same window, as in_blocks() does, within the blocks whose rows are kept, of a list
    by addresses those whose rows of these are."""
    return in_blocks(reader, window).kept(reader.kept_from_of(*addresses))


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
            following = traversal.next([_position_value(value) for value in last])
        return cls(data, count, total, following, **more)


def _position_value(column: Any) -> CursorValue:
    if isinstance(column, str):
        return column.encode()
    return bytes(column) if isinstance(column, memoryview) else int(column)


def _position_at(traversal: Traversal, end: int) -> int:
    """Return the position of a client that has dropped the rows from the ordinal `end` on."""
    if traversal.direction == "asc":
        return end - 1
    return min(end, int(traversal.after or 0))
