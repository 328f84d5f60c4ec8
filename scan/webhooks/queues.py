"""Delivery queues, which are served under leases: claims, recorded attempts, the next due one."""

import itertools
import random
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.webhooks.retry_schedule import RETRY_STEPS_S, retry_delay_s
from scan.webhooks.sender import Message, Outcome

LEASE_S = 30.0  # an attempt takes at most 10 s, and the lease is extended before each
QUICK_S = 2.0  # a receiver that takes longer to respond is not healthy
MAX_PER_HOST = 8
MAX_UNHEALTHY_PER_HOST = 4
DELIVERED_KEPT = timedelta(hours=24)
UNDELIVERED_KEPT = timedelta(days=7)
DELETE_BATCH = 1_000


class Lease(NamedTuple):
    """A lease of a webhook's queue."""

    id: int
    webhook_id: int
    url: str
    secret: str
    is_healthy: bool


class Attempt(NamedTuple):
    """An attempt that has begun; `attempts` and `was_sent` do not include it."""

    message: Message
    attempts: int
    was_sent: bool


class FinishedAttempt(NamedTuple):
    attempt: Attempt
    outcome: Outcome


def now() -> datetime:
    return datetime.now(UTC)


class DeliveryQueues:
    """The queues for one dispatcher, identified in the database by `holder`."""

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
        self._lease_ids = itertools.count(random.getrandbits(62))
        self.holder = random.getrandbits(31)

    def claim(self, *, healthy_only: bool, now: datetime) -> Lease | None:
        """Lease the queue with a due delivery that was served the longest time ago; return None
        without one."""
        lease_id = next(self._lease_ids)
        row = self._database.prepared_row(
            "webhooks/queues_claim",
            now=now,
            confirmations=self._confirmations,
            healthy_only=healthy_only,
            max_per_host=MAX_PER_HOST,
            max_unhealthy_per_host=MAX_UNHEALTHY_PER_HOST,
            lease=lease_id,
            lease_holder=self.holder,
            leased_until=now + self._lease,
        )
        return None if row is None else Lease(lease_id, *row)

    def advance(
        self, lease: Lease, finished: FinishedAttempt | None, now: datetime
    ) -> Attempt | None:
        """Record the last attempt and begin the next. Return None, and end the lease, if none is
        due or the lease is no longer valid."""
        with self._database.transaction() as tx:
            if not self._record(tx, lease, finished, now):
                return None
            rows = tx.rows(
                "webhooks/deliveries_claim_next",
                webhook_id=lease.webhook_id,
                now=now,
                confirmations=self._confirmations,
            )
            if not rows:
                _release(tx, lease, now)
                return None
        [(delivery_id, event, body, attempts, was_sent)] = rows
        return Attempt(Message(delivery_id, event, body.encode()), attempts, was_sent)

    def release(self, lease: Lease, finished: FinishedAttempt | None, now: datetime) -> None:
        """Record the last attempt and end the lease."""
        with self._database.transaction() as tx:
            if self._record(tx, lease, finished, now):
                _release(tx, lease, now)

    def end_dead_leases(self, now: datetime) -> int:
        """End the leases of dead processes, and return their number."""
        return len(self._database.rows("webhooks/queues_end_dead_leases", now=now))

    def delete_old(self, now: datetime) -> bool:
        """Delete a batch of old deliveries, and return whether there may be more."""
        removed = self._database.value(
            "webhooks/deliveries_delete_old",
            delivered_before=now - DELIVERED_KEPT,
            given_up_before=now - UNDELIVERED_KEPT,
            finality=self._finality,
            limit=DELETE_BATCH,
        )
        return bool(removed >= DELETE_BATCH)

    def delete_ownerless(self) -> None:
        self._database.rows("webhooks/deliveries_delete_ownerless", limit=DELETE_BATCH)

    def _record(
        self, tx: Transaction, lease: Lease, finished: FinishedAttempt | None, now: datetime
    ) -> bool:
        """Record an attempt. Return whether the lease is still valid and the webhook active."""
        leases = tx.rows(
            "webhooks/queues_extend_lease",
            webhook_id=lease.webhook_id,
            lease=lease.id,
            leased_until=now + self._lease,
        )
        if not leases:
            return False
        [(is_active,)] = leases
        reason = None if finished is None else self._record_outcome(tx, lease, finished, now)
        if reason is not None:
            tx.execute("webhooks/webhooks_deactivate", webhook_id=lease.webhook_id, reason=reason)
        if reason is None and is_active:
            return True
        error = "the webhook was deactivated"
        tx.execute("webhooks/deliveries_cancel", webhook_id=lease.webhook_id, now=now, error=error)
        _release(tx, lease, now)
        return False

    def _record_outcome(
        self, tx: Transaction, lease: Lease, finished: FinishedAttempt, now: datetime
    ) -> str | None:
        """Record an outcome. Return the reason to stop the webhook, None to go on: a response 410,
        or no retry left and no success since."""
        (message, attempts, was_sent), outcome = finished
        delay_s = None
        if not outcome.is_success and not outcome.is_gone:
            delay_s = retry_delay_s(
                self._retry_steps_s, attempts + 1, outcome.retry_after_s, random.random()
            )
        status = "delivered" if outcome.is_success else "failed" if delay_s is None else "pending"
        none_since = tx.value(
            "webhooks/deliveries_record_attempt",
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
        if outcome.is_gone:
            return "the receiver returned 410"
        if status == "failed" and none_since:
            return "a delivery failed after all retries, and no other succeeded meanwhile"
        return None


def _release(tx: Transaction, lease: Lease, now: datetime) -> None:
    tx.execute("webhooks/queues_count_waiting", webhook_ids=[lease.webhook_id])
    tx.execute("webhooks/queues_end_lease", webhook_id=lease.webhook_id, now=now)
