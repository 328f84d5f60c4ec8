"""Webhook events, inserted and unwound in the transaction that does so with their blocks."""

from collections.abc import Sequence
from datetime import UTC, datetime

from scan.database.transaction import Transaction
from scan.indexer.block_range import BlockRange
from scan.indexer.block_rows import WatchedLog

MAX_DATA_BYTES = 16_384  # of a log in its event, as in log_event() of schema.sql


def insert(tx: Transaction, written: BlockRange, watched_logs: Sequence[WatchedLog]) -> None:
    """The events of blocks whose rows are written, for every active webhook they concern."""
    if tx.value("indexer/webhooks_find_active"):
        tx.execute("indexer/delivery_ids_advance")
        tx.execute(
            "indexer/events_insert",
            now=datetime.now(UTC),
            **written.blocks,
            **written.rows,
            **_columns(watched_logs),
        )
        # Also where nothing matched: a higher head confirms what was written before.
        tx.execute("webhooks/events_notify")


def unwind(tx: Transaction, last_kept: int) -> None:
    """Events of blocks after `last_kept`: unsent ones are cancelled, sent ones revoked."""
    queues = tx.rows("indexer/events_lock_queues", last_kept=last_kept)
    if queues:
        tx.execute("indexer/delivery_ids_advance")
        tx.execute("indexer/events_unwind", last_kept=last_kept, now=datetime.now(UTC))
        tx.execute("webhooks/queues_refresh", webhook_ids=[row[0] for row in queues])
        tx.execute("webhooks/events_notify")


def _columns(logs: Sequence[WatchedLog]) -> dict[str, list[object]]:
    """The logs as one list for each field, without the data that log_event() would leave out."""
    rows = [log if len(log.data) <= MAX_DATA_BYTES else (*log[:-1], None) for log in logs]
    columns = zip(*rows, strict=True) if rows else [()] * len(WatchedLog._fields)
    return {
        f"watched_{name}": list(values)
        for name, values in zip(WatchedLog._fields, columns, strict=True)
    }
