"""A page of a list: its rows as JSON, their number, and the cursor of the page after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from scan.database.transaction import Row
from scan.queries.cursors import Traversal, read_reference, require_same_chain
from scan.queries.reader import KeptFrom, Reader


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
