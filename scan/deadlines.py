"""Deadlines of work that waits on sockets: one thread of the process shuts down the sockets of work
that is late, so that whatever waits on them raises.

A socket's own time-out begins anew with each byte, and libpq has none for a server that is frozen
or behind a dead network, where the server's own statement_timeout cannot help. A request waits in
vain for one server at most that does not answer. A server may say when to try again.
"""

import math
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

CHECK_EVERY_S = 0.25


class Deadline:
    """The deadline of one piece of work after another on the same sockets. `is_late`: the sockets
    were shut down for it."""

    def __init__(self, *descriptors: Callable[[], int]) -> None:
        """`descriptors` return those of the sockets, and raise where these are closed."""
        self.until = math.inf  # by time.monotonic(); inf: no work, or work without a deadline
        self.is_late = False
        self._descriptors = [*descriptors]
        self._duplicates: list[socket.socket] = []
        self._lock = threading.Lock()
        _watcher.start()

    @property
    def is_over(self) -> bool:
        """Whether the time has passed, also where a socket's own time-out noticed it first."""
        return self.is_late or time.monotonic() >= self.until

    def begin(self, seconds: float | None) -> None:
        """Have the sockets shut down unless end() is called in time."""
        self.is_late = False
        self.until = math.inf if seconds is None else time.monotonic() + seconds
        if seconds is not None:
            _watcher.working.add(self)

    def end(self) -> None:
        with self._lock:  # so that what is late in this moment is this work, not the next
            self.until = math.inf
            _watcher.working.discard(self)

    def add(self, sock: socket.socket) -> None:
        """Add a socket, of which a duplicate is kept until release(): TLS detaches the descriptor
        from the socket object."""
        duplicate = socket.socket(fileno=os.dup(sock.fileno()))
        with self._lock:
            self._duplicates.append(duplicate)
            self._descriptors.append(duplicate.fileno)
        if self.is_over:
            self.expire()

    def release(self) -> None:
        """End the work, and forget the added sockets."""
        self.end()
        with self._lock:
            self._descriptors.clear()
            for duplicate in self._duplicates:
                duplicate.close()

    def expire(self, *, if_over: bool = False) -> None:
        """Shut the sockets down now, or only if the time has passed."""
        with self._lock:
            if if_over and not self.is_over:
                return
            self.is_late = True
            _watcher.working.discard(self)
            for descriptor in self._descriptors:
                with (
                    suppress(Exception),  # it was just closed
                    socket.socket(fileno=os.dup(descriptor())) as duplicate,
                ):
                    duplicate.shutdown(socket.SHUT_RDWR)


class _Watcher:
    """The thread of a process that looks for late work; it starts with the first deadline."""

    def __init__(self) -> None:
        self.working: set[Deadline] = set()  # until end(), or until they are late
        self._lock = threading.Lock()
        self._process = 0

    def start(self) -> None:
        with self._lock:
            if self._process != os.getpid():  # threads do not survive a fork
                self.working.clear()
                threading.Thread(target=self._run, name="deadlines", daemon=True).start()
                self._process = os.getpid()

    def _run(self) -> None:
        while True:
            time.sleep(CHECK_EVERY_S)
            for deadline in list(self.working):
                deadline.expire(if_over=True)


_watcher = _Watcher()


# After a request has waited in vain for one server, it waits so long for a statement of another.
WAIT_FOR_ANOTHER_S = 1.0


class RequestWaits(threading.local):
    """Has a request wait in vain for one server at most, of all databases: itself, or for a thread
    that another request keeps waiting."""

    _is_serving = False
    was_in_vain = False
    _last_vain = 0.0  # of all threads, by time.perf_counter()

    def begin(self, since: float) -> None:
        """Note that this thread serves a request which came at `since`."""
        self._is_serving, self.was_in_vain = True, since < RequestWaits._last_vain

    def end(self) -> None:
        self._is_serving = self.was_in_vain = False

    def note_vain(self) -> None:
        RequestWaits._last_vain = time.perf_counter()
        self.was_in_vain = self._is_serving


_SECONDS = re.compile(r"[0-9]{1,9}\Z")


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, which has seconds or a date (RFC 9110, section
    10.2.3); None for anything else."""
    if header is None:
        return None
    if _SECONDS.match(header.strip()):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
