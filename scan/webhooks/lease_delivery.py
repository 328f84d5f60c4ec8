"""The deliveries of one lease, one attempt after the other, recorded before the next begins."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple, Protocol

from scan.errors import ScanError
from scan.observability import metrics
from scan.webhooks.queues import DeliveryQueues, FinishedAttempt, Lease, now
from scan.webhooks.sender import Message, Outcome, Sender

log = logging.getLogger(__name__)


class Connection(Protocol):
    """Delivers what a lease has, one after the other."""

    def post(self, message: Message, now: datetime, /) -> Outcome: ...


Connect = Callable[[Lease], AbstractContextManager[Connection]]


class Burst(NamedTuple):
    """The bounds of one lease, after which other queues have their turn."""

    attempts: int = 50
    seconds: float = 5.0


class LeaseDelivery(NamedTuple):
    """Serves leases. `stopping` ends a lease after its current attempt; `connects` are what
    extensions deliver by, by the URL's scheme."""

    queues: DeliveryQueues
    sender: Sender
    burst: Burst
    stopping: threading.Event
    connects: Mapping[str, Connect] = MappingProxyType({})

    def serve(self, lease: Lease) -> None:
        """Serve a lease, as the target of a thread: errors are logged, so that the thread stays."""
        try:
            with self._connection(lease) as connection:
                self._deliver(lease, connection)
        except ScanError as error:
            log.warning("webhook %s: %s", lease.webhook_id, error)
        except Exception:
            log.exception("webhook %s: unexpected error", lease.webhook_id)

    def _connection(self, lease: Lease) -> AbstractContextManager[Connection]:
        connect = self.connects.get(lease.url.partition(":")[0])
        if connect is not None:
            return connect(lease)
        return self.sender.connection(lease.url, lease.secret, is_healthy=lease.is_healthy)

    def _deliver(self, lease: Lease, connection: Connection) -> None:
        """Send one delivery after the other, until none is due or the burst is over."""
        finished: FinishedAttempt | None = None
        burst_ends_at = time.monotonic() + self.burst.seconds
        for _ in range(self.burst.attempts):
            if self.stopping.is_set() or time.monotonic() > burst_ends_at:
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
                finished = None  # this process closed the connection
                break
            if not outcome.is_success:
                # Logs only the host: paths and query strings of receivers often contain
                # credentials.
                reason = outcome.error or f"HTTP {outcome.response_code}"
                host = lease.url.split("/")[2]
                log.info(
                    "delivery %s of webhook %s to %s: %s",
                    attempt.message.id,
                    lease.webhook_id,
                    host,
                    reason,
                )
            finished = FinishedAttempt(attempt, outcome)
        self.queues.release(lease, finished, now())
