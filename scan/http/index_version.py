"""The newest version of the index that this process knows of, and the newest block in the database
that is read, which responses show and clients may require.

A client that has been shown block N by one instance sends `X-Scan-At-Least-Block: N` with its next
request, and no other instance answers that from a database that does not have the block yet. A
replica's version is read often, since replicas receive no notifications.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Collection, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from scan.concurrency.waiting_threads import WaitingThreads
from scan.database import connection, notifications
from scan.errors import ScanError, Unavailable
from scan.parameters import require

CHANNEL = "scan_chain"
# A notification may never come, as through a pooler that lends a connection for a transaction.
UNVERIFIED_S = 5.0
# A replica receives no notifications: reads alone report how new it is, see ReplicaPoller.
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

    def __init__(self, listener: notifications.Listener | None) -> None:
        """`listener` listens on CHANNEL; it is None where a replica is read."""
        self._listener = listener
        self._unverified_s = UNVERIFIED_S if listener else UNVERIFIED_ON_REPLICA_S
        self._lock = threading.Lock()
        self._note(chain=0, labels=0)
        self._notified_at = 0.0
        self._polled_at = 0.0
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
        return self._read if self._listener is None else self.notified()

    def expire(self) -> None:
        """Have the next version read from the database: this process has changed the index, and its
        own notification may come after the client's next request."""
        self._expired_at = time.monotonic()

    def notified(self, read_again_s: float = 0.0) -> int | None:
        """Read notifications unless that was done `read_again_s` ago, and return the newest known
        version; None where none come, as the listener is not connected. Never waits.

        A process without requests calls it, too: a listener that does not read holds up its
        backend, with it a DROP DATABASE of any database, and in the end every NOTIFY.
        """
        if self._listener is None:
            return None
        now = time.monotonic()
        if now - self._polled_at >= read_again_s:
            with self._lock:
                self._polled_at = now
                for payload in self._listener.poll() or ():
                    self._record_notification(payload)
        if self._listener.connection is None:
            return None
        return max(self._read, self._notified_version)

    def may_be_newest(self, version: int) -> bool:
        """Return whether no newer version is known, without reading notifications."""
        if self._listener is not None and self._listener.connection is None:
            return False
        return version == max(self._read, self._notified_version)

    def record(self, version: int, read_at: float) -> None:
        """Record that a statement begun at `read_at` (time.monotonic()) has read a version."""
        with self._lock:
            # A notification comes after its transaction's changes can be read: what a later read
            # lacks was made up.
            lacks_notified = version < self._notified_version and read_at > self._notified_at
            if self._listener is not None and lacks_notified:
                self._listener.drop()
                self._note(chain=0, labels=0)
            # Replicas may be behind each other; on a primary, a smaller version is a rewind.
            if version < self._read and self._listener is not None and read_at > self._recorded_at:
                self.rewinds += 1
                self._note(chain=0, labels=0)
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
                chain, labels = row
                with self._lock:
                    self._note(chain=int(chain), labels=int(labels))
                    self._notified_at = time.monotonic()

    def _record_notification(self, payload: str) -> None:
        """Record a notification, such as `chain 17` or `labels 3`."""
        name, _, number = payload.partition(" ")
        is_version = number.isascii() and number.isdecimal() and len(number) < len(str(2**63))
        if is_version and int(number) > self._notified.get(name, 2**63):
            self._note(**{**self._notified, name: int(number)})
            self._notified_at = time.monotonic()

    def _note(self, **notified: int) -> None:
        self._notified, self._notified_version = notified, sum(notified.values())


SHOWN = "X-Scan-Block"
REQUIRED = "X-Scan-At-Least-Block"
REQUIRED_FIELD = "HTTP_X_SCAN_AT_LEAST_BLOCK"  # of an environ
LOOK_EVERY_S = 0.05
WAIT_S = 1.5
MAX_WAITING = 2
# A page says so where its newest block is older, and the index as far behind, or that unknown.
STALE_BLOCKS = 10
LEAST_STALE_S = 30.0
READ_AGAIN_S = 5.0  # how far the index is behind changes without a new version

_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)


class Position(NamedTuple):
    """A version of the index and its newest block, -1 where it has none, with the block's time,
    also in Unix seconds, the blocks that it is behind the node, None where that is not known, and
    the age from which on the chain is quiet, None where any age is usual."""

    version: int
    block: int
    time: str | None = None
    time_s: float | None = None
    lag: int | None = None
    quiet_after_s: float | None = None

    @property
    def staleness(self) -> str:
        """Why later activity may be missing: `behind` the node, its head is `unknown`, or the chain
        itself is `quiet`; "" where none is."""
        age_s = 0.0 if self.time_s is None else time.time() - self.time_s
        if age_s <= LEAST_STALE_S:
            return ""
        if self.lag is None:
            return "unknown"
        if self.lag > STALE_BLOCKS:
            return "behind"
        return "quiet" if self.quiet_after_s is not None and age_s > self.quiet_after_s else ""


NOT_READ = Position(-1, -1)


@dataclass(eq=False)
class IndexedBlock:
    """The newest block of the database that this instance reads, which may be a replica."""

    reads: connection.Database
    index_version: IndexVersion
    waiting_threads: WaitingThreads

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self.newest = NOT_READ
        self._read_at = 0.0

    def shown_by(self, version: int) -> int | None:
        """Return the newest block that a response of a version may show; None if it is not known.

        For an older version it is the block of a later one: a client that requires it sees nothing
        older. The database is read once for each version, and every READ_AGAIN_S.
        """
        is_old = time.monotonic() - self._read_at > READ_AGAIN_S
        if version > self.newest.version or is_old:
            with suppress(Unavailable):
                self.read()
        newest = self.newest
        return newest.block if newest.version >= version else None

    def position_of(self, versions: Collection[int]) -> Position:
        """Return a position that is no older than what was read in `versions`; of a response that
        has read nothing it is read anew."""
        if versions:
            self.shown_by(max(versions))
        else:
            with suppress(Unavailable):
                self.read()
        return self.newest

    def wait_for(self, number: int, client: Hashable) -> int:
        """Wait for a version that has the block; raises Unavailable if it does not come shortly."""
        if self.newest.block >= number:
            return self.newest.version
        position = self.read()
        if position.block < number and self._take_place(client):
            try:
                deadline = time.monotonic() + WAIT_S
                while position.block < number and time.monotonic() < deadline:
                    time.sleep(LOOK_EVERY_S)
                    position = self.read()
            finally:
                with self._lock:
                    self._waiting -= 1
                self.waiting_threads.give_back(client)
        if position.block < number:
            raise NotIndexedYet(number)
        return position.version

    def _take_place(self, client: Hashable) -> bool:
        with self._lock:
            if self._waiting >= MAX_WAITING or not self.waiting_threads.take_for_long(client):
                return False
            self._waiting += 1
            return True

    def read(self) -> Position:
        """Read the version and the block that the database has now; raises Unavailable."""
        began_at = time.monotonic()
        row = self.reads.row("http/index_get_newest")
        assert row is not None
        version, number, *times = row
        position = Position(version, -1 if number is None else number, *times)
        self.index_version.record(position.version, began_at)
        with self._lock:
            if position.version >= self.newest.version:
                self.newest = position
                self._read_at = began_at
        return position


class NotIndexedYet(Unavailable):
    def __init__(self, number: int | None) -> None:
        super().__init__(f"Block {number} is not indexed yet.", retry_after_s=1)


def required(text: str) -> int:
    """Return the number in the header REQUIRED; raises InvalidParameter."""
    require(_NUMBER.fullmatch(text), REQUIRED, f"{REQUIRED} must be a block number.")
    return int(text)


log = logging.getLogger(__name__)

POLL_EVERY_S = 0.025  # a quarter of UNVERIFIED_ON_REPLICA_S, the age of a version in use


class ReplicaPoller:
    """Reads the version in a thread of its own, while cached responses are requested."""

    def __init__(self, indexed_block: IndexedBlock, index_version: IndexVersion) -> None:
        self._indexed_block = indexed_block
        self._index_version = index_version
        self._lock = threading.Lock()
        self._process = 0

    def start(self) -> None:
        """Start the thread once a process: threads do not survive a fork."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():
                threading.Thread(target=self._run, name="replica-poller", daemon=True).start()
                self._process = os.getpid()

    def _run(self) -> None:
        while True:
            time.sleep(POLL_EVERY_S)
            if self._index_version.is_idle:
                continue
            try:
                self._indexed_block.read()
            except ScanError as error:
                log.debug("the replica cannot be read: %s", error)
