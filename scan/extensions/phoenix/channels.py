"""A client's WebSocket and the topics that it has joined, in version 2 of Phoenix's protocol: each
message is a JSON array [join_ref, ref, topic, event, payload].

https://hexdocs.pm/phoenix/writing_a_channels_client.html
"""

import re
import selectors
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import orjson
from wsproto import ConnectionType, WSConnection, events
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from scan.errors import InvalidParameter
from scan.extensions.streams.open_response import OpenResponse
from scan.server.connection import Connection, State
from scan.server.responses import Environ

MAX_TOPICS = 50  # of a client: a page of Blockscout's frontend joins at most six
MAX_MESSAGE_BYTES = 4096
# In FRAMES_S, of any kind and of any length, pieces of them too; a page sends a few messages, and a
# heartbeat in 30 s. A frame takes 50 us.
MAX_FRAMES = 120
MAX_FRAMES_OF_ADDRESS = 2400  # with all its sockets
FRAMES_S = 10.0
SILENT_S = 90.0  # after which a client has left: it sends a heartbeat every 30 s

_HASH = r"0x[0-9a-f]"
TOPIC = re.compile(
    "blocks:(new_block|indexing|indexing_internal_transactions)"
    "|transactions:(new_transaction|new_pending_transaction)|exchange_rate:new_rate"
    rf"|(addresses|blocks|tokens|rewards):{_HASH}{{40}}|transactions:{_HASH}{{64}}"
    rf"|token_instances:{_HASH}{{40}}(:[0-9]{{1,78}})?|addresses:new_address",
    re.IGNORECASE | re.ASCII,
)

Message = tuple[str, str, Mapping[str, Any]]  # topic in lower case, event and payload


class Topics:
    """The clients of each topic, which any thread may read while the server's loop changes them."""

    def __init__(self) -> None:
        self._clients: defaultdict[str, set[Socket]] = defaultdict(set)
        self._lock = threading.Lock()

    def joined(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._clients)

    def clients(self, topic: str) -> list["Socket"]:
        with self._lock:
            return list(self._clients.get(topic, ()))

    def join(self, topic: str, socket: "Socket") -> None:
        with self._lock:
            self._clients[topic].add(socket)

    def leave(self, topics: Iterable[str], socket: "Socket") -> None:
        with self._lock:
            for topic in topics:
                self._clients[topic].discard(socket)
                if not self._clients[topic]:
                    del self._clients[topic]


class FrameLimit:
    """Counts frames of sockets and of addresses; the loop alone uses it."""

    def __init__(self) -> None:
        self._counts: Counter[Hashable] = Counter()
        self._since = 0.0

    def exceeds(self, socket: "Socket", now: float) -> bool:
        """Count a frame, and return whether it is one too many."""
        if now - self._since > FRAMES_S:
            self._counts, self._since = Counter(), now
        self._counts[socket] += 1
        self._counts[socket.address] += 1
        return (
            self._counts[socket] > MAX_FRAMES
            or self._counts[socket.address] > MAX_FRAMES_OF_ADDRESS
        )


class Socket:
    """A client's connection. The loop calls receive() and close(); any thread calls push() and
    disconnect()."""

    def __init__(
        self,
        address: Hashable,
        topics: Topics,
        frames: FrameLimit,
        remove: Callable[["Socket"], None],
    ) -> None:
        self.address = address
        self.heard_at = time.monotonic()
        self._topics = topics
        self._frames = frames
        self._remove = remove
        self._joined: dict[str, tuple[str, object]] = {}  # as joined, with the join's reference
        self._protocol = WSConnection(ConnectionType.SERVER)
        self._sink: OpenResponse | None = None
        self._text = ""
        self._is_over = False
        self._lock = threading.Lock()  # of the protocol's state, and the order of frames

    def accept(self, environ: Environ) -> bytes:
        """Return the response to a handshake; raises InvalidParameter where it is none."""
        headers = [
            (name.removeprefix("HTTP_").replace("_", "-").encode(), str(value).encode("latin-1"))
            for name, value in environ.items()
            if name.startswith("HTTP_")
        ]
        try:
            if environ["REQUEST_METHOD"] != "GET":  # HEAD gives its place back at once
                raise RemoteProtocolError("no request")
            self._protocol.initiate_upgrade_connection(headers, environ["PATH_INFO"])
            if not any(isinstance(event, events.Request) for event in self._protocol.events()):
                raise RemoteProtocolError("no request")
            return self._protocol.send(events.AcceptConnection())
        except (LocalProtocolError, RemoteProtocolError, UnicodeError):
            raise InvalidParameter("This path takes the handshake of a WebSocket.") from None

    def attach(self, sink: OpenResponse) -> None:
        self._sink = sink
        if self._is_over:
            sink.end()

    def close(self) -> None:
        self._topics.leave(self._joined, self)
        self._remove(self)

    def close_unless_attached(self) -> None:
        if self._sink is None:
            self.close()

    def push(self, topic: str, event: str, payload: bytes) -> None:
        """Send the JSON payload of an event of a joined topic."""
        joined = self._joined.get(topic)
        if joined is not None:
            self._send_message(joined[1], None, joined[0], event, payload)

    def disconnect(self, reason: CloseReason = CloseReason.GOING_AWAY) -> None:
        """Close the connection; nothing more is sent, and nothing that arrives is read."""
        self._end(events.CloseConnection(code=reason))

    def _end(self, event: events.CloseConnection) -> None:
        self._send(event)
        self._is_over = True
        if self._sink is not None:
            self._sink.end()

    def receive(self, received: bytes) -> None:
        """Read what the client has sent, and reply; a client that breaks the protocol or a bound is
        disconnected."""
        if self._is_over:
            return
        self.heard_at = time.monotonic()
        ping: events.Ping | None = None
        frames = 0
        try:
            self._protocol.receive_data(received)
            for event in self._protocol.events():  # parsed one by one
                frames += 1
                if isinstance(event, events.Ping):
                    ping = event
                self._receive_event(event)
                if self._is_over:
                    return
        except (LocalProtocolError, RemoteProtocolError):
            self.disconnect(CloseReason.PROTOCOL_ERROR)
            return
        if not frames:  # a piece of one
            self._receive_event(None)
        if ping is not None:  # the most recent one stands for all: RFC 6455, section 5.5.3
            self._send(ping.response())

    def _receive_event(self, event: object) -> None:
        if self._frames.exceeds(self, self.heard_at):
            self.disconnect(CloseReason.POLICY_VIOLATION)
        elif isinstance(event, events.CloseConnection):
            self._end(event.response())
        elif isinstance(event, events.BytesMessage):
            self.disconnect(CloseReason.UNSUPPORTED_DATA)
        elif isinstance(event, events.TextMessage):
            self._text += event.data
            if len(self._text) > MAX_MESSAGE_BYTES:
                self.disconnect(CloseReason.MESSAGE_TOO_BIG)
            elif event.message_finished:
                text, self._text = self._text, ""
                self._receive_message(text)

    def _receive_message(self, text: str) -> None:
        try:
            join_ref, ref, topic, event, _ = orjson.loads(text)
            # References are sent back with later messages: a deep one could not be written.
            is_text = isinstance(topic, str) and isinstance(event, str)
            if not (is_text and isinstance(join_ref, str | None) and isinstance(ref, str | None)):
                raise ValueError("a part of the message is no text")
        except (TypeError, ValueError):
            self.disconnect(CloseReason.INVALID_FRAME_PAYLOAD_DATA)
            return
        refused = None
        if event == "phx_join":
            refused = self._join(topic, join_ref)
        elif event == "phx_leave":
            self._topics.leave([topic.lower()], self)
            self._joined.pop(topic.lower(), None)
        reply: dict[str, object] = {"status": "ok", "response": {}}
        if refused is not None:
            reply = {"status": "error", "response": {"reason": refused}}
        self._send_message(join_ref, ref, topic, "phx_reply", orjson.dumps(reply))

    def _join(self, topic: str, join_ref: object) -> str | None:
        """Join a topic, and return why it cannot be joined, if so."""
        if not TOPIC.fullmatch(topic):
            return "unmatched topic"
        if len(self._joined) >= MAX_TOPICS and topic.lower() not in self._joined:
            return f"{MAX_TOPICS} topics are joined, the maximum"
        self._joined[topic.lower()] = topic, join_ref
        self._topics.join(topic.lower(), self)
        return None

    def _send_message(
        self, join_ref: object, ref: object, topic: str, event: str, payload: bytes
    ) -> None:
        head = orjson.dumps([join_ref, ref, topic, event])
        self._send(events.TextMessage((head[:-1] + b"," + payload + b"]").decode()))

    def _send(self, event: Any) -> None:
        with self._lock:
            try:
                data = self._protocol.send(event)
            except LocalProtocolError:  # it is closed, or being closed
                return
            if self._sink is not None:
                self._sink.send(data)


class SocketResponse(OpenResponse):
    """The connection of a WebSocket, whose handshake wsproto answers; frames go both ways."""

    _stream: Socket
    _WHILE_UNSENT = selectors.EVENT_WRITE

    def __init__(self, worker: Any, conn: Connection, stream: Socket, accepted: bytes) -> None:
        super().__init__(worker, conn, stream)
        self._accepted = accepted

    def start(self, body: Iterable[bytes]) -> None:
        self._conn.response.force_close()
        self._conn.response.headers_sent = True  # those of wsproto
        self._conn.to_send.sendall(self._accepted)
        self._stream.attach(self)

    def begin(self) -> None:
        early = bytes(self._conn.received.data)
        super().begin()
        if early:
            self._stream.receive(early)

    def _put(self, data: bytes) -> None:
        self._conn.to_send.sendall(data)

    def _ready(self, conn: Connection) -> None:
        if not len(conn.to_send):  # a client is not read before it has taken what it is sent
            count = conn.receive()
            if count == 0:
                self._worker.close(conn)
                return
            if count:
                received = bytes(conn.received.data)
                conn.received.clear()
                conn.received_bytes = 0
                self._stream.receive(received)
                self._take()
        if conn.state is State.STREAMING:
            self._flush()
