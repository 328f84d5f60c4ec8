"""A request body in chunks, decoded as far as it has been received."""

import os
import time
from typing import Any

from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import InvalidChunkSize

from scan.server.received_bytes import MoreNeeded, ReceivedBytes

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
