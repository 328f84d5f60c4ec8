"""Reorganisations: the newest block that the chain shares with the branch of a given one.

Orphaned blocks are known for seven days, the newest 10,000 of them.
"""

from scan.ethereum.block_parameter import BlockId
from scan.queries.reader import Reader


def newest_common_block(reader: Reader, block: BlockId) -> BlockId | None:
    """The block itself where it is in the chain; where it was orphaned, the newest block before it
    that is, which need not be stored if it is before the first indexed one; None for one that is
    not known (any more)."""
    number, block_hash = reader.row("queries/blocks_get_newest_common", **block._asdict())
    return None if number is None else BlockId(number, bytes(block_hash))
