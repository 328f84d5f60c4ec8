"""Open streams of events: their limits by address, by network and in all, the response on which
other threads of the application send, and its text.

Streams that are behind are served in an order in which their clients' addresses take turns: with a
turn for every stream, ten of one address delayed a new client by 4.4 s.
"""

import resource
import selectors
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import orjson

from scan.errors import RateLimited, ScanError, Unavailable
from scan.extensions.streams.block_events import BlockEvent, Position
from scan.observability import metrics
from scan.rate_limits.client_address import network_around
from scan.server import connection_limits, responses
from scan.server.connection import Connection, State

if TYPE_CHECKING:
    from scan.server.worker import Worker


# A client that has more than this still to take is disconnected.
MAX_UNSENT_BYTES = 1024 * 1024
MAX_PENDING_BYTES = 4 * MAX_UNSENT_BYTES  # sent by other threads while the loop is busy
FOREVER = float("inf")


class EventStream(Protocol):
    """The application's stream; close() is called once the client is gone."""

    def attach(self, sink: "OpenResponse") -> None: ...

    def close(self) -> None: ...


def keep_open(environ: responses.Environ, stream: EventStream) -> None:
    """Have the response to a request stay open for a stream."""
    environ[responses.OPEN_RESPONSE] = partial(OpenResponse, stream=stream)


class OpenResponse:
    """A response that stays open. Any thread may call send() and end(); the rest is the loop's."""

    _WHILE_UNSENT = selectors.EVENT_READ | selectors.EVENT_WRITE  # what is watched for

    def __init__(self, worker: "Worker", conn: Connection, stream: EventStream) -> None:
        self._worker = worker
        self._conn = conn
        self._stream = stream
        self._then: Callable[[], object] | None = None
        self._is_closed = False
        self._ends = False
        # What has been sent since the loop last took it. One deferred call takes all of it, so that
        # there are no more calls than connections.
        self._pending: list[tuple[bytes, Callable[[], object] | None]] = []
        self._pending_bytes = 0
        self._is_behind = False  # more was sent than is kept
        self._lock = threading.Lock()

    def start(self, body: Iterable[bytes]) -> None:
        """Write the headers and the stream's beginning; called in the application's thread."""
        self._conn.response.force_close()
        for piece in body:
            self._conn.response.write(piece)
        self._stream.attach(self)

    def send(self, data: bytes, then: Callable[[], object] | None = None) -> None:
        """Send data; the loop calls `then`, which must not wait, once the client has taken all."""
        with self._lock:
            needs_call = not self._pending
            self._pending_bytes += len(data)
            if needs_call or self._pending_bytes <= MAX_PENDING_BYTES:
                self._pending.append((data, then))
            else:
                self._is_behind = True
        if needs_call:
            self._worker.defer(self._conn, self._take)

    def end(self) -> None:
        self._worker.defer(self._conn, self.finish)

    def begin(self) -> None:
        """Take over the connection from the application's thread."""
        self._conn.state = State.STREAMING
        self._conn.received.clear()
        if self._ends:
            self.finish()
        else:
            self._flush()

    def finish(self) -> None:
        """Write the end, and end the connection; the client connects again."""
        self._ends = True
        if self._is_closed or self._conn.state is not State.STREAMING:
            return  # begin() comes back here
        self._conn.response.close()
        self._conn.to_send.flush()
        self._worker.end(self._conn)

    def close(self) -> None:
        """Close the stream of a closed connection; data sent later are dropped."""
        self._is_closed = True
        self._stream.close()

    def _take(self) -> None:
        """Write what has been sent; a client that has too much still to take is disconnected."""
        with self._lock:
            pending, self._pending, self._pending_bytes = self._pending, [], 0
        for data, then in pending:
            unsent = len(self._conn.to_send)
            if self._is_closed or self._conn.state not in (State.STREAMING, State.IN_THREAD):
                return
            if self._is_behind or (unsent and unsent + len(data) > MAX_UNSENT_BYTES):
                self._worker.close(self._conn)
                return
            self._put(data)
            self._then = then or self._then
            if self._conn.state is State.STREAMING:
                self._flush()

    def _put(self, data: bytes) -> None:
        """Write to the response, or to what it was upgraded to."""
        self._conn.response.write(data)

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
                conn.deadline = time.monotonic() + connection_limits.SEND_WAIT_S
            self._worker.watch(conn, self._WHILE_UNSENT, self._ready)

    def _ready(self, conn: Connection) -> None:
        """Drop what the client sends; send it more, or close the connection where it has left."""
        if conn.ignore():
            self._worker.close(conn)
        else:
            self._flush()


RECONNECT_AFTER_MS = 2000
KEEP_ALIVE = b":\n\n"


def opening(position: Position) -> bytes:
    """Return a stream's first lines, with the position that a client resumes from."""
    return f"retry: {RECONNECT_AFTER_MS}\nid: {position}\n\n".encode()


def event_text(event: BlockEvent) -> bytes:
    head = f"id: {event.position}\nevent: {event.type}\ndata: ".encode()
    return head + event.json + b"\n\n"


def heartbeat(position: Position | None) -> bytes:
    """Return a comment with the position, which moves also with blocks that match no filter."""
    return f":\nid: {position}\n\n".encode()


def comment(text: str) -> bytes:
    return f": {' '.join(text.split())}\n\n".encode()


def ending(error: ScanError) -> bytes:
    return b"event: end\ndata: " + orjson.dumps(error.body()) + b"\n\n"


_S = TypeVar("_S")


class FairQueue(Generic[_S]):
    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[_S]] = {}  # by address, in the order of turns
        self._lock = threading.Lock()

    def add(self, address: Hashable, stream: _S) -> None:
        with self._lock:
            self._waiting.setdefault(address, deque()).append(stream)

    def next(self) -> _S:
        """Remove and return the stream whose turn it is; the queue must not be empty."""
        with self._lock:
            address = next(iter(self._waiting))
            streams = self._waiting.pop(address)
            stream = streams.popleft()
            if streams:
                self._waiting[address] = streams
            return stream


MAX_STREAMS = 2000
# Whatever its keys, which anybody can make. Behind one address there may be an office, with a
# socket for each page: deploy/nginx.conf allows 100 connections, which leaves 40 for requests.
MAX_STREAMS_PER_ADDRESS = 60


class OfClient(Protocol):
    address: Hashable


_Stream = TypeVar("_Stream", bound=OfClient)


class OpenStreams(Generic[_Stream]):
    """Streams or sockets that are open. Where all places are taken, a client gets one of the
    network that has most, if that has more than its own would: nobody can take all of them."""

    def __init__(
        self,
        displace: Callable[[_Stream], object] | None = None,
        *,
        most: int = MAX_STREAMS,
        most_of_address: int = MAX_STREAMS_PER_ADDRESS,
    ) -> None:
        """`displace` disconnects a stream that has lost its place."""
        self._displace = displace
        self._most, self._most_of_address = most, most_of_address
        self._streams: dict[_Stream, None] = {}
        self._by_address: Counter[Hashable] = Counter()
        self._by_network: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    def add(self, stream: _Stream) -> None:
        """Add a stream; raises RateLimited where its address has too many, else Unavailable."""
        displaced = None
        with self._lock:
            if self._by_address[stream.address] >= self._most_of_address:
                raise RateLimited(
                    f"{self._most_of_address} streams are open, the maximum; close one first.",
                    headers={"Retry-After": "5"},
                )
            if len(self._streams) >= _most_open(self._most):
                displaced = self._last_of_largest(network_around(str(stream.address)))
                self._remove(displaced)
            self._streams[stream] = None
            self._by_address[stream.address] += 1
            self._by_network[network_around(str(stream.address))] += 1
            metrics.STREAMS.inc()
        if displaced is not None and self._displace is not None:
            self._displace(displaced)

    def _last_of_largest(self, network: str) -> _Stream:
        """Return the newest stream of the network that has most; raises Unavailable where
        `network` would then have as many."""
        [(largest, most)] = self._by_network.most_common(1)
        if self._displace is None or most <= self._by_network[network] + 1:
            raise Unavailable("Too many streams are open; try again shortly.", retry_after_s=5)
        return next(s for s in reversed(self._streams) if network_around(str(s.address)) == largest)

    def remove(self, stream: _Stream) -> None:
        """Remove a stream; removing it again has no effect."""
        with self._lock:
            if stream in self._streams:
                self._remove(stream)

    def _remove(self, stream: _Stream) -> None:
        del self._streams[stream]
        _take_one(self._by_address, stream.address)
        _take_one(self._by_network, network_around(str(stream.address)))
        metrics.STREAMS.dec()

    def listed(self) -> list[_Stream]:
        with self._lock:
            return list(self._streams)


def _take_one(counts: Counter[Hashable], key: Hashable) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _most_open(most: int) -> int:
    """Return the limit of all streams: each takes a file descriptor (see gunicorn.conf.py)."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if files == resource.RLIM_INFINITY else min(most, files // 4)
