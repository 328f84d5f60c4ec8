"""Counts days that an older version indexed, from the newest day to the oldest.

It may run beside the indexer, and be killed at any time: each day is a transaction, and days that
are counted are passed over. The addresses of a day that is over are counted while the indexer goes
on; for the rest, and for all of the newest day, it waits (indexer/backfill_lock).
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Transaction


class _Day(NamedTuple):
    """Its first and its last block."""

    first: int
    last: int
    is_counted: bool


class DailyBackfill:
    def __init__(self, database: Database, stop: threading.Event) -> None:
        self.counted = 0  # days
        self._database = database
        self._stop = stop

    def run(self, report: Callable[[str], None]) -> bool:
        """Whether every day is counted now; `report` gets each day that was counted."""
        last = self._head()
        while (day := self._day_of(min(last, self._head()))) is not None:
            if self._stop.is_set():
                return False
            if day.is_counted:
                last = day.first - 1
            elif (name := self._count(day)) is None:
                last = self._head()  # which is another by now
            else:
                self.counted += 1
                report(name)
        return True

    def _head(self) -> int:
        return _head(self._database)

    def _day_of(self, last: int) -> _Day | None:
        row = self._database.row("indexer/daily_stats_find_day", block_number=last)
        if row is None:
            return None
        counted_first, time_s = row
        if counted_first is not None:
            return _Day(counted_first, last, is_counted=True)
        row = self._database.row("queries/blocks_get_by_time", time_s=time_s)
        first = last if row is None or row[2] is None else min(row[2], last)
        return _Day(first, last, is_counted=False)

    def _count(self, day: _Day) -> str | None:
        """The day as text; None where its blocks are others by now."""
        if day.last == self._head():
            with self._database.transaction() as tx:
                tx.execute("indexer/backfill_lock")
                return _insert(tx, day, *_addresses(tx, day)) if _head(tx) == day.last else None
        addresses = _addresses(self._database, day)
        with self._database.transaction() as tx:
            tx.execute("indexer/backfill_lock")
            return _insert(tx, day, *addresses)


def _head(database: Database | Transaction) -> int:
    """-1 before the first block."""
    rows = database.rows("indexer/blocks_get_head")
    return int(rows[0][0]) if rows else -1


def _addresses(database: Database | Transaction, day: _Day) -> tuple[bytes, int, int]:
    [(last_hash, active, new)] = database.rows(
        "indexer/daily_stats_count_addresses", block_from=day.first, block_to=day.last
    )
    return bytes(last_hash or b""), active, new


def _insert(tx: Transaction, day: _Day, last_hash: bytes, active: int, new: int) -> str | None:
    name: str | None = tx.value(
        "indexer/daily_stats_insert",
        block_from=day.first,
        block_to=day.last,
        hash=last_hash,
        active=active,
        new=new,
    )
    if name is not None:
        tx.execute("indexer/chain_notify")
    return name
