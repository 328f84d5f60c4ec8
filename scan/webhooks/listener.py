"""Waiting for notifications from the database and from threads of this process."""

import contextlib
import os

from scan.database.connection import Database
from scan.database.notifications import Listener
from scan.settings import Settings

CHANNEL = "scan_outbox"


class QueueListener:
    """A dispatcher's listener. Its session also shows other dispatchers that this one is alive."""

    def __init__(self, settings: Settings, poll_s: float) -> None:
        self._poll_s = poll_s
        database = Database(settings.database_url, statement_timeout_ms=30_000, name="scan-listen")
        self._listener = Listener(database, CHANNEL)
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def register(self, lease_holder: int) -> None:
        """Register this dispatcher on a new connection. Raises Unavailable."""
        self._listener.close()
        self._listener.connect("webhooks/dispatchers_register", lease_holder=lease_holder)

    def wait(self) -> None:
        """Wait until a queue has changed, wake() is called, or the polling interval is over."""
        self._listener.wait(self._poll_s, self._wake_read)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 65536)

    def wake(self) -> None:
        """End wait(); safe in a signal handler."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"w")

    def close(self) -> None:
        self._listener.close()
