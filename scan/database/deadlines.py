"""Ends waiting for a server that does not answer: a frozen one, or one behind a dead network.

The server's own statement_timeout cannot help then, and libpq waits without end.
"""

import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg2

from scan.database.errors import NoResponse

NO_RESPONSE = "The database does not respond; try again shortly."
CHECK_EVERY_S = 0.25


class Running:
    """A statement, or a transaction, and whether it was ended for taking too long."""

    def __init__(self, connection: Any, until: float) -> None:
        self.connection = connection
        self.until = until  # time.monotonic()
        self.is_late = False


class StatementDeadlines:
    """One thread looks after all statements of a process, and starts with the first of them."""

    def __init__(self) -> None:
        self._running: dict[int, Running] = {}  # by the connection's id
        self._lock = threading.Lock()
        self._process = 0

    @contextmanager
    def limit(self, connection: Any, seconds: float | None) -> Iterator[None]:
        """Break the connection when the block takes longer, so that libpq raises in it.

        Raises NoResponse then.
        """
        running = self.begin(connection, seconds)
        try:
            yield
        except psycopg2.Error as error:
            if running.is_late:
                raise NoResponse(NO_RESPONSE) from error
            raise
        finally:
            self.end(running)

    def begin(self, connection: Any, seconds: float | None) -> Running:
        """As limit(), up to end(); for what runs for every request."""
        if self._process != os.getpid():  # threads do not survive a fork
            with self._lock:
                if self._process != os.getpid():
                    self._process = os.getpid()
                    self._running.clear()
                    threading.Thread(
                        target=self._watch, name="database-deadlines", daemon=True
                    ).start()
        running = Running(connection, math.inf if seconds is None else time.monotonic() + seconds)
        self._running[id(connection)] = running
        return running

    def end(self, running: Running) -> None:
        self._running.pop(id(running.connection), None)

    def _watch(self) -> None:
        while True:
            time.sleep(CHECK_EVERY_S)
            now = time.monotonic()
            for running in list(self._running.values()):
                if now > running.until and not running.is_late:
                    running.is_late = True
                    # It raises where the connection was just closed.
                    with (
                        suppress(Exception),
                        socket.socket(fileno=os.dup(running.connection.fileno())) as duplicate,
                    ):
                        duplicate.shutdown(socket.SHUT_RDWR)
