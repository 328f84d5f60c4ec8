"""The pool: one dispatcher that claims queues, and threads that serve a queue each."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import ScanError
from scan.observability import metrics
from scan.settings import Network, Settings
from scan.webhooks.deadlines import Watchdog
from scan.webhooks.queues import Lease, Queues, Settled, now
from scan.webhooks.retry_schedule import RETRY_STEPS_S
from scan.webhooks.sender import Limits, Outcome, Receiver, tls_context

log = logging.getLogger(__name__)

GRACE_S = 3.0  # for attempts under way when we are told to stop
PAUSE_S = 1.0  # after a fault of the database
REAP_EVERY_S = 2.0
SWEEP_EVERY_S = 60.0
SWEEP_OWNERLESS_EVERY_S = 3600.0


class Shape(NamedTuple):
    """How much is done at once, and how often things are looked after without being told."""

    threads: int = 20
    reserved: int = 8  # threads that serve healthy receivers only
    burst: int = 50  # attempts under one lease, then others have their turn
    burst_s: float = 5.0
    poll_s: float = 1.0
    retry_steps_s: tuple[float, ...] = RETRY_STEPS_S
    limits: Limits = Limits()


class Pool:
    """Delivers what the outbox holds, together with any number of other pools.

    Receivers that are slow, failing or new never hold more than the threads that are not
    reserved, so those that answer well are served whatever the others do.
    """

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        self._shape = shape or Shape()
        # It would log whole urls of receivers that answer oddly.
        logging.getLogger("urllib3").setLevel(logging.ERROR)
        self._allowed: Sequence[Network] = settings.webhook_allow_networks
        self._context = tls_context(settings.ca_bundle)
        self._listener = Database(
            settings.database_url,
            statement_timeout_ms=30_000,
            name="scan-listen",
            channel="scan_outbox",
        )
        # Events are the indexer's to keep. What is lost here is told again; waiting for the disk
        # took 4 of the 7 ms that lie between two attempts.
        self._database = Database(
            settings.database_url,
            statement_timeout_ms=30_000,
            name="scan-deliver",
            session="-c synchronous_commit=off -c idle_in_transaction_session_timeout=10s",
        )
        self._queues = Queues(
            self._database,
            confirmations=settings.confirmations,
            finality=settings.finality,
            retry_steps_s=self._shape.retry_steps_s,
        )
        self._stopping = threading.Event()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._lock = threading.Lock()
        self._serving = 0
        self._serving_unhealthy = 0
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Deliver in threads of this process until stop()."""
        self._thread = threading.Thread(target=self.run, name="deliver", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Attempts under way get a moment to end; then all leases are given back."""
        self.request_stop()
        if self._thread is not None:
            self._thread.join()

    def request_stop(self) -> None:
        """Safe in a signal handler."""
        self._stopping.set()
        self._wake()

    def run(self) -> None:
        """Until told to stop; every fault of the database is logged, waited out and retried."""
        self._watchdog = Watchdog()
        self._due = _Due()
        executor = ThreadPoolExecutor(self._shape.threads, "deliver")
        try:
            while not self._stopping.is_set():
                try:
                    self._announce()
                    while not self._stopping.is_set():
                        self._dispatch(executor)
                        self._look_after()
                        self._listener.wait(self._shape.poll_s, self._wake_read)
                        self._drain()
                except ScanError as error:
                    log.warning("deliveries pause: %s", error)
                    self._stopping.wait(PAUSE_S)
        finally:
            self._finish(executor)

    def _announce(self) -> None:
        self._listener.close()
        self._listener.rows("webhooks/deliverers_register", lease_holder=self._queues.holder)

    def _dispatch(self, executor: ThreadPoolExecutor) -> None:
        """Claim queues for every thread that is free."""
        while not self._stopping.is_set() and self._serving < self._shape.threads:
            lease = self._claim()
            if lease is None:
                return
            with self._lock:
                self._serving += 1
                self._serving_unhealthy += not lease.is_healthy
            executor.submit(self._serve, lease)

    def _claim(self) -> Lease | None:
        """Healthy ones first, unless nobody serves the others; those within their share only."""
        unhealthy = self._serving_unhealthy
        lease = self._queues.claim(healthy_only=True, now=now()) if unhealthy else None
        if lease is None and unhealthy < self._shape.threads - self._shape.reserved:
            lease = self._queues.claim(healthy_only=False, now=now())
        return lease

    def _look_after(self) -> None:
        if self._due.is_due("reap", REAP_EVERY_S) and self._queues.reap(now()):
            self._wake()
        if self._due.is_due("sweep", SWEEP_EVERY_S) and self._queues.sweep(now()):
            self._due.again("sweep")
        if self._due.is_due("sweep ownerless", SWEEP_OWNERLESS_EVERY_S):
            self._queues.sweep_ownerless()

    def _serve(self, lease: Lease) -> None:
        """Top of a thread's work: nothing that happens here may cost the pool a thread."""
        try:
            with self._receiver(lease) as receiver:
                self._deliver(lease, receiver)
        except ScanError as error:
            log.warning("webhook %s: %s", lease.webhook_id, error)
        except Exception:
            log.exception("webhook %s could not be served", lease.webhook_id)
        finally:
            with self._lock:
                self._serving -= 1
                self._serving_unhealthy -= not lease.is_healthy
            self._wake()

    def _receiver(self, lease: Lease) -> Receiver:
        return Receiver(
            lease.url,
            lease.secret,
            watchdog=self._watchdog,
            context=self._context,
            allowed=self._allowed,
            limits=self._shape.limits,
        )

    def _deliver(self, lease: Lease, receiver: Receiver) -> None:
        """One delivery after the other, until nothing is due or others should have their turn."""
        settled: Settled | None = None
        give_way_at = time.monotonic() + self._shape.burst_s
        for _ in range(self._shape.burst):
            if self._stopping.is_set() or time.monotonic() > give_way_at:
                break
            attempt = self._queues.advance(lease, settled, now())
            if attempt is None:
                return
            outcome = receiver.post(attempt.message, now())
            _count(outcome)
            if outcome.error is not None and self._watchdog.is_closed:
                settled = None  # it was we who hung up
                break
            if not outcome.is_success:
                _tell(lease, attempt.message.id, outcome)
            settled = Settled(attempt, outcome)
        self._queues.release(lease, settled, now())

    def _finish(self, executor: ThreadPoolExecutor) -> None:
        give_up_at = time.monotonic() + GRACE_S
        while self._serving and time.monotonic() < give_up_at:
            time.sleep(0.02)
        self._watchdog.close()
        executor.shutdown(wait=True)
        self._listener.close()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"w")

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 65536)


class _Due:
    """When things that recur were last done."""

    def __init__(self) -> None:
        self._done_at: dict[str, float] = {}

    def is_due(self, name: str, every_s: float) -> bool:
        moment = time.monotonic()
        if moment - self._done_at.get(name, float("-inf")) < every_s:
            return False
        self._done_at[name] = moment
        return True

    def again(self, name: str) -> None:
        self._done_at.pop(name)


def _count(outcome: Outcome) -> None:
    answered = "refused" if outcome.response_code else "failed"
    metrics.DELIVERY_ATTEMPTS.labels("delivered" if outcome.is_success else answered).inc()
    metrics.DELIVERY_SECONDS.observe(outcome.seconds)


def _tell(lease: Lease, delivery_id: int, outcome: Outcome) -> None:
    """The host alone: paths and queries of receivers often hold credentials."""
    reason = outcome.error or f"answered {outcome.response_code}"
    host = lease.url.split("/")[2]
    log.info("delivery %s of webhook %s to %s: %s", delivery_id, lease.webhook_id, host, reason)
