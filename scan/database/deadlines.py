"""Ends waiting for a server that does not answer: a frozen one, or one behind a dead network.

The server's own statement_timeout cannot help then, and libpq waits without end.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

CHECK_EVERY_S = 0.25


class StatementDeadlines:
    """One thread looks after all statements of a process, and starts with the first of them."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[float, Any]] = {}  # by thread: until when, connection
        self._lock = threading.Lock()
        self._process = 0

    @contextmanager
    def limit(self, connection: Any, seconds: float | None) -> Iterator[None]:
        """Break the connection when the block takes longer, so that libpq raises in it."""
        if seconds is None:
            yield
            return
        if self._process != os.getpid():
            self._start()
        thread = threading.get_ident()
        self._running[thread] = (time.monotonic() + seconds, connection)
        try:
            yield
        finally:
            self._running.pop(thread, None)

    def _start(self) -> None:
        """Threads do not survive a fork."""
        with self._lock:
            if self._process != os.getpid():
                self._process = os.getpid()
                self._running.clear()
                threading.Thread(target=self._watch, name="database-deadlines", daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(CHECK_EVERY_S)
            now = time.monotonic()
            for thread, statement in list(self._running.items()):
                until, connection = statement
                if now > until and self._running.get(thread) is statement:
                    _break(connection)


def _break(connection: Any) -> None:
    with suppress(Exception):  # it was just closed
        twin = socket.socket(fileno=os.dup(connection.fileno()))
        with twin:
            twin.shutdown(socket.SHUT_RDWR)
