"""Derived tables of markets: candles and volumes of pools, by their trades."""

from scan.database.transaction import Row, Transaction
from scan.indexer.hooks import BlockRange, Derived, DerivedTable


def derive(tx: Transaction, written: BlockRange) -> list[Row]:
    """Add trades that no candle counts yet to the candles of their pools."""
    first, last = written.trades
    if last >= first:
        bounds = {"first_trade": first, "last_trade": last}
        tx.defer("indexer/pool_candles_derive", **bounds, pools=None, hours=None)
    return []


def unwind(tx: Transaction, orphaned: BlockRange) -> None:
    """Remove the candles that count these trades, and make them anew of the trades before them."""
    first_trade, last_trade = orphaned.trades
    if last_trade < first_trade:
        return
    removed = tx.rows("indexer/pool_candles_unwind", first_trade=first_trade, last_trade=last_trade)
    if removed:
        pools, hours, first_ordinals = zip(*removed, strict=True)
        tx.execute(
            "indexer/pool_candles_derive",
            first_trade=min(first_ordinals),
            last_trade=first_trade - 1,
            pools=[bytes(pool) for pool in pools],
            hours=list(hours),
        )


HOOKS = Derived(
    tables={
        "pool_candles": DerivedTable(
            "{pool_address} {hour}",
            bulk_derive="bulk/pool_candles_derive",
            bulk_copy="bulk/pool_candles_copy",
        ),
        "pool_volumes": DerivedTable(
            "{pool_address}",
            kept_rows_check="audit/pool_candles_check",
            bulk_accept="bulk/pool_volumes_accept",
        ),
    },
    derive=derive,
    unwind=unwind,
)
