"""Webhook events, inserted and unwound in the transaction that does so with their blocks."""

from datetime import UTC, datetime

from scan.database.transaction import Transaction
from scan.indexer.block_range import BlockRange


def insert(tx: Transaction, written: BlockRange) -> None:
    """The events of blocks whose rows are written, for every active webhook they concern."""
    if tx.value("indexer/webhooks_find_active"):
        tx.execute("indexer/delivery_ids_advance")
        tx.execute(
            "indexer/events_insert",
            now=datetime.now(UTC),
            **written.blocks,
            **written.transactions,
            **written.transfers,
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
