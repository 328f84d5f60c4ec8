"""The connections of a worker: accepted, watched by the loop, and closed. It waits only so long for
a client (for the head and the body of a request, and until it has taken the response). Where there
are too many connections, the longest idle is closed; where the bytes of all take too much memory,
those of the client with most, so that those who receive and send without delay lose none.
"""

import errno
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from gunicorn.workers.gthread import ThreadWorker

from scan.server.connection import Connection, State
from scan.server.deferred_calls import DeferredCalls

HEAD_WAIT_S = 10.0
BODY_WAIT_S = 30.0
SEND_WAIT_S = 60.0  # in an event stream: since the client has last taken any bytes
FILE_BYTES_PER_S = 32 * 1024  # a client that takes a file more slowly is disconnected
CLOSE_WAIT_S = 2.0
STOP_WAIT_S = 5.0  # for requests and responses under way when the worker stops


ACCEPTED_AT_ONCE = 64
LOG_EVERY_S = 60.0
WAITING_FOR_CLIENTS = {State.RECEIVING, State.SENDING, State.ENDING}

_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_RETRIED = {errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED, errno.EINTR}


class AcceptedConnections(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker that accepts, watches and closes connections; a subclass reads from them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.method_queue = DeferredCalls()
        self._connections: dict[Connection, None] = {}  # the longest idle first
        self._received_bytes = 0  # of all requests that are not whole yet
        self._logged_at = -LOG_EVERY_S
        self._is_stopping = False

    def _client_of(self, conn: Connection) -> str:
        raise NotImplementedError

    def _receive(self, conn: Connection) -> None:
        raise NotImplementedError

    def accept(self, listener: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, client = listener.accept()
            except OSError as error:
                if error.errno in _OUT_OF_DESCRIPTORS:
                    self._make_room(str(error))
                elif error.errno not in _RETRIED and self.alive:
                    raise
                return
            sock.setblocking(False)
            conn = Connection(self.cfg, sock, client, listener.getsockname())
            conn.deadline = time.monotonic() + HEAD_WAIT_S
            self.nr_conns += 1
            self._connections[conn] = None
            self.watch(conn, selectors.EVENT_READ, self._receive)
            self._receive(conn)  # most have sent their request by now
            if self.nr_conns >= self.worker_connections:
                self._make_room("all connections are in use")

    def set_accept_enabled(self, enabled: bool) -> None:
        """Enable or disable accepting; a stopping worker accepts the clients that have connected
        already, then closes its sockets.

        Left open, as by gunicorn, a socket takes connections that nobody will answer; refused
        clients go to another instance at once.
        """
        super().set_accept_enabled(enabled and self.alive)
        if not self.alive and not self._is_stopping:
            self._is_stopping = True
            for listener in self.sockets:
                before = -1
                while before != self.nr_conns < self.worker_connections:
                    before = self.nr_conns
                    self.accept(listener)
                listener.close()

    def _make_room(self, reason: str) -> None:
        """Close connections of the client that has most, idle ones first, then those that wait for
        it to take a response or to send a body; the longest idle are closed first."""
        now = time.monotonic()
        if now - self._logged_at > LOG_EVERY_S:
            self._logged_at = now
            self.log.warning("Closing connections: %s", reason)
        clients = {
            conn: self._client_of(conn)
            for conn in self._connections
            if conn.state is not State.STREAMING
        }
        counts = Counter(clients.values())
        most = max(counts.values(), default=0)
        # A client's first request waits until those of another, who has more connections, are
        # answered.
        closable = {
            conn: client
            for conn, client in clients.items()
            if (conn.request is None or conn.state in WAITING_FOR_CLIENTS)
            and (conn.has_had_response or counts[client] == most)
        }
        if closable:
            # At once, since to count them takes as long as to serve some hundred requests.
            [(largest, count)] = Counter(closable.values()).most_common(1)
            of_largest = [conn for conn, client in closable.items() if client == largest]
            of_largest.sort(key=lambda conn: conn.request is not None)
            for conn in of_largest[: min(ACCEPTED_AT_ONCE, 1 + count // 10)]:
                self.close(conn)
        elif self.alive:
            self.set_accept_enabled(False)  # until the next round of the loop

    def close(self, conn: Connection) -> None:
        if conn not in self._connections:
            return
        del self._connections[conn]
        self.watch(conn, 0)
        if conn.open_response is not None:
            conn.open_response.close()
        self._forget_received(conn)
        conn.forget_request()
        conn.to_send.close()
        self.nr_conns -= 1
        conn.sock.close()

    def _forget_received(self, conn: Connection) -> None:
        self._received_bytes -= conn.received_bytes
        conn.received_bytes = 0

    def watch(
        self, conn: Connection, events: int = 0, callback: Callable[..., None] | None = None
    ) -> None:
        """Call `callback` on `events` of the connection's socket; 0 stands for no events. It may be
        called without an event, as what is awaited may change after the poll. watch() itself as a
        callback ends watching at the first event: a request rarely sees any, and saves 10 us."""
        watched, conn.watched = conn.watched[0], (events, callback)
        if watched == events:
            return
        if watched:
            self.poller.unregister(conn.sock)
        if events:
            self.poller.register(conn.sock, events, partial(self._on_event, conn))

    def _on_event(self, conn: Connection, _sock: Any) -> None:
        """Handle an event, unless another event of the same poll has closed the connection."""
        callback = conn.watched[1]
        if conn in self._connections and callback is not None:
            self.guard(conn, callback, conn)

    def guard(self, conn: Connection, step: Callable[..., object], *args: Any) -> None:
        """Run a step of one connection; an exception closes the connection but not the loop."""
        try:
            step(*args)
        except Exception:
            self.log.exception("Error on a connection, which is closed")
            self.close(conn)

    def defer(self, conn: Connection, step: Callable[..., object], *args: Any) -> None:
        """Run a step of one connection in the loop, from any thread; see guard()."""
        self.method_queue.defer(self.guard, conn, step, *args)


C = TypeVar("C")  # a connection


def first_of_largest(sizes: Mapping[C, int], client_of: Callable[[C], str]) -> C:
    """Return the first connection of the client whose connections have most bytes together."""
    clients = {conn: client_of(conn) for conn in sizes}
    of_client = _bytes_of_clients(sizes, clients)
    return max(sizes, key=lambda conn: of_client[clients[conn]])


def beyond(sizes: Mapping[C, int], client_of: Callable[[C], str], most: int) -> list[C]:
    """Return the connections to close until the others have at most `most` bytes: each is the
    largest one of the client that has most bytes at that point."""
    total, left, chosen = sum(sizes.values()), dict(sizes), []
    if total <= most:
        return []
    clients = {conn: client_of(conn) for conn in sizes}
    of_client = _bytes_of_clients(sizes, clients)
    while total > most:
        largest = max(left, key=lambda conn: (of_client[clients[conn]], left[conn]))
        size = left.pop(largest)
        of_client[clients[largest]] -= size
        total -= size
        chosen.append(largest)
    return chosen


def _bytes_of_clients(sizes: Mapping[C, int], clients: Mapping[C, str]) -> Counter[str]:
    of_client: Counter[str] = Counter()
    for conn, size in sizes.items():
        of_client[clients[conn]] += size
    return of_client
