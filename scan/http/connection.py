"""One client's connection, without any waiting: what has come, what is being answered, what is
still to be sent. gunicorn parses requests and writes responses."""

import io
import os
import socket
from enum import Enum
from typing import Any

from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import Unreader
from gunicorn.http.wsgi import create

MAX_HEAD_BYTES = 64 * 1024
# The largest body that any path takes is 5 MiB; who announces more is refused without reading it.
MAX_BODY_BYTES = 5 * 1024 * 1024 + 64 * 1024
# A body in chunks is decoded anew whenever what may be its end has come, at most so often.
MAX_DECODINGS = 8
MAX_IGNORED_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024
_END_OF_CHUNKS = b"0\r\n\r\n"


class MoreNeeded(Exception):
    """What has come is not the whole of what is read."""


class ReceivedBytes(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """What the parser reads from: bytes that have come, and never the socket."""

    def __init__(self) -> None:
        super().__init__()
        self.has_ended = False

    def __len__(self) -> int:
        return int(self.buf.getbuffer().nbytes)

    def feed(self, data: bytes) -> None:
        self.buf.seek(0, os.SEEK_END)
        self.buf.write(data)

    def contains(self, part: bytes) -> bool:
        return part in self.buf.getvalue()

    def chunk(self, size_hint: int | None = None) -> bytes:
        if self.has_ended:
            return b""
        raise MoreNeeded


class ResponseBuffer:
    """To gunicorn the socket that a response is written to; it sends without waiting."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data = bytearray()

    def __len__(self) -> int:
        """How many bytes the client has yet to take."""
        return len(self._data)

    def sendall(self, data: bytes) -> None:
        self._data += data

    send = sendall

    def flush(self) -> bool:
        """Whether nothing is left."""
        try:
            while self._data:
                del self._data[: self._sock.send(self._data)]
        except BlockingIOError:
            return False
        except OSError:  # the client is gone, which the next read finds, too
            self._data.clear()
        return True


class State(Enum):
    RECEIVING = "a request, or waiting for one"
    IN_THREAD = "Flask runs"
    SENDING = "the client has yet to take a response"
    ENDING = "what the client still sends is ignored"


class Connection:
    """`deadline` (time.monotonic()) is for what is awaited; `request` is set from the end of its
    head to the end of its response."""

    def __init__(self, cfg: Any, sock: socket.socket, client: Any, server: Any) -> None:
        self.sock = sock
        self.client = client
        self.received = ReceivedBytes()
        self.to_send = ResponseBuffer(sock)
        self.deadline = 0.0
        self.request: Request | None = None
        self.response: Any = None  # gunicorn's Response, as long as there is a request
        self.environ: dict[str, Any] = {}
        self.state = State.RECEIVING
        self.watched: tuple[int, Any] = (0, None)  # in the worker's poller
        self.received_bytes = 0  # since the last response
        self.ignored_bytes = 0
        self._cfg = cfg
        self._server = server
        self._parser = RequestParser(cfg, (), client)
        self._parser.unreader = self.received
        self._decodings = 0
        self._decoded_up_to = 0
        self._is_decoded = False

    def receive(self) -> int | None:
        """How many bytes came now; None for none. The end is noted in `received`."""
        try:
            data = self.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        self.received.has_ended = not data
        self.received.feed(data)
        self.received_bytes += len(data)
        return len(data)

    def ignore(self) -> bool:
        """Whether the client is gone, or too much came that nobody reads any more."""
        try:
            data = self.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            return True
        self.ignored_bytes += len(data)
        return not data or self.ignored_bytes > MAX_IGNORED_BYTES

    def may_have_head(self) -> bool:
        """Whether parsing is worth a try; a head that is too long is refused by it."""
        received = self.received
        return (
            received.contains(b"\n\r\n")
            or received.contains(b"\n\n")
            or received.has_ended
            or len(received) > MAX_HEAD_BYTES
        )

    def parse_head(self) -> bool:
        """Whether there is a request now; raises what gunicorn raises for one it refuses.

        StopIteration and NoMoreData: the client has left.
        """
        before = self.received.buf.getvalue()
        if len(before) > MAX_HEAD_BYTES:
            self.received.has_ended = self.received.has_ended or b"\r\n\r\n" not in before
        try:
            self.request = next(self._parser)
        except MoreNeeded:
            self.received.take_buffered()
            self.received.feed(before)
            return False
        self.response, self.environ = create(
            self.request, self.to_send, self.client, self._server, self._cfg
        )
        self.environ["wsgi.multithread"] = True
        self._decodings = self._decoded_up_to = 0
        self._is_decoded = False
        return True

    def body_has_come(self) -> bool:
        """Also where no more of it is awaited: it is too long, or the client sends no more."""
        if self.received.has_ended:
            return True
        if self._is_chunked:
            data = self.received.buf.getvalue()
            may_be_over = data.find(_END_OF_CHUNKS, self._decoded_up_to) >= 0
            return may_be_over or data.endswith(b"\r\n\r\n") or len(data) > MAX_BODY_BYTES
        missing = self._missing_bytes()
        return missing <= 0 or missing > MAX_BODY_BYTES

    def is_whole(self) -> bool:
        """Whether another request may follow: where it begins is known, and has come."""
        assert self.request is not None
        if self._is_chunked or self.request.body.failed:
            return False
        return self._missing_bytes() <= 0

    def end_body(self) -> None:
        """What has come is all that is read; raises MoreNeeded where chunks are to be awaited."""
        if self._is_chunked:
            self._decode_chunks()
        elif not self.is_whole():
            self.received.has_ended = True

    def end_request(self) -> None:
        self.request = self.response = None
        self.environ = {}

    @property
    def _is_chunked(self) -> bool:
        assert self.request is not None
        return isinstance(self.request.body.reader, ChunkedReader) and not self._is_decoded

    def _missing_bytes(self) -> int:
        assert self.request is not None
        length = 0 if self._is_decoded else self.request.body.reader.length
        return int(length) - len(self.received)

    def _decode_chunks(self) -> None:
        """The decoded body takes the place of the chunks, or else Flask finds what is wrong."""
        assert self.request is not None
        before = self.received.take_buffered()
        self.received.feed(before)
        self._decodings += 1
        try:
            body = self.request.body.read(MAX_BODY_BYTES)
            self.environ["wsgi.input"] = io.BytesIO(body)
            self._is_decoded = True
        except (MoreNeeded, ParseException, OSError) as error:
            self._restore(before)
            self._decoded_up_to = max(0, len(before) - len(_END_OF_CHUNKS))
            is_hopeless = self._decodings >= MAX_DECODINGS or len(before) > MAX_BODY_BYTES
            if isinstance(error, MoreNeeded) and not is_hopeless:
                raise
            self.received.has_ended = True

    def _restore(self, data: bytes) -> None:
        assert self.request is not None
        self.received.take_buffered()
        self.received.feed(data)
        self.request.set_body_reader()
        self.environ["wsgi.input"] = self.request.body
