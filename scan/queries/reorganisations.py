"""Reorganisations: the newest block that the chain shares with the branch of a given one.

Orphaned blocks are known for seven days, the newest 10,000 of them.
"""

from scan.ethereum.block_parameter import BlockId
from scan.queries.reader import Reader


def newest_common_block(reader: Reader, block: BlockId) -> BlockId | None:
    """Return the block itself where it is in the chain, or the newest block before an orphaned one
    that is, which is not stored if it precedes the first indexed one; None for a block that is not
    known, or no longer."""
    number, block_hash = reader.row("queries/blocks_get_newest_common", **block._asdict())
    return None if number is None else BlockId(number, bytes(block_hash))
