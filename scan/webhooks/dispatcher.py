"""The dispatcher claims queues with deliveries due; each of its threads serves one queue."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from scan import registry
from scan.database.connection import Database
from scan.errors import ScanError
from scan.hooks import Deliveries
from scan.outbound.connection import AttemptTimeouts, tls_context
from scan.outbound.deadlines import DeadlineTimer
from scan.settings import Settings
from scan.webhooks.lease_delivery import Burst, Connect, LeaseDelivery
from scan.webhooks.listener import QueueListener
from scan.webhooks.queues import DeliveryQueues, Lease, now
from scan.webhooks.retry_schedule import RETRY_STEPS_S
from scan.webhooks.sender import Sender

log = logging.getLogger(__name__)

GRACE_S = 3.0  # for attempts in progress when the dispatcher stops
PAUSE_S = 1.0  # after a database error
DEAD_LEASES_EVERY_S = 2.0
OLD_DELIVERIES_EVERY_S = 60.0
OWNERLESS_EVERY_S = 3600.0


class DispatcherOptions(NamedTuple):
    """The dispatcher's threads, bursts, retries and time-outs, and how often it polls the database
    without a notification."""

    threads: int = 20
    threads_for_healthy: int = 8
    burst: Burst = Burst()
    poll_s: float = 1.0
    retry_steps_s: tuple[float, ...] = RETRY_STEPS_S
    timeouts: AttemptTimeouts = AttemptTimeouts()


class LeaseThreads:
    """Threads that serve one lease each. Some are reserved for healthy receivers, so that slow,
    failing and new ones cannot take all."""

    def __init__(self, threads: int, for_healthy: int, on_free: Callable[[], None]) -> None:
        self._executor = ThreadPoolExecutor(threads, "deliver")
        self._threads = threads
        self._max_unhealthy = threads - for_healthy
        self._on_free = on_free
        self._lock = threading.Lock()
        self._busy = 0
        self.unhealthy = 0

    @property
    def has_free(self) -> bool:
        return self._busy < self._threads

    @property
    def may_serve_unhealthy(self) -> bool:
        return self.unhealthy < self._max_unhealthy

    def submit(self, serve: Callable[[Lease], None], lease: Lease) -> None:
        self._count(lease, 1)
        self._executor.submit(self._run, serve, lease)

    def wait_until_idle(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while self._busy and time.monotonic() < deadline:
            time.sleep(0.02)

    def shutdown(self) -> None:
        self._executor.shutdown(wait=True)

    def _run(self, serve: Callable[[Lease], None], lease: Lease) -> None:
        try:
            serve(lease)
        finally:
            self._count(lease, -1)
            self._on_free()

    def _count(self, lease: Lease, change: int) -> None:
        with self._lock:
            self._busy += change
            if not lease.is_healthy:
                self.unhealthy += change


class Maintenance:
    """Ends leases of dead processes and deletes old deliveries, each at its interval."""

    def __init__(self, queues: DeliveryQueues) -> None:
        self._queues = queues
        self._done_at: dict[str, float] = {}

    def run_due(self) -> bool:
        """Run the tasks that are due. Return whether leases of dead processes were ended: their
        queues can be served now."""
        ended = self._is_due("leases", DEAD_LEASES_EVERY_S) and self._queues.end_dead_leases(now())
        if self._is_due("old", OLD_DELIVERIES_EVERY_S) and self._queues.delete_old(now()):
            self._done_at.pop("old")  # there are more
        if self._is_due("ownerless", OWNERLESS_EVERY_S):
            self._queues.delete_ownerless()
        return bool(ended)

    def _is_due(self, task: str, every_s: float) -> bool:
        moment = time.monotonic()
        if moment - self._done_at.get(task, float("-inf")) < every_s:
            return False
        self._done_at[task] = moment
        return True


class Dispatcher:
    """Delivers due events from the queues, which any number of dispatchers share."""

    def __init__(self, settings: Settings, options: DispatcherOptions | None = None) -> None:
        self._options = options or DispatcherOptions()
        # urllib3 would log full URLs of receivers with unusual responses.
        logging.getLogger("urllib3").setLevel(logging.ERROR)
        self._allowed = settings.webhook_allow_networks
        self._context = tls_context(settings.ca_bundle)
        self._listener = QueueListener(settings, self._options.poll_s)
        database = _database(settings)
        self._queues = _queues(settings, self._options, database)
        self._connects: Mapping[str, Connect] = {
            scheme: connect(settings, database)
            for part in registry.parts(Deliveries)
            for scheme, connect in part.connect.items()
        }
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Deliver in threads of this process until stop()."""
        self._thread = threading.Thread(target=self.run, name="dispatcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop: attempts in progress get GRACE_S to end, and then all leases are given back."""
        self.request_stop()
        if self._thread is not None:
            self._thread.join()

    def request_stop(self) -> None:
        """Ask run() to end; safe in a signal handler."""
        self._stopping.set()
        self._listener.wake()

    def run(self) -> None:
        """Deliver until a stop is requested. After a database error, pause and continue."""
        deadlines = DeadlineTimer()
        sender = Sender(deadlines, self._context, self._allowed, self._options.timeouts)
        delivery = LeaseDelivery(
            self._queues, sender, self._options.burst, self._stopping, self._connects
        )
        threads = LeaseThreads(
            self._options.threads, self._options.threads_for_healthy, self._listener.wake
        )
        try:
            while not self._stopping.is_set():
                try:
                    # Claim a queue for every free thread, and wait for changes.
                    maintenance = Maintenance(self._queues)
                    self._listener.register(self._queues.holder)
                    while not self._stopping.is_set():
                        while threads.has_free and (lease := self._claim(threads)):
                            threads.submit(delivery.serve, lease)
                        if maintenance.run_due():
                            self._listener.wake()
                        self._listener.wait()
                except ScanError as error:
                    log.warning("deliveries paused: %s", error)
                    self._stopping.wait(PAUSE_S)
        finally:
            threads.wait_until_idle(GRACE_S)
            deadlines.close()
            threads.shutdown()
            self._listener.close()

    def _claim(self, threads: LeaseThreads) -> Lease | None:
        """Claim a queue, of a healthy receiver first unless no thread serves another. Return None
        where none is due."""
        if self._stopping.is_set():
            return None
        lease = self._queues.claim(healthy_only=True, now=now()) if threads.unhealthy else None
        if lease is None and threads.may_serve_unhealthy:
            lease = self._queues.claim(healthy_only=False, now=now())
        return lease


def _database(settings: Settings) -> Database:
    """Return the database with synchronous commits: an attempt is on disk before it is sent.

    Measured on a busy disk, at 4 ms a commit: 420 events/s to ten webhooks instead of 500 to 780.
    """
    return Database(
        settings.database_url,
        statement_timeout_ms=30_000,
        name="scan-deliver",
        session={"synchronous_commit": "on", "idle_in_transaction_session_timeout": "10s"},
    )


def _queues(settings: Settings, options: DispatcherOptions, database: Database) -> DeliveryQueues:
    return DeliveryQueues(
        database,
        confirmations=settings.confirmations,
        finality=settings.finality,
        retry_steps_s=options.retry_steps_s,
    )
