"""Connections whose request is not all there yet: they wait here, and no thread waits for them."""

import re
import select
import socket
import time
from collections.abc import Callable

# As much as is waited for whole; what is larger is read by a thread as it comes.
MOST_WAITED_FOR = 64 * 1024

_REQUEST_LINE = re.compile(rb"[!-~]+ [!-~]+ HTTP/1\.[01]\Z")
_EXPECTATION = re.compile(rb"\r\nexpect:", re.IGNORECASE)
_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)


def look(sock: socket.socket) -> bytes | None:
    """What has come and was not read; None when nothing has, b"" when nothing will."""
    try:
        return sock.recv(MOST_WAITED_FOR, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def is_whole(data: bytes | None) -> bool:
    """Whether a thread could read a request, or refuse it, without waiting for the client."""
    if data is None:
        return False
    line, separator, _ = data.partition(b"\r\n")
    if not data or len(data) == MOST_WAITED_FOR or (separator and not _REQUEST_LINE.match(line)):
        return True
    head_length = data.find(b"\r\n\r\n") + 4
    if head_length < 4:
        return False
    if _EXPECTATION.search(data, 0, head_length):  # the body comes only when it is asked for
        return True
    length = _CONTENT_LENGTH.search(data, 0, head_length)
    needed = head_length + (int(length[1]) if length else 0)
    return len(data) >= needed or needed > MOST_WAITED_FOR


class WaitingRoom:
    """Sockets by descriptor. It has a descriptor of its own, readable when somebody has sent more.

    Edge-triggered: what has come stays in the socket, and only news of it wakes anybody.
    """

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        self._epoll = select.epoll()
        self._waiting: dict[int, tuple[socket.socket, float, Callable[[], None]]] = {}

    def fileno(self) -> int:
        return self._epoll.fileno()

    def add(self, sock: socket.socket, leave: Callable[[], None]) -> None:
        """Calls `leave` when the request is whole, or when its time is up."""
        self._waiting[sock.fileno()] = (sock, time.monotonic() + self._wait_s, leave)
        self._epoll.register(sock, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)

    def attend(self) -> None:
        """Let go whoever is complete now; to be called when the descriptor is readable."""
        for descriptor, event in self._epoll.poll(0):
            is_over = event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP)
            if is_over or is_whole(look(self._waiting[descriptor][0])):
                self._let_go(descriptor)

    def turn_out(self, everybody: bool = False) -> None:
        """Nothing more is read from those who took too long; what they have sent is judged."""
        now = time.monotonic()
        late = [d for d, (_, at, _) in self._waiting.items() if everybody or now > at]
        for descriptor in late:
            stop_reading(self._waiting[descriptor][0])
            self._let_go(descriptor)

    def _let_go(self, descriptor: int) -> None:
        sock, _, leave = self._waiting.pop(descriptor)
        self._epoll.unregister(sock)
        leave()


def stop_reading(sock: socket.socket) -> None:
    """What was read is still answered; a request still being read ends here."""
    try:
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        return
