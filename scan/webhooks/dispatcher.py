"""The dispatcher claims queues with deliveries due; each of its threads serves one queue."""

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.notifications import Listener, Waker
from scan.database.outages import log_pause
from scan.observability import metrics
from scan.outbound.http_client import AttemptDeadlines, AttemptTimeouts, Outbound, tls_context
from scan.settings import Settings
from scan.webhooks import endings, queues, sender
from scan.webhooks.messages import FORMATS, Summaries
from scan.webhooks.queues import DeliveryQueues, FinishedAttempt, Lease, now

log = logging.getLogger(__name__)

CHANNEL = "scan_outbox"
PAUSE_S = 1.0  # after a database error
DEAD_LEASES_EVERY_S = 2.0  # as those of former makers: docs promise 5 s
OLD_DELIVERIES_EVERY_S = 60.0
OWNERLESS_EVERY_S = 3600.0
MAX_PAUSE_S = 3600.0  # that a receiver of messages asks for


class DispatcherOptions(NamedTuple):
    """The dispatcher's threads, bursts, retries and time-outs, and how often it polls the database
    without a notification."""

    threads: int = 20
    threads_for_healthy: int = 8
    burst_attempts: int = 50  # of one lease, after which other queues have their turn
    burst_s: float = 5.0
    poll_s: float = 1.0
    retry_steps_s: tuple[float, ...] = queues.RETRY_STEPS_S
    timeouts: AttemptTimeouts = AttemptTimeouts()
    grace_s: float = 3.0  # for attempts in progress when the dispatcher stops


class Dispatcher:
    """Delivers due events from the queues, which any number of dispatchers share.

    Some threads are reserved for healthy receivers, so that slow, failing and new ones cannot take
    all. The session that listens also shows other dispatchers that this one is alive.
    """

    def __init__(
        self,
        settings: Settings,
        options: DispatcherOptions | None = None,
        *,
        coin_symbols: str = "",
        summaries: Summaries = lambda blocks: {},
    ) -> None:
        """`coin_symbols`: JSON of chain ids and the symbols of their coins."""
        self._summaries = summaries
        self._options = options = options or DispatcherOptions()
        context, networks = tls_context(settings.ca_bundle), settings.webhook_allow_networks
        self._outbound = Outbound(AttemptDeadlines(), context, networks, options.timeouts)
        # Commits are synchronous: an attempt is on disk before it is sent. Measured on a busy disk,
        # at 4 ms a commit: 420 events/s to ten webhooks instead of 500 to 780.
        session = {
            "synchronous_commit": "on",
            "idle_in_transaction_session_timeout": "10s",
            "scan.coin_symbol": settings.coin_symbol,
            "scan.coin_symbols": coin_symbols,
        }
        origin = settings.public_url or settings.brand.url
        self._pages = origin and f"{origin}{settings.base_path}"
        self._database = database = Database(
            settings.database_url, statement_timeout_ms=30_000, name="scan-deliver", session=session
        )
        self._needs_key = settings.needs_key
        self._queues = DeliveryQueues(
            database,
            confirmations=settings.confirmations,
            finality=settings.finality,
            retry_steps_s=options.retry_steps_s,
        )
        listening = Database(settings.database_url, statement_timeout_ms=30_000, name="scan-listen")
        self._listener = Listener(listening, CHANNEL)
        self._waker = Waker()
        self._serving: Counter[bool] = Counter()  # leases that are served now, by their health
        self._serving_lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Deliver in threads of this process until stop()."""
        self._thread = threading.Thread(target=self.run, name="dispatcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop: attempts in progress get `grace_s` to end, and then all leases are given back."""
        self.request_stop()
        if self._thread is not None:
            self._thread.join()

    def request_stop(self) -> None:
        """Ask run() to end; safe in a signal handler."""
        self._stopping.set()
        self._waker.wake()

    def run(self) -> None:
        """Deliver until a stop is requested. After a database error, pause and continue."""
        deliverers = ThreadPoolExecutor(self._options.threads, "deliver")
        with contextlib.closing(self._listener), deliverers as threads:
            try:
                while not self._stopping.is_set():
                    metrics.beat()
                    try:
                        self._dispatch(threads)
                    except Exception as error:  # such as where no thread can be started
                        log_pause(log, "deliveries paused", error)
                        self._stopping.wait(PAUSE_S)
            finally:
                deadline = time.monotonic() + self._options.grace_s
                while self._serving.total() and time.monotonic() < deadline:
                    time.sleep(0.02)
                self._outbound.deadlines.close()

    def _dispatch(self, threads: ThreadPoolExecutor) -> None:
        """Claim a queue for every free thread, and wait for changes, until a stop is requested.
        Raises ScanError."""
        self._listener.close()
        self._listener.connect("webhooks/dispatchers_register", lease_holder=self._queues.holder)
        maintenance = self._maintenance()
        while not self._stopping.is_set():
            metrics.beat()
            next(maintenance)  # first, as it ends webhooks
            while lease := self._claim():
                with self._serving_lock:
                    self._serving[lease.is_healthy] += 1
                threads.submit(self._serve, lease)
            self._listener.wait(self._options.poll_s, self._waker)

    def _claim(self) -> Lease | None:
        """Claim a queue, of a healthy receiver first unless no thread serves another. Return None
        where none is due, or no thread is free for it."""
        options, unhealthy = self._options, self._serving[False]
        if self._stopping.is_set() or self._serving.total() >= options.threads:
            return None
        lease = self._queues.claim(healthy_only=True, now=now()) if unhealthy else None
        if lease is None and unhealthy < options.threads - options.threads_for_healthy:
            lease = self._queues.claim(healthy_only=False, now=now())
        return lease

    def _maintenance(self) -> Iterator[None]:
        """With each next(): do what is due of ending the leases of dead processes, and webhooks
        whose maker has no access any more, and of deleting old deliveries."""
        leases_at = old_at = ownerless_at = time.monotonic()
        while True:
            moment = time.monotonic()
            if moment >= leases_at:
                endings.end_of_former(self._database, needs_key=self._needs_key)
                self._queues.end_dead_leases(now())
                leases_at = moment + DEAD_LEASES_EVERY_S
            if moment >= old_at and not self._queues.delete_old(now()):  # True: there are more
                old_at = moment + OLD_DELIVERIES_EVERY_S
            if moment >= ownerless_at:
                self._queues.delete_ownerless()
                ownerless_at = moment + OWNERLESS_EVERY_S
            yield

    # In a thread of its own

    def _serve(self, lease: Lease) -> None:
        """Serve a lease. Errors are logged, so that the thread stays."""
        try:
            connection = sender.ReceiverConnection(
                self._outbound, lease.url, lease.secrets, is_healthy=lease.is_healthy
            )
            with contextlib.closing(connection):
                self._deliver(lease, connection)
        except Exception as error:
            log_pause(log, "webhook %s", error, lease.webhook_id)
        finally:
            with self._serving_lock:
                self._serving[lease.is_healthy] -= 1
            self._waker.wake()

    def _deliver(self, lease: Lease, connection: sender.ReceiverConnection) -> None:
        """Send one delivery after the other, each recorded before the next, until none is due, the
        burst is over or a stop is requested; of a webhook with a format one message, of as many
        as it has room for."""
        attempts, burst_ends_at = 0, time.monotonic() + self._options.burst_s
        begun = lease.first or self._queues.settle(lease, (), now())
        while begun:
            message, pause_s = begun[0].message, 0.0
            if lease.format is not None:
                form = FORMATS[lease.format]
                bodies = [attempt.message.body for attempt in begun]
                body, sent = form.message(
                    self._database, self._summaries, self._pages, lease.url, bodies
                )
                # The others stay due, and begin the next message.
                message, begun = message._replace(body=body), begun[:sent]
            outcome = connection.post(message, now())
            if lease.format is not None:
                pause_s = max(form.pause_s, min(outcome.retry_after_s or 0.0, MAX_PAUSE_S))
            attempts += 1
            unsuccessful = "refused" if outcome.response_code else "failed"
            result = "delivered" if outcome.is_success else unsuccessful
            metrics.DELIVERY_ATTEMPTS.labels(result).inc()
            metrics.DELIVERY_SECONDS.observe(outcome.seconds)
            finished = [FinishedAttempt(attempt, outcome) for attempt in begun]
            if outcome.error is not None and self._outbound.deadlines.is_closed:
                finished = []  # this process closed the connection
            elif not outcome.is_success:
                # Logs only the host: paths and query strings of receivers often contain
                # credentials.
                reason = outcome.error or f"HTTP {outcome.response_code}"
                host, webhook = lease.url.split("/")[2], lease.webhook_id
                delivery = message.id
                log.info("delivery %s of webhook %s to %s: %s", delivery, webhook, host, reason)
            is_over = attempts >= self._options.burst_attempts or time.monotonic() > burst_ends_at
            goes_on = not (is_over or self._stopping.is_set() or lease.format is not None)
            begun = self._queues.settle(lease, finished, now(), goes_on=goes_on, pause_s=pause_s)
