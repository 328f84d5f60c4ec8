"""A client of bare sockets, and a server all of whose threads wait for PostgreSQL."""

import itertools
import os
import re
import socket
from contextlib import ExitStack, contextmanager

import psycopg2

from scan.http.index_version import UNVERIFIED_S
from tests.support.database import execute
from tests.support.serving import connect, wait_until

THREADS = 8
HEAD = re.compile(rb"HTTP/1\.1 ([0-9]{3}) .*?\r\n\r\n", re.DOTALL)
_sources = (f"127.6.{n >> 8}.{n & 255}" for n in itertools.count(1))  # nobody else's
CHANGING = {"Date", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "X-Request-Id"}
# A request that only a thread can answer, once `api_keys` is not locked.
SLOW = b"GET /api/v1/keys?owner=0x" + b"00" * 20 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
# Uses of keys are counted now and then, also by other servers with the same database.
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND wait_event_type = 'Lock' AND application_name = 'scan-api'"
    " AND strpos(query, 'UPDATE api_keys') = 0"
)


class Response:
    def __init__(self, status, headers):
        self.status, self.headers, self.body = status, headers, b""

    def __getitem__(self, name):
        [value] = [value for key, value in self.headers if key == name]
        return str(value)

    def __contains__(self, name):
        return any(key == name for key, _ in self.headers)

    @property
    def lasting(self):
        """Headers in their order, without the values that every response has its own of."""
        return [(name, None if name in CHANGING else value) for name, value in self.headers]


class Client:
    """One connection, kept open."""

    def __init__(self, server, source="127.0.0.1"):
        port = int(server.rpartition(":")[2])
        self.socket = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
        self._received = b""

    def ask(self, path, body=b"", more="", method=""):
        method = method or ("POST" if body else "GET")
        if body:
            more += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode() + body)
        return self.receive(has_body=method != "HEAD")

    def receive(self, *, has_body=True):
        while (head := HEAD.match(self._received)) is None:
            self._receive_more()
        lines = head[0].decode().split("\r\n")[1:-2]
        response = Response(int(head[1]), [tuple(line.split(": ", 1)) for line in lines])
        has_body = has_body and response.status not in (100, 204, 304)
        end = head.end() + (int(response["Content-Length"]) if has_body else 0)
        while len(self._received) < end:
            self._receive_more()
        response.body = self._received[head.end() : end]
        self._received = self._received[end:]
        return response

    def _receive_more(self):
        part = self.socket.recv(65536)
        assert part, "the connection ended"
        self._received += part


@contextmanager
def busy_threads(server, database_url, *short_lived):
    """Every thread waits for a statement: what is answered now, the worker's loop answers.

    The server's statement time-out has to be longer than the test takes. The loop serves from its
    cache for the five seconds after a thread has read the index's version: the last free one does,
    and then the paths whose responses are cached for one second.
    """
    with ExitStack() as stack:
        locker = psycopg2.connect(database_url)
        stack.callback(locker.close)
        with locker.cursor() as cursor:
            cursor.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        for number in range(1, THREADS + 1):
            if number == THREADS:
                client = Client(server, next(_sources))
                for path in (f"/api/v1/blocks?limit=1&={os.urandom(8).hex()}", *short_lived):
                    client.ask(path)
            stack.enter_context(connect(server)).sendall(SLOW)
            wait_until(lambda number=number: execute(database_url, WAITING) == [(number,)])
        yield
        locker.close()
        wait_until(lambda: execute(database_url, WAITING) == [(0,)])


NEWEST = "/api/v1/blocks?limit=1"
UNLIMITED = {"SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute", "STATEMENT_TIMEOUT_MS": "20000"}


def newest(client, path=NEWEST):
    response = client.ask(path)
    assert response.status == 200, response.body
    return response.body.decode()


def assert_soon(client, path, text):
    """Sooner than where nothing is notified."""
    wait_until(lambda: text.encode() in client.ask(path).body, timeout_s=UNVERIFIED_S / 2)


def cached_newest(client):
    """What is cached by now, whoever sends it."""
    newest(client)
    return newest(client)
