"""Counts trades that an older version indexed for candles, from the newest to the oldest.

It may run beside the indexer, and be killed at any time: some thousand trades are a transaction,
for which the indexer waits (indexer/backfill_lock).
"""

import threading
from collections.abc import Callable

from scan.database.connection import Database
from scan.indexer.writer import derive_candles, forget_uncounted_candles, read_head

TRADES = 5_000  # in a transaction
REPORT_EVERY = 200  # transactions


class CandleBackfill:
    def __init__(self, database: Database, stop: threading.Event) -> None:
        self.counted = 0  # trades
        self._database = database
        self._stop = stop

    def run(self, report: Callable[[int], None]) -> bool:
        """Whether every trade is counted now; `report` gets how many are left, now and then."""
        for step in range(1, 1 << 62):
            if self._stop.is_set():
                return False
            left = self._count()
            if left == 0:
                break
            if step % REPORT_EVERY == 0:
                report(left)
        return True

    def _count(self) -> int:
        """The newest trades that are not counted yet; how many are left."""
        with self._database.transaction() as tx:
            tx.execute("indexer/backfill_lock")
            head = read_head(tx)
            if head is None:
                return 0
            forget_uncounted_candles(tx, head)
            end = int(tx.value("indexer/pool_candles_get_state"))
            start = max(0, end - TRADES)
            if start < end:
                derive_candles(tx, start, end - 1)
            tx.execute("indexer/pool_candles_set_state", first_trade=start)
            tx.execute("indexer/chain_notify")
        self.counted += end - start
        return start
