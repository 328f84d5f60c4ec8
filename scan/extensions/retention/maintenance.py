"""Retention by SCAN_KEEP_DAYS: lists begin later, older rows are removed.

First the block is decided at which lists begin; every process that serves lists reads it within
seconds. Once no reorganisation can unwind a block that was written before the decision, and no
request that began before it still runs, the older rows are removed: one range of blocks after
another is deleted from small tables, then whole partitions are dropped.
Every step is a short transaction whose result is seen in the database, so that after a kill the
next indexer goes on. See docs/operation.md.
"""

import logging
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from scan.database import connection, errors
from scan.database.transaction import Row
from scan.ethereum.blocks import StoredBody
from scan.ethereum.stored_blocks import DamagedBody, StoredBlock
from scan.indexer import hooks, partitions
from scan.settings import Keep, Settings

log = logging.getLogger(__name__)

CHECK_EVERY_S = 1.0
WAIT_S = 60.0  # longer than any request, and than a process keeps the old decision
REMOVED_TRANSACTIONS = 20_000  # removed in one transaction of the database


class Retention:
    """Removes old rows of one database, for its only writer."""

    def __init__(
        self,
        database: connection.Database,
        keep: Keep | None,
        finality: int,
        wait_s: float = WAIT_S,
    ) -> None:
        """Without `keep`, no more rows are removed."""
        self._wait_s = wait_s
        self._database = database
        self._keep = keep
        self._finality = finality
        self._check_at = 0.0

    def advance(self, head: int) -> None:
        """Take the next step if one is due. The writer calls this between commits, with the newest
        block."""
        if self._keep is None or time.monotonic() < self._check_at:
            return
        try:
            is_more = self.step(head)
        except errors.LockNotGranted as error:  # readers are not kept waiting; it is tried again
            log.info("rows that are not kept stay for now: %s", error)
            is_more = False
        self._check_at = time.monotonic() + (0.0 if is_more else CHECK_EVERY_S)

    def step(self, head: int) -> bool:
        """Take one step, and return whether another can follow at once. Raises LockNotGranted."""
        now = datetime.now(UTC)
        state = self._database.row("indexer/retention_get")
        if state is not None:
            first_block, decided_block, decided_at, removed_to = state
            is_recent = 0 <= (now - decided_at).total_seconds() < self._wait_s
            if is_recent or head < decided_block + self._finality:
                return False
            if removed_to < first_block:
                self._remove(decided_block)
                return True
            if self._drop_partition():
                return True
        return self._keep is not None and self._decide(self._keep, now)

    def _decide(self, keep: Keep, now: datetime) -> bool:
        """Decide at which block lists begin; return whether that has changed."""
        with partitions.locked(self._database) as tx:
            decided = tx.rows(
                "indexer/retention_decide", **keep._asdict(), finality=self._finality, now=now
            )
            if decided:
                tx.execute("indexer/retention_create_index")
                tx.execute("indexer/chain_notify")
                log.info("lists begin at block %d", decided[0][0])
        return bool(decided)

    def _remove(self, decided_block: int) -> None:
        with partitions.locked(self._database) as tx:
            following = tx.row("indexer/retention_get_range", transactions=REMOVED_TRANSACTIONS)
            if following is None:
                return
            tx.execute("indexer/retention_add_items", span=following[0])
            tx.execute("indexer/retention_keep", span=following[0])
            emitting = tx.rows("indexer/retention_list_emitting", span=following[0])
            for number, transactions, emitters in emitting:
                # One at a time: so many blocks can have gigabytes.
                stored = tx.rows(
                    "contracts/block_bodies_list",
                    numbers=[number],
                    most_bytes=0,
                    whatever_size=True,
                )
                indexes = _emitting(number, transactions, emitters, stored)
                tx.execute("indexer/retention_keep_some", block=number, indexes=[*indexes])
            # Blocks up to decided_block are never unwound.
            tx.execute("indexer/retention_remove", span=following[0], final_block=decided_block)

    def _drop_partition(self) -> bool:
        """Drop the oldest partition of a table that is not kept; return whether there was one."""
        for table in partitions.TABLES:
            with partitions.locked(self._database) as tx:
                is_dropped = tx.value("indexer/retention_drop_partition", table=table)
            if is_dropped:
                log.info("the oldest partition of %s is dropped", table)
                return True
        return False


def _emitting(
    number: int, transactions: int, emitters: Sequence[bytes], stored: Sequence[Row]
) -> Collection[int]:
    """Return the indexes of a block's transactions with a log of an emitter: all of them where the
    block is not stored, or damaged."""
    if not stored:
        return range(transactions)
    [(_, _, digest, _, body)] = stored
    try:
        block = StoredBlock(number, StoredBody(bytes(digest), bytes(body)))
        return {
            index
            for address in map(bytes, emitters)
            for index, receipt in block.receipts_with([address])
            if any(emitted.address == address for emitted in receipt.logs or ())
        }
    except DamagedBody as error:
        log.warning("all transactions of a block are kept: %s", error)
        return range(transactions)


def maintenance(database: connection.Database, settings: Settings) -> Retention:
    """Return what the indexer has to do between commits."""
    return Retention(database, settings.keep, settings.finality)


HOOKS = hooks.Maintenance(task=maintenance)
