"""The part of a list that a page shows: its order, blocks, times, and where it begins."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan import parameters
from scan.queries.cursors import ORDINAL, Kind, Traversal
from scan.queries.cursors import Value as CursorValue
from scan.queries.reader import Reader


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
