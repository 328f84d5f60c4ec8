"""Notifications of a channel, received on one connection for all threads."""

import contextlib
import os
import select
import threading
import time
from typing import Any

import psycopg2
import psycopg2.sql

from scan.database import errors, statements, transaction
from scan.database.connection import Database

RETRY_AFTER_S = 1.0


class Waker:
    """A pipe that ends the waits of one thread, for wake() in others or in a signal handler."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)

    def wait(self, timeout_s: float, connection: Any = None) -> None:
        """Wait until wake() was called, the connection is readable, or time is up."""
        # select.select() takes no file above 1023, and a busy worker has thousands.
        readable = select.poll()
        for file in (self._read_end, connection):
            if file is not None:
                readable.register(file, select.POLLIN)
        readable.poll(timeout_s * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._read_end, 65536)

    def wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._write_end, b"w")


class Listener:
    """A connection that listens to a channel. It may be lost; connect() makes a new one."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = psycopg2.sql.Identifier(channel)
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self.connection: Any = None  # None where it is lost
        self._retry_at = 0.0

    def poll(self) -> list[str] | None:
        """Return the payloads that have come since the last call, None without a connection. Never
        wait."""
        with self._lock:
            connection = self.connection
            if connection is None:
                return None
            payloads: list[str] = []
            try:
                connection.poll()
                connection.poll()  # notices a server that sent its last data before the first poll
                while connection.notifies:  # one poll reads 16 kB
                    payloads += [notice.payload for notice in connection.notifies]
                    connection.notifies.clear()
                    connection.poll()
            except psycopg2.Error as error:
                self._database.log_lost(error)
                self.connection = None
                return None
            return payloads

    def wait(self, timeout_s: float, waker: Waker) -> list[str]:
        """Wait until there are payloads, the thread is woken, or time is up. Return the payloads.

        Only the thread that connects and closes may call this. Raises ConnectionLost.
        """
        payloads = self.poll()
        if payloads == []:
            waker.wait(timeout_s, self.connection)
            payloads = self.poll()
        if payloads is None:
            raise errors.ConnectionLost("The connection for notifications is lost.")
        return payloads

    def connect(self, statement: str, **params: object) -> transaction.Row | None:
        """Listen on a new connection, and return the row that the statement reads there afterwards,
        so that no change between the two is missed.

        Return None where the listener is connected or connecting already, or has just failed.
        Raises Unavailable.
        """
        if not self._connecting.acquire(blocking=False):
            return None
        try:
            if self.connection is not None or time.monotonic() < self._retry_at:
                return None
            self._retry_at = time.monotonic() + RETRY_AFTER_S
            connection = self._database.new_connection()
            with self._database.deadline(connection), connection.cursor() as cursor:
                cursor.execute(psycopg2.sql.SQL("LISTEN {}").format(self._channel))
                [row] = transaction.run(cursor, statements.read_statement(statement), params)
            with self._lock:
                self.connection = connection
            return row
        finally:
            self._connecting.release()

    def close(self) -> None:
        """Close the connection. connect() may be called at once afterwards."""
        self.drop()
        self._retry_at = 0.0

    def drop(self) -> None:
        """Close the connection. connect() makes one a second at most."""
        with self._lock:
            connection, self.connection = self.connection, None
        if connection is not None:
            with errors.translated_errors():
                connection.close()
