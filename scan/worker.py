"""gunicorn's threaded worker, which speaks JSON before the application does.

What gunicorn cannot parse never reaches Flask, and its own answer is an HTML page.
"""

import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus
from selectors import EVENT_READ
from typing import Any

import orjson
from gunicorn import util
from gunicorn.http import errors
from gunicorn.workers.gthread import TConn, ThreadWorker

from scan.waiting_room import WaitingRoom, is_whole, look, stop_reading

REQUEST_WAIT_S = 10.0

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


class JsonWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A client that dribbles its request waits outside the few threads, and not for long.

    A body too large to wait for whole is read by a thread, for `timeout` at most.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read_deadlines: dict[TConn, float] = {}

    def run(self) -> None:
        self._room = WaitingRoom(REQUEST_WAIT_S)
        # Whoever runs another application on these settings has none.
        self._at_once = getattr(self.wsgi.wsgi_app, "at_once", None)
        self.poller.register(self._room.fileno(), EVENT_READ, lambda _: self._room.attend())
        super().run()

    def enqueue_req(self, conn: TConn) -> None:
        """To a thread when the request is there; also what the parser has read ahead of it."""
        if conn.parser and conn.parser.unreader.buf.getvalue():
            self._enqueue_now(conn)
            return
        data = look(conn.sock)
        if not is_whole(data):
            self._room.add(conn.sock, partial(self._enqueue_now, conn))
        elif not (data and self.alive and self._answer_at_once(conn, data)):
            self._enqueue_now(conn)

    def _enqueue_now(self, conn: TConn) -> None:
        conn.data_ready = True
        super().enqueue_req(conn)

    def _answer_at_once(self, conn: TConn, data: bytes) -> bool:
        """In this loop, where the answer lies ready: threads would take turns for longer.

        What a slow reader leaves of it is sent by a thread.
        """
        found = self._at_once(data, conn.client[0]) if self._at_once else None
        if found is None:
            return False
        size, response = found
        conn.init()
        try:
            conn.sock.recv(size, socket.MSG_DONTWAIT)
            sent = conn.sock.send(response, socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(response)  # the client is gone, which the poller finds, too
        if sent == len(response):
            self.finish_request(conn, _KEEP_ALIVE)
        else:
            self._submit(conn, self._send, conn, response[sent:])
        return True

    def _send(self, conn: TConn, rest: bytes) -> bool:
        conn.sock.setblocking(True)
        conn.sock.sendall(rest)
        return True

    def _submit(self, conn: TConn, work: Callable[..., bool], *arguments: Any) -> None:
        future = self.tpool.submit(work, *arguments)
        future.add_done_callback(
            lambda done: self.method_queue.defer(self.finish_request, conn, done)
        )

    def handle(self, conn: TConn) -> Any:
        self._read_deadlines[conn] = time.monotonic() + self.cfg.timeout
        try:
            return super().handle(conn)
        finally:
            self._read_deadlines.pop(conn, None)

    def murder_pending(self) -> None:
        """Called every second by the main loop."""
        super().murder_pending()
        self._room.turn_out(everybody=not self.alive)
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
