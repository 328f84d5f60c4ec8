"""One client's connection: bytes received, from which gunicorn's parser reads as if from a socket,
a body in chunks decoded as far as it has come, the current request, bytes to send. Nothing here
waits; gunicorn parses requests and writes responses.
"""

import io
import os
import socket
import time
from concurrent.futures import Future
from enum import Enum
from typing import Any

from gunicorn.http.body import Body, ChunkedReader
from gunicorn.http.errors import InvalidChunkSize, LimitRequestHeaders, NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import Unreader
from gunicorn.http.wsgi import create

from scan.json_bodies import MAX_SOURCES_BYTES
from scan.server.responses import FileBody, Response

# As much as gunicorn reads from a socket at once; its parser copies what it holds at each step.
_PIECE_BYTES = 8192


class MoreNeeded(Exception):
    """The parser needs bytes that have not been received yet."""


class ReceivedBytes(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """Received bytes; `data` begins with the first one that release() has not dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.has_ended = False
        self._position = 0  # in `data`: the first byte that the parser has not been given yet

    def __len__(self) -> int:
        """Return how many bytes the parser has not used."""
        return len(self.data) - self._position + int(self.buf.getbuffer().nbytes)

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return the next piece; raises MoreNeeded where the parser would wait for the client."""
        if self._position < len(self.data):
            end = self._position + max(size_hint or 0, _PIECE_BYTES)
            piece = bytes(self.data[self._position : end])
            self._position += len(piece)
            return piece
        if self.has_ended:
            return b""
        raise MoreNeeded

    def release(self, unused: int = 0) -> None:
        """Drop the bytes that the parser has used: all it was given but the last `unused`."""
        used = self._position - int(self.buf.getbuffer().nbytes) - unused
        del self.data[:used]
        self._position -= used

    def rewind(self) -> None:
        """Have the parser read again from the first byte that has not been released."""
        self.take_buffered()
        self._position = 0

    def clear(self) -> None:
        self.rewind()
        self.data.clear()


# A chunk takes 4 us to decode, whatever it holds.
MAX_CHUNKS = 65_536
# From this size on a body is decoded although nothing in it looks like its end.
FIRST_DECODED_BYTES = 1024 * 1024
# A client can send bytes that look like the end again and again: later attempts are rarer.
QUICK_ATTEMPTS = 16
LATER_ATTEMPTS_S = 0.5
_END = b"\r\n\r\n"  # of the last chunk, or of the trailers behind it


class ChunkedBody(ChunkedReader):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's reader, which resumes at the first chunk that was not complete."""

    def __init__(self, request: Any, received: ReceivedBytes) -> None:
        super().__init__(request, received)
        self._received = received
        self._chunks = 0
        self._whole_chunks_bytes = 0  # of `buf`
        self._searched = 0  # of the received data
        self._attempts = 0
        self._next_attempt_at = 0.0
        self._next_attempt_bytes = FIRST_DECODED_BYTES
        self._may_be_whole = False

    def may_be_whole(self) -> bool:
        """Return whether decode() is worth a try."""
        data = self._received.data
        if data.find(_END, max(0, self._searched - len(_END) + 1)) >= 0:
            self._may_be_whole = True
        self._searched = len(data)
        if len(data) >= self._next_attempt_bytes:
            return True
        is_quick = self._attempts < QUICK_ATTEMPTS
        return self._may_be_whole and (is_quick or time.monotonic() >= self._next_attempt_at)

    def decode(self, max_bytes: int) -> bytes:
        """Return the body; a longer one is cut after `max_bytes` + 1 bytes.

        Raises MoreNeeded where chunks are missing, and may be called again then; raises
        ParseException or NoMoreData for malformed chunks.
        """
        self._attempts += 1
        try:
            body: bytes = self.read(max_bytes + 1)
            return body
        except MoreNeeded:
            self._received.rewind()
            self._searched = len(self._received.data)
            self._may_be_whole = False
            self._next_attempt_at = time.monotonic() + LATER_ATTEMPTS_S
            self._next_attempt_bytes = max(FIRST_DECODED_BYTES, 2 * len(self._received.data))
            self.buf.truncate(self._whole_chunks_bytes)
            self.buf.seek(0, os.SEEK_END)
            self.parser = self.parse_chunked(self._received)
            raise

    def parse_chunk_size(self, unreader: ReceivedBytes, data: bytes | None = None) -> Any:
        """Release the bytes before the chunk, which are never read again, and count the chunk."""
        unreader.release(unused=len(data or b""))
        self._whole_chunks_bytes = self.buf.tell()
        self._chunks += 1
        if self._chunks > MAX_CHUNKS + self._attempts:
            raise InvalidChunkSize(b"more than %d chunks" % MAX_CHUNKS)
        return super().parse_chunk_size(unreader, data)


MAX_HEAD_BYTES = 64 * 1024
# The largest body that any path takes is a form with sources; a request that announces more is
# refused unread.
MAX_BODY_BYTES = MAX_SOURCES_BYTES + 64 * 1024
# Of a body in chunks as sent, with the lines of their sizes.
MAX_CHUNKED_BYTES = 2 * MAX_BODY_BYTES
MAX_IGNORED_BYTES = 16 * 1024 * 1024
LEAST_IGNORED_BYTES = 256  # that a read counts for, however little came
_READ_BYTES = 64 * 1024
FILE_PIECES_AT_ONCE = 4  # before it is the turn of other connections


class ResponseBuffer:
    """The socket that gunicorn writes to: it keeps the bytes, and sends them without waiting."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data = bytearray()
        self._file: FileBody | None = None
        self._file_bytes = 0  # sent since taken_file_bytes()

    def __len__(self) -> int:
        """Return how many bytes in memory are still to be sent."""
        return len(self._data)

    def sendall(self, data: bytes) -> None:
        self._data += data

    send = sendall

    def attach(self, file: FileBody) -> None:
        """Send a file after the bytes written so far, and close it then."""
        self._file = file

    def has_file(self, body: object) -> bool:
        return body is not None and body is self._file

    def taken_file_bytes(self) -> int:
        """Return how many bytes of a file were sent since the last call."""
        taken, self._file_bytes = self._file_bytes, 0
        return taken

    def flush(self) -> bool:
        """Send as much as the socket takes, and return whether nothing is left."""
        try:
            for _ in range(FILE_PIECES_AT_ONCE):
                while self._data:
                    del self._data[: self._sock.send(self._data)]
                if self._file is None:
                    return True
                self._data += self._file.read()
                self._file_bytes += len(self._data)
                if not self._data:
                    self.close()
        except BlockingIOError:
            return False
        except OSError:  # the client has left, as the next read will find
            self._data.clear()
            self.close()
        return not self._data and self._file is None

    def close(self) -> None:
        """Close the file, of which nothing more is sent."""
        if self._file is not None:
            self._file.close()
            self._file = None


class State(Enum):
    RECEIVING = "a request, or waiting for one"
    IN_THREAD = "Flask runs, or the request is being counted or waits for its turn"
    SENDING = "the client has yet to take a response"
    STREAMING = "a response that does not end"
    ENDING = "what the client still sends is ignored"


class Connection:
    """A client's connection. `deadline` (time.monotonic()) ends the current state; `request` is set
    from the end of its head to the end of its response."""

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
        self.open_response: Any = None  # of OPEN_RESPONSE, where the response does not end
        self.waits_for: Future[Any] | None = None  # before the request goes on
        self.watched: tuple[int, Any] = (0, None)  # in the worker's poller
        self.received_bytes = 0  # since the last response
        self.ignored_bytes = 0
        self._cfg = cfg
        self._server = server
        self._parser = RequestParser(cfg, (), client)
        self._parser.unreader = self.received
        self._chunks: ChunkedBody | None = None  # until they are decoded
        self._is_cut = False  # the rest of the body is not read
        self.has_body = False  # of the request
        self.has_had_response = False

    def _recv(self, most_bytes: int = _READ_BYTES, flags: int = 0) -> bytes | None:
        """Return what has come, None where nothing has, b"" where the client has left."""
        try:
            return self.sock.recv(most_bytes, flags)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def receive(self) -> int | None:
        """Return how many bytes were read, None where none came; 0 sets `received.has_ended`."""
        data = self._recv()
        if data is None:
            return None
        self.received.has_ended = not data
        self.received.data += data
        self.received_bytes += len(data)
        return len(data)

    def has_left(self) -> bool:
        """Return whether the client has ended the connection, without reading from it."""
        return self._recv(1, socket.MSG_PEEK) == b""

    def ignore(self) -> bool:
        """Drop received bytes; return whether the client has left, or sent MAX_IGNORED_BYTES."""
        data = self._recv()
        self.ignored_bytes += max(len(data or b""), LEAST_IGNORED_BYTES)
        return data == b"" or self.ignored_bytes > MAX_IGNORED_BYTES

    def may_have_head(self) -> bool:
        """Return whether parse_head() is worth a call, also to refuse a head that is too long."""
        data = self.received.data
        return (
            data.find(b"\n\r\n") >= 0
            or data.find(b"\n\n") >= 0
            or self.received.has_ended
            or len(data) > MAX_HEAD_BYTES
        )

    def parse_head(self) -> bool:
        """Parse the head of a request, and return whether it is complete.

        Raises StopIteration or NoMoreData where the client has left, and gunicorn's errors for a
        malformed head.
        """
        end = self.received.data.find(b"\r\n\r\n")
        if (len(self.received.data) if end < 0 else end) > MAX_HEAD_BYTES:
            raise LimitRequestHeaders("the head is too long")
        try:
            request = next(self._parser)
        except MoreNeeded:
            self.received.rewind()
            return False
        self._is_cut, self._chunks = False, None
        self.has_body = getattr(request.body.reader, "length", 1) > 0
        if isinstance(request.body.reader, ChunkedReader):
            self._chunks = ChunkedBody(request, self.received)
            request.body = Body(self._chunks)
        self.received.release()
        self.request = request
        self.response, self.environ = create(
            request, self.to_send, self.client, self._server, self._cfg, Response
        )
        self.environ["wsgi.multithread"] = True
        return True

    def body_has_come(self) -> bool:
        """Return whether no more of the body is awaited: it is complete, too long or has ended."""
        if self.received.has_ended:
            return True
        if self._chunks is not None:
            return self._chunks.may_be_whole() or self.received_bytes > MAX_CHUNKED_BYTES
        missing = self._missing_bytes()
        return missing <= 0 or missing > MAX_BODY_BYTES

    def is_whole(self) -> bool:
        """Return whether the body is complete: only then is the next request's beginning known."""
        assert self.request is not None
        if self._is_cut or self._chunks is not None or self.request.body.failed:
            return False
        return self._missing_bytes() <= 0

    def end_body(self) -> None:
        """End the body with the bytes received; raises MoreNeeded where chunks are missing."""
        if self._chunks is None:
            if not self.is_whole():
                self.received.has_ended = True
            return
        if self.received_bytes > MAX_CHUNKED_BYTES:
            self.received.has_ended = True
        try:
            body = self._chunks.decode(MAX_BODY_BYTES)
        except (NoMoreData, ParseException) as error:
            self.environ["wsgi.input"] = _BrokenBody(error)
            self._is_cut = True
        else:
            # From here on it is as if the client had sent it whole, with its length.
            self.environ["wsgi.input"] = io.BytesIO(body)
            self.environ["CONTENT_LENGTH"] = str(len(body))
            del self.environ["HTTP_TRANSFER_ENCODING"]
            self._is_cut = len(body) > MAX_BODY_BYTES
        self._chunks = None

    def end_request(self) -> None:
        """Skip the rest of the body, so that it is not parsed as the next request."""
        assert self.request is not None
        # At once: finish_body() reads it by the kilobyte, and copies what is left of it each time,
        # 16 s of the worker's loop for 5 MiB.
        if length := getattr(self.request.body.reader, "length", 0):
            self.request.body.reader.read(length)
        self._parser.finish_body()
        self.received.release()
        self.forget_request()
        self.has_had_response = True

    def forget_request(self) -> None:
        """Break the cycles between an environ and its values: left to the garbage collector, bodies
        of 5 MB piled up to 800 MB."""
        self.request = self.response = None
        self.environ.clear()

    def _missing_bytes(self) -> int:
        if not self.has_body:
            return 0
        assert self.request is not None
        return int(getattr(self.request.body.reader, "length", 0)) - len(self.received)


class _BrokenBody(io.RawIOBase):
    """A body that raises gunicorn's error when the application reads it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise self._error
