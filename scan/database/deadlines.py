"""Deadlines for a server that does not answer: a frozen one, or one behind a dead network.

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
from weakref import WeakSet

import psycopg2

from scan.database.errors import NoResponse

NO_RESPONSE = "The database does not respond; try again shortly."
CHECK_EVERY_S = 0.25
# After a request has waited in vain for one server, it waits so long for a statement of another.
WAIT_FOR_ANOTHER_S = 1.0


class RequestWaits(threading.local):
    """Has a request wait in vain for one server at most, of all databases: itself, or for a thread
    that another request keeps waiting."""

    _is_serving = False
    _was_in_vain = False
    _last_vain = 0.0  # of all threads, by time.perf_counter()

    def begin(self, since: float) -> None:
        """Note that this thread serves a request which came at `since`."""
        self._is_serving, self._was_in_vain = True, since < RequestWaits._last_vain

    def end(self) -> None:
        self._is_serving = self._was_in_vain = False

    def note_vain(self) -> None:
        RequestWaits._last_vain = time.perf_counter()
        self._was_in_vain = self._is_serving

    def limit(self, seconds: float | None) -> float | None:
        """Return the time for a statement that would have `seconds`."""
        return WAIT_FOR_ANOTHER_S if self._was_in_vain else seconds


class Deadline:
    """The deadline of the work on a connection. `is_late`: the connection was broken for it."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.until = math.inf  # by time.monotonic(); inf: no work, or work without a deadline
        self.is_late = False

    def begin(self, seconds: float | None) -> None:
        """Have the connection broken, so that libpq raises, unless end() is called in time."""
        self.is_late = False
        self.until = math.inf if seconds is None else time.monotonic() + seconds

    def end(self) -> None:
        self.until = math.inf


class ConnectionDeadlines:
    """The deadlines of all connections of a process, watched by one thread, which starts with the
    first connection."""

    def __init__(self) -> None:
        self._deadlines: WeakSet[Deadline] = WeakSet()  # of connections in use
        self._lock = threading.Lock()
        self._process = 0

    def of(self, connection: Any) -> Deadline:
        with self._lock:
            if self._process != os.getpid():  # threads do not survive a fork
                self._process = os.getpid()
                self._deadlines.clear()
                threading.Thread(target=self._watch, name="database-deadlines", daemon=True).start()
            deadline = Deadline(connection)
            self._deadlines.add(deadline)
            return deadline

    @contextmanager
    def limit(self, connection: Any, seconds: float | None) -> Iterator[None]:
        """Bound the time of the `with` block on a connection. Raises NoResponse after it."""
        deadline = self.of(connection)
        deadline.begin(seconds)
        try:
            yield
        except psycopg2.Error as error:
            if deadline.is_late:
                raise NoResponse(NO_RESPONSE) from error
            raise
        finally:
            deadline.end()

    def _watch(self) -> None:
        while True:
            time.sleep(CHECK_EVERY_S)
            self._break_late_ones()

    def _break_late_ones(self) -> None:
        with self._lock:
            deadlines = list(self._deadlines)
        now = time.monotonic()
        for deadline in deadlines:
            if now > deadline.until and not deadline.is_late:
                deadline.is_late = True
                # It raises where the connection was just closed.
                with (
                    suppress(Exception),
                    socket.socket(fileno=os.dup(deadline.connection.fileno())) as duplicate,
                ):
                    duplicate.shutdown(socket.SHUT_RDWR)
