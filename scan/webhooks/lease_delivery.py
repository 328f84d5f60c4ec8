"""The deliveries of one lease: attempt after attempt, each recorded before the next begins."""

import logging
import threading
import time
from typing import NamedTuple

from scan.errors import ScanError
from scan.observability import metrics
from scan.webhooks.queues import DeliveryQueues, FinishedAttempt, Lease, now
from scan.webhooks.sender import Outcome, ReceiverConnection, Sender

log = logging.getLogger(__name__)


class Burst(NamedTuple):
    """How much is done under one lease; then other queues have their turn."""

    attempts: int = 50
    seconds: float = 5.0


class LeaseDelivery(NamedTuple):
    """`stopping` ends it after the attempt under way."""

    queues: DeliveryQueues
    sender: Sender
    burst: Burst
    stopping: threading.Event

    def serve(self, lease: Lease) -> None:
        """Top of a thread's work: no fault here may cost the dispatcher a thread."""
        try:
            with self.sender.connection(
                lease.url, lease.secret, is_healthy=lease.is_healthy
            ) as connection:
                self._deliver(lease, connection)
        except ScanError as error:
            log.warning("webhook %s: %s", lease.webhook_id, error)
        except Exception:
            log.exception("webhook %s: unexpected error", lease.webhook_id)

    def _deliver(self, lease: Lease, connection: ReceiverConnection) -> None:
        """One delivery after the other, until nothing is due or the burst is over."""
        finished: FinishedAttempt | None = None
        give_way_at = time.monotonic() + self.burst.seconds
        for _ in range(self.burst.attempts):
            if self.stopping.is_set() or time.monotonic() > give_way_at:
                break
            attempt = self.queues.advance(lease, finished, now())
            if attempt is None:
                return
            outcome = connection.post(attempt.message, now())
            unsuccessful = "refused" if outcome.response_code else "failed"
            result = "delivered" if outcome.is_success else unsuccessful
            metrics.DELIVERY_ATTEMPTS.labels(result).inc()
            metrics.DELIVERY_SECONDS.observe(outcome.seconds)
            if outcome.error is not None and self.sender.deadlines.is_closed:
                finished = None  # it was this process that ended the connection
                break
            if not outcome.is_success:
                _log_failure(lease, attempt.message.id, outcome)
            finished = FinishedAttempt(attempt, outcome)
        self.queues.release(lease, finished, now())


def _log_failure(lease: Lease, delivery_id: int, outcome: Outcome) -> None:
    """The host alone: paths and queries of receivers often hold credentials."""
    reason = outcome.error or f"answered {outcome.response_code}"
    host = lease.url.split("/")[2]
    log.info("delivery %s of webhook %s to %s: %s", delivery_id, lease.webhook_id, host, reason)
