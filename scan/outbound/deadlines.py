"""Deadlines of whole attempts: a socket's own time-out limits one read, not the response."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Deadline:
    """The deadline of one attempt, whose end shuts its sockets down, whichever thread waits on
    them."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._duplicates: list[socket.socket] = []
        self.has_ended = False

    @property
    def is_over(self) -> bool:
        """Whether the time has passed, also where a socket's own time-out noticed it first."""
        return self.has_ended or time.monotonic() >= self._at

    def remaining_s(self) -> float:
        """Return the seconds left, never 0, which would make a socket non-blocking."""
        return max(0.001, self._at - time.monotonic())

    def add(self, sock: socket.socket) -> None:
        """Add a socket to shut down. A duplicate of its descriptor is kept, since TLS detaches the
        descriptor from the socket object."""
        with self._lock:
            self._duplicates.append(socket.socket(fileno=os.dup(sock.fileno())))
            if self.is_over:
                self._shut()

    def end(self) -> None:
        with self._lock:
            self.has_ended = True
            self._shut()

    def release(self) -> None:
        with self._lock:
            for duplicate in self._duplicates:
                duplicate.close()
            self._duplicates.clear()

    def _shut(self) -> None:
        for duplicate in self._duplicates:
            with suppress(OSError):
                duplicate.shutdown(socket.SHUT_RDWR)


class DeadlineTimer:
    """The thread that ends every deadline of a process when it is due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: list[Deadline] = []
        self.is_closed = False
        self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
        self._thread.start()

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Deadline]:
        """Set a deadline from now on, for the `with` block."""
        deadline = Deadline(seconds)
        with self._changed:
            self._deadlines.append(deadline)
            self._changed.notify()
            if self.is_closed:
                deadline.end()
        try:
            yield deadline
        finally:
            with self._changed:
                self._deadlines.remove(deadline)
            deadline.release()

    def close(self) -> None:
        """End all attempts in progress."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()
            for deadline in self._deadlines:
                deadline.end()

    def _run(self) -> None:
        with self._changed:
            while not self.is_closed:
                waits = [d.remaining_s() for d in self._deadlines if not d.has_ended]
                self._changed.wait(min(waits, default=None))
                for deadline in self._deadlines:
                    if deadline.is_over and not deadline.has_ended:
                        deadline.end()
