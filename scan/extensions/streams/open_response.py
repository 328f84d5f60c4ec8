"""The response of an event stream, on which other threads of the application send."""

import selectors
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from scan.server.client_timeouts import SEND_WAIT_S
from scan.server.connection import Connection, State
from scan.server.wsgi_responses import OPEN_RESPONSE, Environ

if TYPE_CHECKING:
    from scan.server.worker import Worker

# A client that has more than this still to take is disconnected.
MAX_UNSENT_BYTES = 1024 * 1024
FOREVER = float("inf")


class EventStream(Protocol):
    """The application's stream; close() is called once the client is gone."""

    def attach(self, sink: "OpenResponse") -> None: ...

    def close(self) -> None: ...


def keep_open(environ: Environ, stream: EventStream) -> None:
    """Have the response to a request stay open for a stream."""
    environ[OPEN_RESPONSE] = partial(OpenResponse, stream=stream)


class OpenResponse:
    """A response that stays open. Any thread may call send() and end(); the rest is the loop's."""

    def __init__(self, worker: "Worker", conn: Connection, stream: EventStream) -> None:
        self._worker = worker
        self._conn = conn
        self._stream = stream
        self._then: Callable[[], object] | None = None
        self._is_closed = False

    def start(self, body: Iterable[bytes]) -> None:
        """Write the headers and the stream's beginning; called in the application's thread."""
        self._conn.response.force_close()
        for piece in body:
            self._conn.response.write(piece)
        self._stream.attach(self)

    def send(self, data: bytes, then: Callable[[], object] | None = None) -> None:
        """Send data; the loop calls `then`, which must not wait, once the client has taken all."""
        self._worker.defer(self._conn, self._write, data, then)

    def end(self) -> None:
        self._worker.defer(self._conn, self.finish)

    def begin(self) -> None:
        """Take over the connection from the application's thread."""
        self._conn.state = State.STREAMING
        self._conn.received.clear()
        self._flush()

    def finish(self) -> None:
        """Send the last chunk and end the connection; the client connects again."""
        if self._is_closed or self._conn.state is not State.STREAMING:
            return
        self._conn.response.close()
        self._conn.to_send.flush()
        self._worker.end(self._conn)

    def close(self) -> None:
        """Close the stream of a closed connection; data sent later are dropped."""
        self._is_closed = True
        self._stream.close()

    def _write(self, data: bytes, then: Callable[[], object] | None) -> None:
        unsent = len(self._conn.to_send)
        if self._is_closed or self._conn.state not in (State.STREAMING, State.IN_THREAD):
            return
        if unsent and unsent + len(data) > MAX_UNSENT_BYTES:
            self._worker.close(self._conn)
            return
        self._conn.response.write(data)
        self._then = then or self._then
        if self._conn.state is State.STREAMING:
            self._flush()

    def _flush(self) -> None:
        conn = self._conn
        unsent = len(conn.to_send)
        if conn.to_send.flush():
            conn.deadline = FOREVER
            self._worker.watch(conn, selectors.EVENT_READ, self._ready)
            then, self._then = self._then, None
            if then is not None:
                then()
        else:
            if len(conn.to_send) < unsent or conn.deadline == FOREVER:
                conn.deadline = time.monotonic() + SEND_WAIT_S
            self._worker.watch(conn, selectors.EVENT_READ | selectors.EVENT_WRITE, self._ready)

    def _ready(self, conn: Connection) -> None:
        """Drop what the client sends; send it more, or close the connection where it has left."""
        if conn.ignore():
            self._worker.close(conn)
        else:
            self._flush()
