"""What clients of bare sockets may do: they pipeline, read slowly or never, and do not leave."""

import fcntl
import re
import signal
import sys
import termios
import threading
from contextlib import closing, suppress

import psycopg2
import pytest
import requests

from tests.http.conftest import peak_mib, require_served, served, unread
from tests.support import WAIT_S, serving

pytestmark = pytest.mark.thorough

BLOCKS = b"GET /api/v1/blocks?limit=100 HTTP/1.1\r\nHost: x\r\n\r\n"
UNCACHED = b"GET /api/v1/blocks?limit=100 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
LONG = b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def server(own_index):
    """gunicorn over the scenario's chain."""
    with served(own_index.url) as (_, address):
        yield address


def unread_bytes(client):
    return int.from_bytes(fcntl.ioctl(client, termios.FIONREAD, bytes(4)), sys.byteorder)


def answers(client, count):
    """Heads and bodies, each as long as its head says."""
    stream = client.makefile("rb")
    responses = []
    for _ in range(count):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            assert line, f"{len(responses)} of {count} answers"
            head += line
        [length] = re.findall(rb"Content-Length: (\d+)\r\n", head)
        responses.append((head, stream.read(int(length))))
    return responses


@pytest.mark.parametrize(
    "request_bytes", [BLOCKS, UNCACHED, LONG], ids=["cached", "by a thread", "file"]
)
def test_clients_that_do_not_read_hold_no_thread(server, clients, request_bytes):
    """Eight threads, twenty-four clients whose answers fill every buffer."""
    idle = [clients.enter_context(unread(server)) for _ in range(24)]
    for client in idle:
        client.setblocking(False)
    for _ in range(2):
        for client in idle:
            with suppress(BlockingIOError):
                while True:
                    client.send(request_bytes * 100)
        # Each has a part of an answer, which it does not read.
        serving.wait_until(lambda: all(map(unread_bytes, idle)))
    require_served(server)


@pytest.mark.long
def test_too_much_that_nobody_reads_is_forgotten(shared_database_url, clients):
    """Three hundred clients, each with 1.5 MB to take: 64 MiB stay, and the server serves."""
    with served(shared_database_url) as (process, server):
        before = peak_mib(process)
        for _ in range(300):
            clients.enter_context(unread(server)).sendall(LONG)
        require_served(server)
        # Threads take requests in order: when this one is answered, the others have been.
        assert requests.get(f"{server}/docs/", timeout=WAIT_S).status_code == 200
        assert peak_mib(process) - before < 110


@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_a_body_is_forgotten_with_its_request(shared_database_url, connection):
    """Left to the garbage collector, those of eight clients took 800 MB."""
    form = b"a=" + b"x" * (5_000_000)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Connection": connection}
    with served(shared_database_url) as (process, server), requests.Session() as session:

        def send(times):
            for _ in range(times):
                session.post(f"{server}/api", data=form, headers=headers, timeout=WAIT_S)

        send(3)
        before = peak_mib(process)
        send(30)
        assert peak_mib(process) - before < 50


def test_clients_that_go_on_sending_hold_nobody_up(server, clients):
    def flood(client):
        with suppress(OSError):
            client.sendall(BLOCKS.replace(b"Host: x", b"Host: x\r\nConnection: close"))
            while True:
                client.sendall(b"x" * 1_000_000)

    flooding = [clients.enter_context(serving.connect(server)) for _ in range(4)]
    threads = [threading.Thread(target=flood, args=(client,)) for client in flooding]
    for thread in threads:
        thread.start()
    pairs = list(zip(flooding, threads, strict=True))
    # The end of a thread means that the server has cut its client off, and what it had is gone.
    serving.wait_until(lambda: all(unread_bytes(c) or not thread.is_alive() for c, thread in pairs))
    require_served(server)
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_who_does_not_leave_is_left(server, clients):
    client = clients.enter_context(serving.connect(server))
    client.sendall(BLOCKS.replace(b"Host: x", b"Host: x\r\nConnection: close"))
    [(head, _)] = answers(client, 1)
    assert b"Connection: close" in head and client.recv(1) == b""
    with pytest.raises(OSError, match=r"(Broken pipe|reset)"):
        serving.wait_until(lambda: client.sendall(b"x"))


def test_connections_that_take_no_response_leave_room_for_others(own_index, clients):
    """None of them is idle: the responses of each wait for its client."""
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with served(own_index.url, "--worker-connections", "40") as (_, server):
        for _ in range(60):
            with suppress(ConnectionError):
                clients.enter_context(unread(server, "127.0.0.2")).sendall(4 * request)
        for _ in range(5):
            assert requests.get(f"{server}/healthz", timeout=WAIT_S).status_code == 200


def test_who_connects_while_all_others_are_served_may_send_a_request(own_index, clients):
    with (
        served(own_index.url, "--worker-connections", "20") as (_, server),
        closing(psycopg2.connect(own_index.url)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("LOCK TABLE blocks IN ACCESS EXCLUSIVE MODE")
        for _ in range(20):
            clients.enter_context(unread(server, "127.0.0.2")).sendall(BLOCKS)
        client = clients.enter_context(serving.connect(server))
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        for _ in range(5):
            assert requests.get(f"{server}/healthz", timeout=WAIT_S).status_code == 200
        client.sendall(b"\r\n")
        [(head, _)] = answers(client, 1)
        assert head.startswith(b"HTTP/1.1 200 ")


def test_a_fault_in_the_loop_is_logged_and_ends_nothing(own_index, tmp_path):
    """Whoever caused it is answered 500, and others are served."""
    (tmp_path / "sitecustomize.py").write_text(
        "from scan.http import middleware\n"
        "whole = middleware.Middleware.step\n"
        "def broken(self, environ, start_response):\n"
        "    if environ['PATH_INFO'] == '/broken': raise RuntimeError('a fault for the test')\n"
        "    return whole(self, environ, start_response)\n"
        "middleware.Middleware.step = broken\n"
    )
    with served(own_index.url, PYTHONPATH=str(tmp_path)) as (process, server):
        output = serving.exchange(server, b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")
        assert output.startswith(b"HTTP/1.1 500 ") and b'"code":"internal' in output, output
        require_served(server)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=WAIT_S)
    assert b"a fault for the test" in errors and b"Worker exiting" in errors


@pytest.mark.parametrize("request_bytes", [BLOCKS, UNCACHED], ids=["cached", "by a thread"])
def test_a_stop_loses_no_request_and_answers_none_twice(own_index, request_bytes):
    """Each client asks one after the other; nothing comes behind the answer that ends it."""
    ends, counts = [], [0] * 12

    def ask_until_closed(index):
        with serving.connect(server) as client:
            head = b""
            while b"Connection: close" not in head:
                number = b"X-Request-Id: %d\r\n" % (counts[index] + 1)
                client.sendall(request_bytes.replace(b"Host: x\r\n", b"Host: x\r\n" + number))
                [(head, _)] = answers(client, 1)
                assert number in head
                counts[index] += 1
            ends.append(client.recv(1))

    with served(own_index.url) as (process, server):
        busy = [threading.Thread(target=ask_until_closed, args=(n,)) for n in range(12)]
        for thread in busy:
            thread.start()
        serving.wait_until(lambda: min(counts) > 5)
        process.send_signal(signal.SIGTERM)
        for thread in busy:
            thread.join(WAIT_S)
        assert ends == [b""] * 12


def test_ctrl_c_ends_threads_that_wait_for_requests(own_index):
    """As gunicorn ends a worker at once, by SIGQUIT; one that does not end is killed later."""
    with served(own_index.url, "--graceful-timeout", f"{2 * WAIT_S:.0f}") as (process, server):
        assert requests.get(f"{server}/api/v1/blocks?limit=100", timeout=WAIT_S).ok
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_S)
