"""The rows of a range of blocks, by which statements that derive something from them find them."""

from typing import NamedTuple

from scan.database.transaction import Transaction

Bounds = dict[str, int]


class Span(NamedTuple):
    """Parameters of statements: the first and the last of each kind, by number or by ordinal."""

    blocks: Bounds
    transactions: Bounds
    transfers: Bounds
    trades: Bounds

    @property
    def rows(self) -> Bounds:
        return self.transactions | self.transfers | self.trades


def span(tx: Transaction, first: int, last: int) -> Span:
    """Of blocks first..last, which are written."""
    blocks = {"block_from": first, "block_to": last}
    [found] = tx.rows("indexer/blocks_get_range", **blocks)
    transactions, transfers, trades = found[:2], found[2:4], found[4:]
    return Span(
        blocks,
        dict(zip(("first_transaction", "last_transaction"), transactions, strict=True)),
        dict(zip(("first_transfer", "last_transfer"), transfers, strict=True)),
        dict(zip(("first_trade", "last_trade"), trades, strict=True)),
    )
