"""Queues under a lease: what is due next, and how the attempt before it ended."""

import itertools
import random
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.webhooks.retry_schedule import RETRY_STEPS_S, retry_delay_s
from scan.webhooks.sender import Message, Outcome

LEASE_S = 30.0  # an attempt takes 10 s at most, and the lease is extended before each
QUICK_S = 2.0  # whoever takes longer to say yes is not served from the healthy ones' share
MOST_PER_HOST = 8
MOST_UNHEALTHY_PER_HOST = 4
DELIVERED_KEPT = timedelta(hours=24)
GIVEN_UP_KEPT = timedelta(days=7)
SWEPT_AT_ONCE = 1_000


class Lease(NamedTuple):
    """One holding of a webhook's queue."""

    id: int
    webhook_id: int
    url: str
    secret: str
    is_healthy: bool


class Attempt(NamedTuple):
    """A delivery that has been begun; `attempts` and `was_sent` are of before."""

    message: Message
    attempts: int
    was_sent: bool


class Settled(NamedTuple):
    attempt: Attempt
    outcome: Outcome


def now() -> datetime:
    return datetime.now(UTC)


class Queues:
    """What one delivering process does to the queues; `holder` names it in the database."""

    def __init__(
        self,
        database: Database,
        *,
        confirmations: int,
        finality: int,
        retry_steps_s: tuple[float, ...] = RETRY_STEPS_S,
        lease_s: float = LEASE_S,
    ) -> None:
        self._database = database
        self._confirmations = confirmations
        self._finality = finality
        self._retry_steps_s = retry_steps_s
        self._lease = timedelta(seconds=lease_s)
        self._numbers = itertools.count(random.getrandbits(62))
        self.holder = random.getrandbits(31)

    def claim(self, *, healthy_only: bool, now: datetime) -> Lease | None:
        """The lease of the longest unserved queue that has something due."""
        number = next(self._numbers)
        row = self._database.prepared_row(
            "webhooks/queues_claim",
            now=now,
            confirmations=self._confirmations,
            healthy_only=healthy_only,
            most_per_host=MOST_PER_HOST,
            most_unhealthy_per_host=MOST_UNHEALTHY_PER_HOST,
            lease=number,
            lease_holder=self.holder,
            leased_until=now + self._lease,
        )
        return None if row is None else Lease(number, *row)

    def advance(self, lease: Lease, settled: Settled | None, now: datetime) -> Attempt | None:
        """Note how the last attempt ended and begin the next; None when the lease is over."""
        with self._database.transaction() as tx:
            if not self._settle(tx, lease, settled, now):
                return None
            found = tx.rows(
                "webhooks/deliveries_get_next",
                webhook_id=lease.webhook_id,
                now=now,
                confirmations=self._confirmations,
            )
            if not found:
                _release(tx, lease, now)
                return None
        [(delivery_id, event, body, attempts, was_sent)] = found
        return Attempt(Message(delivery_id, event, body.encode()), attempts, was_sent)

    def release(self, lease: Lease, settled: Settled | None, now: datetime) -> None:
        """Note how the last attempt ended, and leave the rest to the next lease."""
        with self._database.transaction() as tx:
            if self._settle(tx, lease, settled, now):
                _release(tx, lease, now)

    def reap(self, now: datetime) -> int:
        """End the leases of dead processes; how many there were."""
        return len(self._database.rows("webhooks/queues_reap", now=now))

    def sweep(self, now: datetime) -> bool:
        """Remove a batch of what is kept no longer; whether there may be more."""
        removed = self._database.value(
            "webhooks/deliveries_sweep",
            delivered_before=now - DELIVERED_KEPT,
            given_up_before=now - GIVEN_UP_KEPT,
            finality=self._finality,
            limit=SWEPT_AT_ONCE,
        )
        return bool(removed >= SWEPT_AT_ONCE)

    def sweep_ownerless(self) -> None:
        self._database.rows("webhooks/deliveries_sweep_ownerless", limit=SWEPT_AT_ONCE)

    def _settle(
        self, tx: Transaction, lease: Lease, settled: Settled | None, now: datetime
    ) -> bool:
        """Whether the lease still holds, and there is any use in going on."""
        held = tx.rows(
            "webhooks/queues_hold",
            webhook_id=lease.webhook_id,
            lease=lease.id,
            leased_until=now + self._lease,
        )
        if not held:
            return False
        [(is_active,)] = held
        stop = settled is not None and self._ends_webhook(tx, lease, settled, now)
        if stop:
            tx.execute("webhooks/webhooks_deactivate", webhook_id=lease.webhook_id)
        if stop or not is_active:
            reason = "the webhook was deactivated"
            tx.execute(
                "webhooks/deliveries_cancel", webhook_id=lease.webhook_id, now=now, error=reason
            )
            _release(tx, lease, now)
            return False
        return True

    def _ends_webhook(self, tx: Transaction, lease: Lease, settled: Settled, now: datetime) -> bool:
        """Note the outcome; true for 410, or when retries ran out without a success since."""
        (message, attempts, was_sent), outcome = settled
        delay_s = None
        if not outcome.is_success and not outcome.is_gone:
            delay_s = retry_delay_s(
                self._retry_steps_s, attempts + 1, outcome.retry_after_s, random.random()
            )
        status = "delivered" if outcome.is_success else "failed" if delay_s is None else "pending"
        none_since = tx.value(
            "webhooks/deliveries_settle",
            id=message.id,
            webhook_id=lease.webhook_id,
            now=now,
            status=status,
            retry_at=None if delay_s is None else now + timedelta(seconds=delay_s),
            response_code=outcome.response_code,
            error=outcome.error,
            sent=was_sent or outcome.sent,
            is_quick=outcome.seconds < QUICK_S,
        )
        return outcome.is_gone or (status == "failed" and bool(none_since))


def _release(tx: Transaction, lease: Lease, now: datetime) -> None:
    tx.execute("webhooks/queues_refresh", webhook_ids=[lease.webhook_id])
    tx.execute("webhooks/queues_release", webhook_id=lease.webhook_id, now=now)
