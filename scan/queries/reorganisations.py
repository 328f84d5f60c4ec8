"""Reorganisations: the newest block that the chain shares with the branch of a given one.

Orphaned blocks are known for seven days, the newest 10,000 of them.
"""

from typing import NamedTuple

from scan.queries.reader import Reader


class BlockId(NamedTuple):
    """A block of one branch. Before the first indexed block there may be one that is not stored."""

    number: int
    hash: bytes


def newest_common_block(reader: Reader, block: BlockId) -> BlockId | None:
    """The block itself where it is in the chain; where it was orphaned, the newest block before it
    that is; None for one that is not known (any more)."""
    number, block_hash = reader.row("queries/blocks_get_newest_common", **block._asdict())
    return None if number is None else BlockId(number, bytes(block_hash))
