"""The newest version of the index that this process knows of."""

import threading
import time
from contextlib import suppress

from scan.database.notifications import Listener
from scan.errors import Unavailable

CHANNEL = "scan_chain"
# A notification may never come, as through a pooler that lends a connection for a transaction.
UNVERIFIED_S = 5.0
# A replica receives no notifications: reads alone report how new it is, see replica_poller.py.
UNVERIFIED_ON_REPLICA_S = 0.1
IDLE_AFTER_S = 10.0  # without a request for a cached response: the replica is not polled then


class IndexVersion:
    """The newest known version of the index, learnt by notification and by reading.

    Versions decrease only where a failover lost commits; `rewinds` counts how often that was seen,
    since the same numbers then stand for other contents.

    index_version() of schema.sql is the sum of the chain's version and the labels' version. Each
    is notified apart, since transactions that change either may commit together.

    Any role of the database may notify anything: a version that a later read does not find counts
    no longer, and the listener connects anew, where it reads what is true.
    """

    def __init__(self, listener: Listener | None) -> None:
        """`listener` listens on CHANNEL; it is None where a replica is read."""
        self._listener = listener
        self._unverified_s = UNVERIFIED_S if listener else UNVERIFIED_ON_REPLICA_S
        self._lock = threading.Lock()
        self._notified = {"chain": 0, "labels": 0}
        self._notified_at = 0.0
        self.rewinds = 0
        self._read = -1
        self._read_at = 0.0
        self._recorded_at = 0.0  # when the newest version was recorded
        self._requested_at = 0.0
        self._expired_at = 0.0

    @property
    def is_idle(self) -> bool:
        """Return whether no cached response of a replica was requested lately."""
        return time.monotonic() - self._requested_at >= IDLE_AFTER_S

    def newest(self) -> int | None:
        """Return the newest version, or None if only the database knows it. Never waits."""
        now = time.monotonic()
        if self._listener is None:
            self._requested_at = now
        if now - self._read_at > self._unverified_s or self._read_at < self._expired_at:
            return None
        if self._listener is None:
            return self._read
        if not self.read_notifications():
            return None
        return max(self._read, sum(self._notified.values()))

    def expire(self) -> None:
        """Have the next version read from the database: this process has changed the index, and its
        own notification may come after the client's next request."""
        self._expired_at = time.monotonic()

    def notified(self) -> int | None:
        """Return the newest known version, None where no notifications come. Never waits."""
        if not self.read_notifications():
            return None
        return max(self._read, sum(self._notified.values()))

    def read_notifications(self) -> bool:
        """Read notifications, and return whether the listener is connected. Never waits.

        A process without requests calls it, too: a listener that does not read holds up its
        backend, with it a DROP DATABASE of any database, and in the end every NOTIFY.
        """
        if self._listener is None:
            return False
        with self._lock:
            payloads = self._listener.poll()
            for payload in payloads or ():
                self._record_notification(payload)
            return payloads is not None

    def may_be_newest(self, version: int) -> bool:
        """Return whether no newer version is known, without reading notifications."""
        if self._listener is not None and self._listener.connection is None:
            return False
        return version == max(self._read, sum(self._notified.values()))

    def record(self, version: int, read_at: float) -> None:
        """Record that a statement begun at `read_at` (time.monotonic()) has read a version."""
        with self._lock:
            # A notification comes after its transaction's changes can be read: what a later read
            # lacks was made up.
            lacks_notified = version < sum(self._notified.values()) and read_at > self._notified_at
            if self._listener is not None and lacks_notified:
                self._listener.drop()
                self._notified = {"chain": 0, "labels": 0}
            # Replicas may be behind each other; on a primary, a smaller version is a rewind.
            if version < self._read and self._listener is not None and read_at > self._recorded_at:
                self.rewinds += 1
                self._notified = {"chain": 0, "labels": 0}
                self._read = -1
            if version >= self._read:
                if version > self._read:
                    self._recorded_at = time.monotonic()
                self._read = version
                self._read_at = max(self._read_at, read_at)

    def listen(self) -> None:
        """Connect the listener unless it is connected; one thread waits for that."""
        if self._listener is None or self._listener.connection is not None:
            return
        with suppress(Unavailable):
            row = self._listener.connect("http/chain_get_version")
            if row is not None:
                with self._lock:
                    self._notified = {"chain": int(row[0]), "labels": int(row[1])}
                    self._notified_at = time.monotonic()

    def _record_notification(self, payload: str) -> None:
        """Record a notification, such as `chain 17` or `labels 3`."""
        name, _, number = payload.partition(" ")
        is_version = number.isascii() and number.isdecimal() and len(number) < len(str(2**63))
        if is_version and int(number) > self._notified.get(name, 2**63):
            self._notified[name] = int(number)
            self._notified_at = time.monotonic()
