"""gunicorn's threaded worker with connections of our own: no thread waits for a client.

The loop receives requests and sends responses, and answers itself where nothing has to wait;
threads run Flask. tests/http/test_gunicorn.py fails where the parts of gunicorn in use change.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from queue import SimpleQueue
from typing import Any

from gunicorn.http import errors

from scan import processor_affinity
from scan.concurrency.turns import Postponed, Turn
from scan.errors import ScanError, Unavailable
from scan.server import connection_limits, responses
from scan.server.connection import Connection, MoreNeeded, State

MAX_RECEIVED_BYTES = 128 * 1024 * 1024  # of all requests that are not whole yet
MAX_UNSENT_BYTES = 64 * 1024 * 1024  # of all responses that clients have yet to take
CHECK_EVERY_S = 0.5


class Worker(connection_limits.AcceptedConnections):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unsent_bytes = 0  # an upper bound, exact after _limit_unsent()
        self._checked_at = 0.0
        self._processor = processor_affinity.OneProcessor()
        # Whole requests, for threads of which those that wait for one are in `_idle`.
        self._whole: SimpleQueue[Connection | None] = SimpleQueue()
        self._idle: deque[None] = deque()
        self._threads = 0

    def run(self) -> None:
        # gunicorn looks up settings by name sixteen times a request, each through __getattr__:
        # as plain attributes they save a tenth of a response from the cache.
        self.cfg.__dict__.update(
            (name, setting.get()) for name, setting in self.cfg.settings.items()
        )
        # Another application, as in benchmarks, has no such steps.
        application = getattr(self.wsgi, "wsgi_app", None)
        self._step = getattr(application, "step", lambda *_: None)
        self._check_application = getattr(application, "check", lambda: None)
        self._may_go_on = getattr(application, "may_go_on", lambda *_, **__: True)
        self._leave = getattr(application, "leave", lambda _: None)
        self._client_address = getattr(application, "client_address", _peer)
        try:
            super().run()
        finally:  # also where a signal ends the worker at once: Python waits for its threads
            for _ in range(self._threads):
                self._whole.put(None)

    def _client_of(self, conn: Connection) -> str:
        """Return the client's address; before it has sent a request, the peer's."""
        peer = conn.client[0] if isinstance(conn.client, tuple) else ""
        return str(self._client_address(conn.environ if conn.request else {"REMOTE_ADDR": peer}))

    # A request

    def _receive(self, conn: Connection) -> None:
        count = conn.receive()
        if count is None:
            return
        self._received_bytes += count
        if self._received_bytes > MAX_RECEIVED_BYTES:
            self._limit_received()
        self._advance(conn)

    def _limit_received(self) -> None:
        """Refuse the oldest upload of the client whose unfinished uploads have most bytes."""
        uploads = {
            conn: conn.received_bytes
            for conn in self._connections
            if conn.received_bytes > 0 and (conn.state is State.RECEIVING or conn.waits_for)
        }
        if uploads:
            refused = connection_limits.first_of_largest(uploads, self._client_of)
            self._refuse(refused, Unavailable("Too many uploads at once; try again shortly."))

    def _advance(self, conn: Connection) -> None:
        """Parse and serve the request as far as its bytes have been received."""
        if conn not in self._connections or conn.state is not State.RECEIVING:
            return
        if conn.request is None and not self._begin(conn):
            return
        if conn.body_has_come():
            self._serve(conn)
        else:
            self.watch(conn, selectors.EVENT_READ, self._receive)

    def _begin(self, conn: Connection) -> bool:
        """Parse a head; return whether its request now waits for its body or for a thread."""
        try:
            if not conn.may_have_head() or not conn.parse_head():
                self.watch(conn, selectors.EVENT_READ, self._receive)
                return False
        except (StopIteration, errors.NoMoreData):
            self.end(conn)
            return False
        except Exception as error:
            self._refuse(conn, error)
            return False
        self._connections[conn] = self._connections.pop(conn)
        conn.deadline = time.monotonic() + connection_limits.BODY_WAIT_S
        if not self.alive:
            conn.response.force_close()
        conn.to_send.flush()  # 100 Continue, where it was asked for
        return not self._take_step(conn)

    def _has_waited(self, conn: Connection, waited_for: "Future[Any]") -> None:
        if conn.waits_for is not waited_for:
            return
        conn.state, conn.waits_for = State.RECEIVING, None
        # A first charge may allow a second one, which may be made elsewhere, too.
        if not self._take_step(conn):
            self._advance(conn)

    def _look_for_end(self, conn: Connection) -> None:
        """Close the connection of a client that has left while its request waits."""
        self.watch(conn, 0)  # of one that sends its next request it is not known
        if conn.has_left():
            self.close(conn)

    def close(self, conn: Connection) -> None:
        self._stop_waiting(conn)
        super().close(conn)

    def _stop_waiting(self, conn: Connection) -> None:
        if conn.waits_for is not None:
            conn.waits_for = None
            self._leave(conn.environ)

    def _serve(self, conn: Connection) -> None:
        # Without a body, the step that the head has led to was the last one here.
        if not conn.has_body or not self._take_step(conn):
            conn.state = State.IN_THREAD
            self.watch(conn, selectors.EVENT_READ, self.watch)
            self._whole.put(conn)
            if self._idle:
                self._idle.pop()
            elif self._threads < self.cfg.threads:
                self._threads += 1
                self.tpool.submit(self._run_in_thread)

    def _take_step(self, conn: Connection) -> bool:
        """Take the application's steps that never wait; return whether it has answered, or the
        request is being counted elsewhere or waits for its turn, after which it goes on."""
        try:
            made = self._step(conn.environ, conn.response.start_response)
            if made is None:
                return False
            if isinstance(made, Future):
                conn.state, conn.waits_for = State.IN_THREAD, made
                on_read = self._look_for_end if isinstance(made, Turn) else self.watch
                self.watch(conn, selectors.EVENT_READ, on_read)
                made.add_done_callback(partial(self.defer, conn, self._has_waited, conn))
                return True
            self._write(conn, made)
        except Exception as error:  # it would end this loop, and with it every connection
            self._fail(conn, error)
            return True
        self._send(conn)
        return True

    def _run_in_thread(self) -> None:
        """Run the application for one request after another: a Future for each takes 7 us more."""
        while (conn := self._whole.get()) is not None:
            is_whole, error = False, None
            try:
                is_whole = self._run_flask(conn)
            except BaseException as raised:
                error = raised
            self._idle.append(None)
            self.defer(conn, self._flask_ran, conn, is_whole, error)
            del conn, error

    def _run_flask(self, conn: Connection) -> bool:
        """Run the application in a thread; return False where more of the body must come first."""
        began = datetime.now()
        try:
            conn.end_body()
        except MoreNeeded:
            return False
        body = self.wsgi(conn.environ, conn.response.start_response)
        try:
            open_response = conn.environ.get(responses.OPEN_RESPONSE)
            if open_response is None:
                self._write(conn, body)
            else:
                conn.open_response = open_response(self, conn)
                conn.open_response.start(body)
        finally:
            if hasattr(body, "close") and not conn.to_send.has_file(body):
                body.close()
            self.log.access(conn.response, conn.request, conn.environ, datetime.now() - began)
        if conn.open_response is None:
            # Left to the loop, responses pile up while threads are busy: 300 of 1.7 MB took 300 MB.
            conn.to_send.flush()
        return True

    def _write(self, conn: Connection, body: Iterable[bytes]) -> None:
        # What is left of a body would be parsed as the next request.
        if not conn.is_whole():
            conn.response.force_close()
        if isinstance(body, responses.FileBody):
            conn.response.send_headers()
            conn.to_send.attach(body)
            return
        for piece in body:
            conn.response.write(piece)
        conn.response.close()

    def _flask_ran(self, conn: Connection, is_whole: bool, error: BaseException | None) -> None:
        if conn not in self._connections:  # closed, as a stream whose client takes too little
            return
        conn.state = State.RECEIVING
        if isinstance(error, Postponed):
            if not self._take_step(conn):
                self._advance(conn)
        elif error is not None:
            self._fail(conn, error)
        elif conn.open_response is not None:
            conn.open_response.begin()
        elif is_whole:
            self._send(conn)
        else:
            self.watch(conn, selectors.EVENT_READ, self._receive)

    def _fail(self, conn: Connection, error: BaseException) -> None:
        self.log.error("Error handling request", exc_info=error)
        if conn.response.headers_sent:
            self.end(conn)
        else:
            self._refuse(conn, ScanError("The request could not be served."))

    def _refuse(self, conn: Connection, error: Exception) -> None:
        self._stop_waiting(conn)
        if isinstance(error, errors.ParseException):
            error = responses.MalformedRequest(error)
        elif not isinstance(error, ScanError):
            self.log.error("Error parsing a request", exc_info=error)
            error = ScanError("The request could not be served.")
        status, headers, body, *_ = responses.refuse(error)
        conn.response = responses.Response(responses.UnparsedRequest(), conn.to_send, self.cfg)
        conn.response.start_response(status, [*responses.ALWAYS, *headers])
        conn.response.write(body)
        self._send(conn)

    # A response

    def _send(self, conn: Connection) -> None:
        if conn.to_send.flush():
            self._finish_response(conn)
        elif conn.state is not State.SENDING:
            conn.state = State.SENDING
            conn.deadline = time.monotonic() + connection_limits.SEND_WAIT_S
            self.watch(conn, selectors.EVENT_WRITE, self._send)
            self._unsent_bytes += len(conn.to_send)
            if self._unsent_bytes > MAX_UNSENT_BYTES:
                self._limit_unsent()
        else:
            conn.deadline += conn.to_send.taken_file_bytes() / connection_limits.FILE_BYTES_PER_S

    def _finish_response(self, conn: Connection) -> None:
        if conn.response.should_close():
            self.end(conn)
            return
        conn.end_request()
        conn.state = State.RECEIVING
        conn.deadline = time.monotonic() + (
            self.cfg.keepalive if self.alive else connection_limits.CLOSE_WAIT_S
        )
        self._forget_received(conn)
        if not len(conn.received):
            self.watch(conn, selectors.EVENT_READ, self._receive)
            return
        self.watch(conn, 0)  # no more is read before the next request has been answered
        conn.received_bytes = len(conn.received)
        self._received_bytes += conn.received_bytes
        self.defer(conn, self._advance, conn)

    def end(self, conn: Connection) -> None:
        """Stop sending, and close once the client does: earlier it could lose unread bytes."""
        self._forget_received(conn)
        conn.received.clear()
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.close(conn)
            return
        conn.state = State.ENDING
        conn.deadline = time.monotonic() + connection_limits.CLOSE_WAIT_S
        self.watch(conn, selectors.EVENT_READ, self._ignore)
        self._ignore(conn)

    def _ignore(self, conn: Connection) -> None:
        if conn.ignore():
            self.close(conn)

    # Time

    def murder_pending(self) -> None:
        """Check deadlines and limits; gunicorn calls this at least once a second."""
        now = time.monotonic()
        self._processor.check(now)
        if now - self._checked_at < CHECK_EVERY_S:
            return
        self._checked_at = now
        for conn in list(self._connections):
            if isinstance(conn.waits_for, Turn):
                conn.waits_for.check(now)
            self.guard(conn, self._check_deadline, conn, now)
            self.guard(conn, self._check_key, conn)
        self._limit_unsent()
        if self.alive and self.nr_conns >= self.worker_connections:
            self._make_room("all connections are in use")
        try:
            self._check_application()
        except Exception:  # it would end this loop, and with it every connection
            self.log.exception("Error in the application's periodic check")

    def _check_deadline(self, conn: Connection, now: float) -> None:
        if not self.alive:
            if conn.open_response is not None:
                conn.open_response.finish()
            wait_s = (
                connection_limits.CLOSE_WAIT_S
                if conn.request is None
                else connection_limits.STOP_WAIT_S
            )
            conn.deadline = min(conn.deadline, now + wait_s)
        if now <= conn.deadline:
            if conn.request is not None:
                self._advance(conn)  # chunks whose decoding was put off
        elif conn.state is State.RECEIVING and conn.request is not None:
            conn.received.has_ended = True
            self._advance(conn)
        elif conn.state is not State.IN_THREAD:
            self.close(conn)

    def _check_key(self, conn: Connection) -> None:
        """End a stream, or the sending of a response, whose key has been revoked or has expired, or
        a stream whose person is to be signed in again."""
        is_stream = conn.state is State.STREAMING
        is_sent = is_stream or conn.state is State.SENDING
        if not is_sent or conn not in self._connections:
            return
        if self._may_go_on(conn.environ, is_stream=is_stream):
            return
        if is_stream:
            conn.open_response.finish()
        else:
            self.close(conn)

    def _limit_unsent(self) -> None:
        """Close connections until the unsent bytes of the others fit into MAX_UNSENT_BYTES."""
        states = (State.SENDING, State.STREAMING)
        unsent = {
            conn: len(conn.to_send)
            for conn in self._connections
            if conn.state in states and len(conn.to_send)
        }
        self._unsent_bytes = sum(unsent.values())
        for conn in connection_limits.beyond(unsent, self._client_of, MAX_UNSENT_BYTES):
            self._unsent_bytes -= unsent[conn]
            self.close(conn)


def _peer(environ: dict[str, Any]) -> str:
    return str(environ.get("REMOTE_ADDR"))
