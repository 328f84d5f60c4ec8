"""gunicorn's threaded worker, which speaks JSON before the application does.

What gunicorn cannot parse never reaches Flask, and its own answer is an HTML page.
"""

import select
import socket
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from selectors import EVENT_READ
from typing import Any, NamedTuple

import orjson
from gunicorn import util
from gunicorn.http import errors
from gunicorn.workers.gthread import TConn, ThreadWorker

from scan.http.response_buffer import Outbox
from scan.http.slow_clients import WaitingRoom, has_left, is_whole, look, stop_reading

REQUEST_WAIT_S = 10.0
ANSWER_WAIT_S = 60.0
LEAVE_WAIT_S = 2.0
MOST_UNREAD_BYTES = 64 * 1024 * 1024  # of answers that clients have yet to take

_KEEP_ALIVE: Future[bool] = Future()
_KEEP_ALIVE.set_result(True)

_REFUSALS = {
    errors.LimitRequestLine: (414, "too_large", "The request line is too long."),
    errors.LimitRequestHeaders: (431, "too_large", "The request headers are too large."),
    errors.ExpectationFailed: (417, "bad_request", "Only Expect: 100-continue is understood."),
    errors.UnsupportedTransferCoding: (501, "bad_request", "Unknown transfer coding."),
}
_MALFORMED = (400, "bad_request", "This is not a well-formed HTTP request.")
_INTERNAL = (500, "internal_error", "The request could not be served.")


class _Recipient(NamedTuple):
    """What gunicorn has to know of a connection to write a response."""

    sock: Outbox
    client: Any
    server: Any


class JsonWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A client that dribbles its request, takes its answer slowly or does not leave waits outside
    the few threads, and not for long.

    A body too large to wait for whole is read by a thread, for `timeout` at most.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read_deadlines: dict[TConn, float] = {}
        self._unsent: dict[TConn, Outbox] = {}  # by a thread, for finish_request()
        self._unread: dict[TConn, Outbox] = {}  # who waits in _readers, the longest first

    def run(self) -> None:
        self._senders = self._open_room(REQUEST_WAIT_S, select.EPOLLIN | select.EPOLLRDHUP)
        self._readers = self._open_room(ANSWER_WAIT_S, select.EPOLLOUT)
        self._leavers = self._open_room(LEAVE_WAIT_S, select.EPOLLIN)
        # Whoever runs another application on these settings has none. What is answered so has no
        # line in gunicorn's own log of accesses.
        application = getattr(self.wsgi, "wsgi_app", None)
        self._at_once = None if self.cfg.accesslog else getattr(application, "at_once", None)
        super().run()

    def _open_room(self, wait_s: float, events: int) -> WaitingRoom:
        room = WaitingRoom(wait_s, events)
        self.poller.register(room.fileno(), EVENT_READ, lambda _: room.attend())
        return room

    def enqueue_req(self, conn: TConn) -> None:
        """To a thread when the request is there, behind what the parser has read ahead of it."""
        ahead = conn.parser.unreader.buf.getvalue() if conn.parser else b""
        data = look(conn.sock)
        if not is_whole(data, ahead):
            is_over = partial(_can_be_read, conn.sock, ahead)
            self._senders.add(conn.sock, is_over, partial(self._enqueue_now, conn))
        elif ahead or not data or not self._answer_at_once(conn, data):
            self._enqueue_now(conn)

    def _enqueue_now(self, conn: TConn) -> None:
        conn.data_ready = True
        super().enqueue_req(conn)

    def _answer_at_once(self, conn: TConn, data: bytes) -> bool:
        """In this loop, where the answer lies ready: threads would take turns for longer."""
        found = self._find_at_once(conn, data)
        if found is None:
            return False
        size, response = found
        conn.init()
        with suppress(OSError):  # the client is gone, which the outbox finds, too
            conn.sock.recv(size, socket.MSG_DONTWAIT)
        self._send(conn, Outbox(conn.sock, response))
        self.finish_request(conn, _KEEP_ALIVE)
        return True

    def _find_at_once(self, conn: TConn, data: bytes) -> tuple[int, bytes] | None:
        """None as well where the answer must say that the connection closes."""
        has_room = self.alive and len(self.keepalived_conns) < self.max_keepalived
        if not (self._at_once and has_room and isinstance(conn.client, tuple)):
            return None
        try:
            found: tuple[int, bytes] | None = self._at_once(data, conn.client[0])
        except Exception:  # it would end this loop, and with it every connection
            self.log.exception("A kept answer could not be sent; a thread makes it")
            return None
        return found

    def handle_request(self, req: Any, conn: TConn) -> Any:
        outbox = Outbox(conn.sock)
        try:
            return super().handle_request(req, _Recipient(outbox, conn.client, conn.server))
        finally:
            self._send(conn, outbox)

    def _send(self, conn: TConn, outbox: Outbox) -> None:
        if not outbox.send_now():
            self._unsent[conn] = outbox

    def finish_request(self, conn: TConn, fs: "Future[Any]") -> None:
        """When the client has taken the whole answer; until then it waits without a thread."""
        outbox = self._unsent.pop(conn, None)
        if outbox is not None:
            self._readers.add(conn.sock, outbox.send_now, partial(self._has_read, conn, fs))
            self._unread[conn] = outbox
            self._forget_idle_readers()
        elif fs.cancelled() or fs.exception() or fs.result():
            super().finish_request(conn, fs)
        else:
            self._part(conn)

    def _has_read(self, conn: TConn, fs: "Future[Any]") -> None:
        if self._unread.pop(conn):
            self._close(conn)
        else:
            self.finish_request(conn, fs)

    def _forget_idle_readers(self) -> None:
        size = sum(map(len, self._unread.values()))
        for conn, outbox in self._unread.items():
            if size <= MOST_UNREAD_BYTES:
                return
            size -= len(outbox)
            with suppress(OSError):  # which ends its wait
                conn.sock.shutdown(socket.SHUT_RDWR)

    def _part(self, conn: TConn) -> None:
        """Closing before the client does could take from it what it has not read yet.

        gunicorn would wait for that here, and everybody with it.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)
            return
        if has_left(conn.sock):
            self._close(conn)
        else:
            self._leavers.add(conn.sock, partial(has_left, conn.sock), partial(self._close, conn))

    def _close(self, conn: TConn) -> None:
        self.nr_conns -= 1
        conn.close()

    def handle(self, conn: TConn) -> Any:
        self._read_deadlines[conn] = time.monotonic() + self.cfg.timeout
        try:
            return super().handle(conn)
        finally:
            self._read_deadlines.pop(conn, None)

    def murder_pending(self) -> None:
        """Called every second by the main loop."""
        super().murder_pending()
        self._senders.turn_out(everybody=not self.alive)
        self._readers.turn_out()
        self._leavers.turn_out()
        now = time.monotonic()
        for conn, deadline in self._read_deadlines.copy().items():
            if now > deadline:
                self._read_deadlines.pop(conn, 0.0)
                stop_reading(conn.sock)

    def set_accept_enabled(self, enabled: bool) -> None:
        """When stopping: take what has connected already, then refuse.

        Left open, as gunicorn does, the socket takes connections that nobody will answer; refused
        ones go to another instance at once.
        """
        super().set_accept_enabled(enabled)
        if not self.alive:
            for listener in self.sockets:
                self._accept_waiting(listener)
                listener.close()

    def _accept_waiting(self, listener: socket.socket) -> None:
        before = -1
        while before != self.nr_conns:
            before = self.nr_conns
            self.accept(listener)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        status, code, sentence = _refusal(exc)
        if status == 500:
            self.log.exception("Error handling request")
        else:
            self.log.warning(
                "Refused a request from %s: %s", addr[0] if addr else "-", ascii(exc)[:200]
            )
        try:
            util.write_nonblock(client, _answer(status, code, sentence))
        except OSError:
            self.log.debug("The client was gone before its error could be sent.")


def _can_be_read(sock: socket.socket, ahead: bytes) -> bool:
    return is_whole(look(sock), ahead)


def _refusal(exc: Exception) -> tuple[int, str, str]:
    if type(exc) in _REFUSALS:
        return _REFUSALS[type(exc)]
    return _MALFORMED if isinstance(exc, errors.ParseException) else _INTERNAL


def _answer(status: int, code: str, sentence: str) -> bytes:
    body = orjson.dumps({"error": sentence, "code": code})
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/json\r\n"
        "Access-Control-Allow-Origin: *\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body
