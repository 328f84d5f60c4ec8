"""The ordinals of the rows of a range of blocks, as parameters of statements."""

from typing import NamedTuple

from scan.database.transaction import Transaction

Bounds = dict[str, int]


class BlockRange(NamedTuple):
    """The first and the last of each kind: blocks by number, everything else by ordinal."""

    blocks: Bounds
    transactions: Bounds
    transfers: Bounds
    trades: Bounds
    internal: Bounds
    logs: Bounds

    @property
    def rows(self) -> Bounds:
        """The ranges of tables that every chain has."""
        return self.transactions | self.transfers | self.trades | self.internal


def read_block_range(tx: Transaction, first: int, last: int) -> BlockRange:
    """Of blocks first..last, which must be written already."""
    blocks = {"block_from": first, "block_to": last}
    return BlockRange(blocks=blocks, **tx.value("indexer/blocks_get_range", **blocks))
