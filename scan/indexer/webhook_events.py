"""Webhook events, inserted and unwound in the same transaction as their blocks."""

from collections.abc import Sequence
from datetime import UTC, datetime

from scan.database.transaction import Transaction
from scan.indexer.block_rows import WatchedLog
from scan.indexer.hooks import BlockRange

MAX_DATA_BYTES = 16_384  # of a log in its event, as in log_event() of sql/schema
MIB = 1024 * 1024
# Webhooks beyond these bounds are stopped. docs/webhooks.md names the same bounds.
MAX_QUEUE_EVENTS = 10_000
MAX_QUEUE_MIB = 32
MAX_BLOCK_EVENTS = 20_000  # of all webhooks together
MAX_BLOCK_MIB = 8
LIMITS = {
    "queue_events": MAX_QUEUE_EVENTS,
    "queue_bytes": MAX_QUEUE_MIB * MIB,
    "block_events": MAX_BLOCK_EVENTS,
    "block_bytes": MAX_BLOCK_MIB * MIB,
    "queue_events_reason": f"its queue held {MAX_QUEUE_EVENTS:,} undelivered events",
    "queue_bytes_reason": f"its queue held {MAX_QUEUE_MIB} MiB of undelivered events",
    "block_events_reason": "it had the most events of a block with more than are written at once",
    "block_bytes_reason": "it had the most bytes of a block with more than are written at once",
}


def insert(tx: Transaction, written: BlockRange, watched_logs: Sequence[WatchedLog]) -> None:
    """Insert the events of blocks whose rows are written, for all active webhooks that match."""
    if tx.value("indexer/webhooks_find_active"):
        tx.defer("indexer/delivery_ids_advance")
        # The logs as one list for each field, without the data that log_event() would leave out.
        rows = [
            log if len(log.data) <= MAX_DATA_BYTES else (*log[:-1], None) for log in watched_logs
        ]
        columns = zip(*rows, strict=True) if rows else [()] * len(WatchedLog._fields)
        tx.defer(
            "indexer/events_insert",
            now=datetime.now(UTC),
            **written.blocks,
            **written.rows,
            **{
                f"watched_{name}": list(values)
                for name, values in zip(WatchedLog._fields, columns, strict=True)
            },
            **LIMITS,
        )
        # Even if no event matched: a higher head confirms earlier events.
        tx.defer("webhooks/events_notify")


def unwind(tx: Transaction, last_kept: int) -> None:
    """Cancel unsent events of the blocks after `last_kept`, and revoke sent ones."""
    queues = tx.rows("indexer/events_lock_queues", last_kept=last_kept)
    if queues:
        tx.defer("indexer/delivery_ids_advance")
        tx.execute("indexer/events_unwind", last_kept=last_kept, now=datetime.now(UTC))
        tx.execute("webhooks/queues_count_waiting", webhook_ids=[row[0] for row in queues])
        tx.defer("webhooks/events_notify")
