"""Cursors of blocks that a fork removed: which rows the client must drop, and where it resumes."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from scan.errors import Reorganised, Unavailable
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.forms.form import PLACE_BITS
from scan.queries.cursors import Traversal, Value
from scan.queries.reader import Reader
from scan.queries.reorganisations import newest_common_block

# A replica that is behind may still have the other branch here.
UNSETTLED_BLOCKS = 64
RETRY_AFTER_S = 1


class RowEnds(NamedTuple):
    """The numbers of rows of each kind up to a block; `blocks` is the number of the next block."""

    blocks: int
    transactions: int
    token_transfers: int
    internal_transfers: int
    dex_trades: int
    logs: int

    def of(self, entity: str) -> int:
        """Return the ordinal of an entity's first row after the block."""
        counted: Mapping[str, int] = self._asdict()
        return counted.get(entity, self.blocks << PLACE_BITS)


def require_same_chain(
    reader: Reader,
    traversal: Traversal,
    seen: BlockId | None,
    position_at: Callable[[RowEnds], Sequence[Value]],
) -> None:
    """Raise Reorganised where a fork has removed the cursor's block; Unavailable where this index
    may only be behind.

    `seen` is what the statement returned for `seen_block`; `position_at` returns the position from
    which the list continues for a client that has dropped the rows above a block.
    """
    cursor = traversal.cursor
    if cursor is None or cursor.newest is None or seen == cursor.newest:
        return
    common = newest_common_block(reader, cursor.newest)
    if common is None:
        common = _oldest_block(reader, cursor.newest.number)
    ends = reader.row("queries/blocks_get_row_ends", **common._asdict())
    reader.do_not_cache()
    following = None
    if ends[0] is not None:
        following = traversal.restart(position_at(RowEnds(*ends)), common)
    raise Reorganised(
        "A fork took blocks that this cursor stands on: drop what is of blocks above commonBlock,"
        " and go on with the cursor of this response.",
        common,
        following,
    )


def _oldest_block(reader: Reader, number: int) -> BlockId:
    """Return the oldest block, the only one that is certainly common with an unknown branch."""
    oldest, newest = reader.row("queries/blocks_get_ends")
    if newest is None or number > newest - UNSETTLED_BLOCKS:
        reason = f"Block {number} of this cursor is not indexed here yet, or was taken by a fork."
        raise Unavailable(f"{reason} Try again shortly.", retry_after_s=RETRY_AFTER_S)
    [block_hash] = reader.row("queries/blocks_get_hash", number=oldest)
    if block_hash is None:
        raise Unavailable("The chain is being reorganised.", retry_after_s=RETRY_AFTER_S)
    return BlockId(oldest, bytes(block_hash))
