"""The ordinals of the rows of a range of blocks, as parameters of statements."""

from typing import NamedTuple

from scan.database.transaction import Transaction

Bounds = dict[str, int]
# The attributes of the type block_range in sql/schema.
SPAN = tuple(
    """
    block_from block_to first_transaction last_transaction first_transfer last_transfer first_trade
    last_trade first_internal last_internal first_log last_log
    """.split()
)


class BlockRange(NamedTuple):
    """The first and last row of each table in a range: blocks by number, all others by ordinal."""

    blocks: Bounds
    transactions: Bounds
    transfers: Bounds
    trades: Bounds
    internal: Bounds
    logs: Bounds
    listed: list[str]  # the tables with rows in the range whose lists list_counts counts

    @property
    def span(self) -> tuple[int, ...]:
        """The range as a value of the type block_range."""
        bounds = self.blocks | self.rows | self.logs
        return tuple(bounds[name] for name in SPAN)

    @property
    def rows(self) -> Bounds:
        """The bounds of the numbered tables, without those of logs."""
        return self.transactions | self.transfers | self.trades | self.internal


def read_block_range(tx: Transaction, first: int, last: int) -> BlockRange:
    """Return the range of the blocks first..last, which must be written already."""
    blocks = {"block_from": first, "block_to": last}
    return BlockRange(blocks=blocks, **tx.value("indexer/blocks_get_range", **blocks))
