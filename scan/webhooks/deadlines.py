"""Ends what takes too long: a socket's own time-out is for one read, not for the whole answer."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Deadline:
    """One attempt's time: when it is up, every socket it held is shut, whoever waits on it."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._twins: list[socket.socket] = []
        self.is_over = False

    def remaining_s(self) -> float:
        """At least a moment, since 0 would mean to a socket that it must not wait."""
        return max(0.001, self._at - time.monotonic())

    def hold(self, sock: socket.socket) -> None:
        """A twin of the descriptor outlives what TLS does with the socket object."""
        with self._lock:
            self._twins.append(socket.socket(fileno=os.dup(sock.fileno())))
            if self.is_over:
                self._shut()

    def end(self) -> None:
        with self._lock:
            self.is_over = True
            self._shut()

    def drop(self) -> None:
        with self._lock:
            for twin in self._twins:
                twin.close()
            self._twins.clear()

    def _shut(self) -> None:
        for twin in self._twins:
            with suppress(OSError):
                twin.shutdown(socket.SHUT_RDWR)


class Watchdog:
    """One thread that ends all deadlines of a process when they are due."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: list[Deadline] = []
        self.is_closed = False
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    @contextmanager
    def deadline(self, seconds: float) -> Iterator[Deadline]:
        """A deadline from now on, watched until the end of the block."""
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
            deadline.drop()

    def close(self) -> None:
        """Ends everything that is still under way."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()
            for deadline in self._deadlines:
                deadline.end()

    def _watch(self) -> None:
        with self._changed:
            while not self.is_closed:
                waits = [deadline.remaining_s() for deadline in self._deadlines]
                self._changed.wait(min(waits, default=None))
                for deadline in self._deadlines:
                    if deadline.remaining_s() <= 0.001 and not deadline.is_over:
                        deadline.end()
