"""Connections whose client is awaited: they wait here, and no thread waits for them."""

import re
import select
import socket
import time
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

# As much as is waited for whole; what is larger is read by a thread as it comes.
MOST_WAITED_FOR = 64 * 1024
MOST_UNHEARD = 1024 * 1024  # at one look, of who goes on when the answer has ended the connection

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


def is_whole(data: bytes | None, ahead: bytes = b"") -> bool:
    """Whether a thread could read a request, or refuse it, without waiting for the client.

    `data` is what look() found, behind what was read `ahead` of it.
    """
    if data == b"":
        return True
    data = ahead + (data or b"")
    line, separator, _ = data.partition(b"\r\n")
    if len(data) >= MOST_WAITED_FOR or (separator and not _REQUEST_LINE.match(line)):
        return True
    head_length = data.find(b"\r\n\r\n") + 4
    if head_length < 4:
        return False
    if _EXPECTATION.search(data, 0, head_length):  # the body comes only when it is asked for
        return True
    length = _CONTENT_LENGTH.search(data, 0, head_length)
    needed = head_length + (int(length[1]) if length else 0)
    return len(data) >= needed or needed > MOST_WAITED_FOR


def has_left(sock: socket.socket) -> bool:
    """Whether the client has closed its side, or says too much that is not heard any more."""
    try:
        for _ in range(MOST_UNHEARD // MOST_WAITED_FOR):
            if not sock.recv(MOST_WAITED_FOR, socket.MSG_DONTWAIT):
                return True
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def stop_reading(sock: socket.socket) -> None:
    """What was read is still answered; a request still being read ends here."""
    try:
        sock.shutdown(socket.SHUT_RD)
    except OSError:
        return


class _Waiting(NamedTuple):
    sock: socket.socket
    until: float
    is_over: Callable[[], bool]
    leave: Callable[[], None]


class WaitingRoom:
    """Sockets by descriptor. It has a descriptor of its own, readable when there is news of one.

    Edge-triggered: what has come stays in the socket, and only news wakes anybody.
    """

    def __init__(self, wait_s: float, events: int) -> None:
        self._wait_s = wait_s
        self._events = events | select.EPOLLET
        self._epoll = select.epoll()
        self._waiting: dict[int, _Waiting] = {}  # who came first is the first to be late

    def fileno(self) -> int:
        return self._epoll.fileno()

    def add(
        self, sock: socket.socket, is_over: Callable[[], bool], leave: Callable[[], None]
    ) -> None:
        """Calls `leave` when the wait is over, or when its time is up."""
        until = time.monotonic() + self._wait_s
        self._waiting[sock.fileno()] = _Waiting(sock, until, is_over, leave)
        self._epoll.register(sock, self._events)

    def attend(self) -> None:
        """Let go whose wait is over now; to be called when the descriptor is readable."""
        for descriptor, event in self._epoll.poll(0):
            is_gone = event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP)
            if self._waiting[descriptor].is_over() or is_gone:
                self._let_go(descriptor)

    def turn_out(self, everybody: bool = False) -> None:
        """Nothing more is read from those who took too long; what they have sent is judged."""
        now = time.monotonic()
        late = takewhile(lambda item: everybody or now > item[1].until, self._waiting.items())
        for descriptor, waiting in list(late):
            stop_reading(waiting.sock)
            self._let_go(descriptor)

    def _let_go(self, descriptor: int) -> None:
        waiting = self._waiting.pop(descriptor)
        self._epoll.unregister(waiting.sock)
        waiting.leave()
