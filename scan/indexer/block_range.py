"""The ordinals of the rows of a range of blocks, as parameters of statements."""

from typing import NamedTuple

from scan.database.transaction import Transaction

Bounds = dict[str, int]
# The attributes of block_range in schema.sql.
SPAN = (
    *("block_from", "block_to", "first_transaction", "last_transaction"),
    *("first_transfer", "last_transfer", "first_trade", "last_trade"),
    *("first_internal", "last_internal", "first_log", "last_log"),
)


class BlockRange(NamedTuple):
    """The first and the last of each kind: blocks by number, everything else by ordinal."""

    blocks: Bounds
    transactions: Bounds
    transfers: Bounds
    trades: Bounds
    internal: Bounds
    logs: Bounds
    has_list_counts: bool  # rows in a table whose lists list_counts counts

    @property
    def span(self) -> tuple[int, ...]:
        """Return a block_range of schema.sql."""
        bounds = self.blocks | self.rows | self.logs
        return tuple(bounds[name] for name in SPAN)

    @property
    def rows(self) -> Bounds:
        """The ranges of tables that every chain has."""
        return self.transactions | self.transfers | self.trades | self.internal


def read_block_range(tx: Transaction, first: int, last: int) -> BlockRange:
    """Of blocks first..last, which must be written already."""
    blocks = {"block_from": first, "block_to": last}
    return BlockRange(blocks=blocks, **tx.value("indexer/blocks_get_range", **blocks))
