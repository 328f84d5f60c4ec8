"""JSON over a Unix socket (a node's IPC file): the same bounds on bytes and time as over HTTP.

Nothing frames an answer: geth ends it with a newline, others with its last bracket. A connection
has one request at a time, so an answer is complete as soon as it is valid JSON. A connection that
failed to deliver an answer is closed: a late one must not be taken for that to the next request.
"""

import re
import socket
import time
from collections.abc import Callable
from typing import Any

from scan.ethereum.node_errors import BatchRefused, NodeError, TimedOut, too_large

READ_BYTES = 1024 * 1024
# Brackets in strings make the count wrong, so text is also parsed after a pause without bytes.
PAUSE_S = 0.02
_END = re.compile(rb"[\]}]\s*\Z")


class IpcConnection:
    """A connection to the socket at `path`, for one thread."""

    def __init__(self, path: str, connect_timeout_s: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(connect_timeout_s)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise NodeError("the node cannot be reached through its IPC socket") from None

    def close(self) -> None:
        self._socket.close()

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and has no unread bytes, which would be a late answer."""
        self._socket.setblocking(False)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def exchange(
        self, body: bytes, ends_at: float, most_bytes: int, parse: Callable[[bytearray], Any]
    ) -> tuple[Any, int]:
        """Return the parsed answer, and its size in bytes.

        `parse` raises BatchRefused where the answer is incomplete. Raises NodeError, TimedOut,
        BatchRefused and AnswerTooLarge.
        """
        try:
            self._socket.settimeout(_left_s(ends_at))
            self._socket.sendall(body + b"\n")
            return self._receive_answer(ends_at, most_bytes, parse)
        except TimeoutError:
            raise TimedOut("the node did not respond in time") from None
        except OSError:
            raise NodeError("the node cut the connection") from None

    def _receive_answer(
        self, ends_at: float, most_bytes: int, parse: Callable[[bytearray], Any]
    ) -> tuple[Any, int]:
        text = bytearray()
        open_brackets = 0
        # The size that was last parsed and incomplete: parsing at each piece would be quadratic.
        tried_bytes = 0
        pause_s = PAUSE_S
        while True:
            may_be_whole = len(text) > tried_bytes and _END.search(text[-9:])
            left_s = _left_s(ends_at)
            self._socket.settimeout(min(left_s, pause_s) if may_be_whole else left_s)
            try:
                piece = self._socket.recv(READ_BYTES)
            except TimeoutError:
                if not may_be_whole:
                    raise
                is_to_be_tried, pause_s = True, 2 * pause_s
            else:
                if not piece:
                    raise BatchRefused("the node cut its response short")
                text += piece
                if len(text) > most_bytes:
                    raise too_large(most_bytes)
                open_brackets += piece.count(b"{") + piece.count(b"[")
                open_brackets -= piece.count(b"}") + piece.count(b"]")
                is_to_be_tried = open_brackets == 0 and len(text) >= 2 * tried_bytes
            if is_to_be_tried and _END.search(text[-9:]):
                try:
                    return parse(text), len(text)
                except BatchRefused:
                    tried_bytes = len(text)


def _left_s(ends_at: float) -> float:
    if (left_s := ends_at - time.monotonic()) <= 0:
        raise TimeoutError
    return left_s
