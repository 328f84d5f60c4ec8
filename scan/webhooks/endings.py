"""Webhooks that are stopped: by their owners, by operators, and with who made them."""

from datetime import UTC, datetime

from scan.database.connection import Database
from scan.database.transaction import Transaction


def stop(tx: Transaction, webhook_id: int, error: str, shown: str | None = None) -> None:
    """Stop a webhook whose queue is locked: `error` is that of its deliveries, `shown` its own."""
    tx.execute("webhooks/webhooks_deactivate", webhook_id=webhook_id, reason=shown)
    tx.execute(
        "webhooks/deliveries_cancel", webhook_id=webhook_id, now=datetime.now(UTC), error=error
    )
    tx.execute("webhooks/queues_count_waiting", webhook_ids=[webhook_id])


def end(database: Database, webhook_id: int, reason: str) -> None:
    """Stop a webhook that is there for another `reason` than that its owner stops it."""
    with database.transaction() as tx:
        if tx.rows("webhooks/queues_lock", webhook_id=webhook_id):
            stop(tx, webhook_id, reason, shown=reason)


def end_of_former(database: Database, *, needs_key: bool) -> None:
    """End webhooks whose maker has no access any more."""
    for (webhook_id,) in database.rows("webhooks/webhooks_list_ended", needs_key=needs_key):
        end(database, webhook_id, "whoever made the webhook has no access any more")
