"""Delivery queues, which are served under leases: claims, recorded attempts, the next due one, and
when a failed delivery is tried again.
"""

import itertools
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scan.database.connection import Database
from scan.webhooks.sender import Message, Outcome

RETRY_STEPS_S = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
JITTER = 0.2  # ±20 % of a step, so that retries after an outage do not all come at once
LEASE_S = 30.0  # an attempt takes at most 10 s, and the lease is extended before each
QUICK_S = 2.0  # a receiver that takes longer to respond is not healthy
MAX_JOINED = 10  # deliveries in one message
MAX_PER_HOST = 8
MAX_UNHEALTHY_PER_HOST = 4
DELIVERED_KEPT = timedelta(hours=24)
UNDELIVERED_KEPT = timedelta(days=7)
DELETE_BATCH = 1_000
GONE = "the receiver returned 410"
OUT_OF_RETRIES = "a delivery failed after all retries, and no other succeeded meanwhile"


def retry_delay_s(
    steps_s: tuple[float, ...], failures: int, requested_s: float | None, chance: float
) -> float | None:
    """Return the seconds until the next attempt after this many failures; None if no retry is left.

    `requested_s` is the receiver's Retry-After, honoured up to twice the step. `chance` is a random
    number between 0 and 1.
    """
    if failures > len(steps_s):
        return None
    step_s = steps_s[failures - 1]
    delay_s = step_s * (1 - JITTER + 2 * JITTER * chance)
    if requested_s is None:
        return delay_s
    return max(delay_s, min(requested_s, 2 * step_s))


class Attempt(NamedTuple):
    """An attempt that has begun; `attempts` and `was_sent` do not include it."""

    message: Message
    attempts: int
    was_sent: bool


class FinishedAttempt(NamedTuple):
    attempt: Attempt
    outcome: Outcome


class Lease(NamedTuple):
    """A lease of a webhook's queue, under which attempts of its `first` deliveries have begun, of
    several where they are sent as one message. None have where the webhook was stopped, or another
    process has just served the queue."""

    id: int
    webhook_id: int
    url: str
    format: str | None
    secrets: Sequence[str]  # its secret, then former ones that still sign
    is_healthy: bool
    first: Sequence[Attempt]


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
        rows = self._database.rows(
            "webhooks/deliveries_claim_due",
            now=now,
            confirmations=self._confirmations,
            healthy_only=healthy_only,
            max_per_host=MAX_PER_HOST,
            max_unhealthy_per_host=MAX_UNHEALTHY_PER_HOST,
            lease=lease_id,
            lease_holder=self.holder,
            leased_until=now + self._lease,
            most_joined=MAX_JOINED,
        )
        if not rows:
            return None
        webhook_id, url, format_, secrets, is_healthy, *_ = rows[0]
        attempts = _attempts(row[5:] for row in rows)
        return Lease(lease_id, webhook_id, url, format_, secrets, is_healthy, attempts)

    def settle(
        self,
        lease: Lease,
        finished: Sequence[FinishedAttempt],
        now: datetime,
        *,
        goes_on: bool = True,
        pause_s: float = 0.0,
    ) -> list[Attempt]:
        """Record the last attempts, and begin the next where it `goes_on`. Return none, and end the
        lease, if none is due, the webhook is stopped or changed, or the lease is no longer valid;
        the queue is not served before `pause_s` are over."""
        webhook = {"webhook_id": lease.webhook_id}
        held = {**webhook, "lease": lease.id, "now": now}
        error = "the webhook was deactivated"
        calls: list[tuple[str, dict[str, Any]]] = [("webhooks/queues_lock", webhook)]
        calls += [
            ("webhooks/deliveries_settle", held | self._settlement(attempt, now))
            for attempt in finished
        ]
        calls.append(("webhooks/deliveries_cancel", {**webhook, "now": now, "error": error}))
        rows = self._database.rows(
            "webhooks/deliveries_begin_next",
            *calls,
            **held,
            confirmations=self._confirmations,
            leased_until=now + self._lease,
            goes_on=goes_on,
            released_until=now + timedelta(seconds=pause_s),
            most_joined=MAX_JOINED,
            url=lease.url,
            format=lease.format,
            secrets=lease.secrets,
        )
        return _attempts(rows)

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

    def _settlement(self, finished: FinishedAttempt, now: datetime) -> dict[str, Any]:
        """Return what deliveries_settle takes of an outcome. The webhook is stopped by a response
        410, or where no retry is left and there was no success since."""
        (message, attempts, was_sent), outcome = finished
        delay_s = None
        if not outcome.is_success and not outcome.is_gone:
            delay_s = retry_delay_s(
                self._retry_steps_s, attempts + 1, outcome.retry_after_s, random.random()
            )
        status = "delivered" if outcome.is_success else "failed" if delay_s is None else "pending"
        stop_reason = GONE if outcome.is_gone else OUT_OF_RETRIES
        return {
            "id": message.id,
            "attempts": attempts,
            "status": status,
            "retry_at": None if delay_s is None else now + timedelta(seconds=delay_s),
            "response_code": outcome.response_code,
            "error": outcome.error,
            "sent": was_sent or outcome.sent,
            "is_quick": outcome.seconds < QUICK_S,
            "is_gone": outcome.is_gone,
            "stop_reason": stop_reason if status == "failed" else None,
        }


def _attempts(rows: Iterable[Sequence[Any]]) -> list[Attempt]:
    """Return the attempts that a statement has begun, in the order of their deliveries."""
    return [
        Attempt(Message(delivery_id, event, body.encode()), attempts, was_sent)
        for delivery_id, event, body, attempts, was_sent in sorted(
            rows, key=lambda row: row[0] or 0
        )
        if delivery_id is not None
    ]
