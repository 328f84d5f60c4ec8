"""An owner's webhooks, and actions on one: stop, activate, delete, test, retry a delivery.

A webhook is managed with a key of its owner, with its secret, or from the client address that
registered it, as long as the owner has never had a key. Others see its URL without the path.
"""

from datetime import UTC, datetime
from typing import NamedTuple

from scan.accounts.owner_authorization import Requester, require_owner
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.errors import InvalidParameter, NotFound, OwnerMismatch
from scan.settings import Settings
from scan.webhooks.registration import counted_for, lock_counts, require_below_limits


class Webhook(NamedTuple):
    """A webhook that the requester may act on."""

    id: int
    owner: bytes
    watch_address: bytes
    is_active: bool
    client_address: str | None = None  # that it is counted for


def webhooks_of(database: Database, settings: Settings, requester: Requester, owner: bytes) -> str:
    """Return the JSON text of an owner's webhooks, with the whole URLs of those that the requester
    may act on. Raises MissingApiKey, OwnerMismatch."""
    require_owner(database, owner, requester, settings.owner_auth)
    text: str = database.value(
        "webhooks/webhooks_list",
        owner=owner,
        is_owner=settings.owner_auth == "never" or requester.has_key_of(owner),
        client_address=requester.own_address,
        secret_digest=requester.secret_digest,
    )
    return text


def managed_webhook(
    database: Database, settings: Settings, requester: Requester, webhook_id: int
) -> Webhook:
    """Return a webhook that the requester may act on. Raises NotFound, also to a key that is not
    its claimed owner's; MissingApiKey if a key is required and none was sent; OwnerMismatch."""
    row = database.row(
        "webhooks/webhooks_get_owner", webhook_id=webhook_id, secret_digest=requester.secret_digest
    )
    if row is None:
        raise _not_found()
    owner, watch_address, is_active, registered_from, has_secret = row
    webhook = Webhook(webhook_id, bytes(owner), bytes(watch_address), is_active, registered_from)
    if has_secret or requester.has_key_of(webhook.owner):
        return webhook
    try:
        require_owner(database, webhook.owner, requester, settings.owner_auth)
    except OwnerMismatch:
        raise _not_found() from None
    is_registrant = requester.own_address is not None and requester.own_address == registered_from
    if settings.owner_auth != "never" and not is_registrant:
        raise OwnerMismatch(
            "This webhook is changed with its secret in the X-Webhook-Secret header, with an API"
            " key of its owner, or from the address that registered it."
        )
    return webhook


def delete(database: Database, webhook: Webhook) -> None:
    with database.transaction() as tx:
        _stop(tx, webhook, "the webhook was deleted")
        tx.execute("webhooks/webhooks_delete", webhook_id=webhook.id)


def stop(database: Database, webhook: Webhook) -> None:
    """Stop a webhook and cancel its pending deliveries."""
    with database.transaction() as tx:
        _stop(tx, webhook, "the webhook was deactivated")


def activate(
    database: Database, settings: Settings, requester: Requester, webhook: Webhook
) -> None:
    """Activate a webhook. Raises LimitReached by the same limits as a registration."""
    counted = counted_for(webhook.owner, webhook.watch_address, requester, settings)
    if counted.client_address is not None:
        counted = counted._replace(client_address=webhook.client_address)
    with database.transaction() as tx:
        lock_counts(tx, counted)
        _lock(tx, webhook)
        [state] = tx.rows("webhooks/webhooks_get_owner", webhook_id=webhook.id, secret_digest=None)
        if not state[2]:
            require_below_limits(tx, counted)
            tx.execute(
                "webhooks/webhooks_activate",
                webhook_id=webhook.id,
                client_address=counted.client_address,
            )


def send_test(database: Database, webhook: Webhook) -> int:
    """Queue a test event and return the id of its delivery."""
    _require_active(webhook)
    with database.transaction() as tx:
        _lock(tx, webhook)
        delivery_id = tx.value("webhooks/deliveries_insert_test", webhook_id=webhook.id, now=_now())
        _refresh_queue(tx, webhook)
    return int(delivery_id)


def retry(database: Database, webhook: Webhook, delivery_id: int) -> None:
    """Queue a delivery again. Raises NotFound for another webhook's delivery, InvalidParameter
    where the webhook is not active or the event's block is orphaned."""
    _require_active(webhook)
    with database.transaction() as tx:
        _lock(tx, webhook)
        rows = tx.rows(
            "webhooks/deliveries_retry", id=delivery_id, webhook_id=webhook.id, now=_now()
        )
        if not rows:
            raise NotFound("This webhook has no delivery with this id.")
        [(is_orphaned,)] = rows
        if is_orphaned:
            raise InvalidParameter("The block of this event is no longer part of the chain.")
        _refresh_queue(tx, webhook)


def _require_active(webhook: Webhook) -> None:
    if not webhook.is_active:
        raise InvalidParameter('This webhook is not active; PATCH it with {"active": true} first.')


def _lock(tx: Transaction, webhook: Webhook) -> None:
    """Lock a webhook's queue. Raises NotFound if the webhook was deleted in the meantime."""
    if not tx.rows("webhooks/queues_lock", webhook_id=webhook.id):
        raise _not_found()


def _stop(tx: Transaction, webhook: Webhook, reason: str) -> None:
    _lock(tx, webhook)
    tx.execute("webhooks/webhooks_deactivate", webhook_id=webhook.id, reason=None)
    tx.execute("webhooks/deliveries_cancel", webhook_id=webhook.id, now=_now(), error=reason)
    tx.execute("webhooks/queues_count_waiting", webhook_ids=[webhook.id])


def _refresh_queue(tx: Transaction, webhook: Webhook) -> None:
    tx.execute("webhooks/queues_count_waiting", webhook_ids=[webhook.id])
    tx.execute("webhooks/events_notify")


def _not_found() -> NotFound:
    return NotFound("No webhook has this id.")


def _now() -> datetime:
    return datetime.now(UTC)
