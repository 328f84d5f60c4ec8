"""Subscriptions: asked for, confirmed by their mail address, left by one click."""

import secrets
from datetime import UTC, datetime
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import LimitReached, NotFound
from scan.rate_limits.limiter import network_around
from scan.webhooks import registration
from scan.webhooks.registration import Counted, Webhook

URL, HOST = "mail://smtp", "mail"  # of their webhooks; the host's queues are served 8 at a time
MAX_PER_CLIENT_A_DAY = 5
MAX_PER_NETWORK_A_DAY = 20
MAX_PER_MAILBOX_A_DAY = 3
MAX_PER_MAILBOX = 10
MAX_A_DAY = 20_000  # in all, so that they are stored


class Subscription(NamedTuple):
    """`webhook_id` is None until it is confirmed."""

    mail_address: str
    watch_address: bytes
    event_types: list[str]
    webhook_id: int | None


def ask(
    database: Database,
    mail_address: str,
    watch_address: bytes,
    event_types: list[str],
    client_address: str,
) -> None:
    """Store a subscription that is to be confirmed. Raises LimitReached."""
    client = {"client_address": client_address, "network": network_around(client_address)}
    with database.transaction() as tx:
        tx.execute("webhooks/mail_subscriptions_lock")
        [(by_client, by_network, by_mailbox, in_all, confirmed, is_refused)] = tx.rows(
            "webhooks/mail_subscriptions_count", mail_address=mail_address, now=_now(), **client
        )
        is_client_full = by_client >= MAX_PER_CLIENT_A_DAY or by_network >= MAX_PER_NETWORK_A_DAY
        if is_client_full or in_all >= MAX_A_DAY:
            raise LimitReached("Too many were asked for today; try again tomorrow.")
        is_full = by_mailbox >= MAX_PER_MAILBOX_A_DAY or confirmed >= MAX_PER_MAILBOX
        if is_full or is_refused:  # in the same words: it is nobody else's business which
            raise LimitReached("This mail address can have no more today.")
        tx.execute(
            "webhooks/mail_subscriptions_insert",
            token=secrets.token_urlsafe(24),
            mail_address=mail_address,
            watch_address=watch_address,
            event_types=event_types,
            now=_now(),
            **client,
        )


def get(database: Database, token: str) -> Subscription:
    """Return the subscription of a token; raises NotFound."""
    row = database.row("webhooks/mail_subscriptions_get", token=token)
    if row is None:
        raise NotFound("There is no such subscription: it has ended, or the link is too old.")
    mail_address, watch_address, event_types, webhook_id = row
    return Subscription(mail_address, bytes(watch_address), event_types, webhook_id)


def confirm(database: Database, token: str) -> Subscription:
    """Confirm a subscription, whose webhook is then registered. The owner is a random address, so
    that nobody can name it. Raises NotFound, LimitReached."""
    with database.transaction() as tx:
        tx.execute("webhooks/mail_subscriptions_lock")
        subscription = get(database, token)
        if subscription.webhook_id is not None:
            return subscription
        counted = Counted(secrets.token_bytes(20), subscription.watch_address, None)
        registration.lock_counts(tx, counted)
        registration.require_below_limits(tx, counted)
        webhook_id = 1 + secrets.randbelow(registration.MAX_ID)
        tx.execute(
            "webhooks/webhooks_insert",
            id=webhook_id,
            url=URL,
            host=HOST,
            event_types=subscription.event_types,
            topics=None,
            secret=token,
            now=_now(),
            **counted._asdict(),
        )
        tx.execute("webhooks/mail_subscriptions_confirm", token=token, webhook_id=webhook_id)
    return subscription._replace(webhook_id=webhook_id)


def leave(database: Database, token: str) -> None:
    """End a subscription. Where it was not confirmed, the mail address is not asked again. A token
    that is unknown has been left before."""
    try:
        subscription = get(database, token)
    except NotFound:
        return
    if subscription.webhook_id is None:
        with database.transaction() as tx:
            tx.execute("webhooks/mail_subscriptions_refuse", token=token)
        return
    row = database.row(
        "webhooks/webhooks_get_owner", webhook_id=subscription.webhook_id, secret_digest=None
    )
    if row is not None:
        owner, watch_address, is_active, *_ = row
        webhook = Webhook(subscription.webhook_id, bytes(owner), bytes(watch_address), is_active)
        registration.delete(database, webhook)


def _now() -> datetime:
    return datetime.now(UTC)
