"""Clients that wait, send too much, or what is no request: nobody else waits for them."""

import socket
import threading
import time
from contextlib import suppress

import pytest
import requests

from tests.http.conftest import peak_mib, require_served, served, workers
from tests.support import WAIT_S
from tests.support.http_client import THREADS, Client
from tests.support.serving import accepts, connect, exchange, wait_until

pytestmark = pytest.mark.thorough

POST = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BLOCKS = b'{"entity":"blocks"}'
MIB = 1024 * 1024


def test_who_is_told_to_continue_and_does_not_holds_no_thread(shared_server, clients):
    waiting = [clients.enter_context(connect(shared_server)) for _ in range(2 * THREADS)]
    for client in waiting:
        client.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 19\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    require_served(shared_server)
    for client in waiting:
        client.sendall(BLOCKS)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_body_of_somebody_refused_is_not_waited_for(shared_server, clients):
    head = CHUNKED.replace(b"Host: x", b"Host: x\r\nX-API-Key: nonsense")
    for _ in range(2 * THREADS):
        client = clients.enter_context(connect(shared_server))
        client.sendall(head + b"5\r\n{")
        answer = b""
        while part := client.recv(65536):
            answer += part
        assert answer.startswith(b"HTTP/1.1 401 ") and b"Connection: close" in answer


@pytest.mark.parametrize("pieces", [b" ", b"0\r\n\r\n", b"\r\n\r\n"], ids=ascii)
def test_large_bodies_that_go_on_in_small_pieces_hold_nobody_up(shared_server, clients, pieces):
    """Each piece might cost as much as all that has come before it."""
    slow = [clients.enter_context(connect(shared_server)) for _ in range(THREADS)]
    over = threading.Event()

    def drip(client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError):
            client.sendall(CHUNKED + b"ffffff\r\n" + b" " * 4 * MIB)
            while not over.wait(0.001):
                client.sendall(pieces)

    senders = [threading.Thread(target=drip, args=(client,)) for client in slow]
    for sender in senders:
        sender.start()
    for _ in range(20):
        require_served(shared_server)
    over.set()
    for sender in senders:
        sender.join()


def test_a_body_of_very_many_chunks_is_refused(shared_server):
    """Each takes 4 us to decode: 5 MiB of the smallest would take a thread 3.5 s."""
    head = CHUNKED.replace(b"Host: x", b"Host: x\r\nConnection: close")
    last = b"13\r\n" + BLOCKS + b"\r\n0\r\n\r\n"
    for count, status in ((70_000, b"400"), (60_000, b"200")):
        answer = exchange(shared_server, head + b"1\r\n \r\n" * count + last)
        assert answer.split()[1] == status


@pytest.mark.parametrize(
    ("path", "size", "expected"),
    [
        ("/api/v1/query", MIB, 400),
        ("/api/v1/query", MIB + 1, 413),
        ("/api/v1/verify", 5 * MIB, 400),
        ("/api/v1/verify", 5 * MIB + 1, 413),
        ("/api/v1/blocks", 6 * MIB, 405),
    ],
)
@pytest.mark.parametrize("chunk", [0, 4096, 64 * MIB])
def test_bodies_are_taken_up_to_their_limit(shared_server, path, size, expected, chunk):
    """With a length, in chunks, and in one; whoever sends too much reads why."""
    answer = post_spaces(shared_server + path, size, chunk)
    assert answer.status_code == expected, answer.text


def test_more_than_is_read_of_a_refused_body_is_cut_where_it_has_no_length(shared_server):
    path = "/api/v1/query"
    assert post_spaces(shared_server + path, 12 * MIB, 0).status_code == 413
    for chunk in (4096, 64 * MIB):
        with suppress(requests.ConnectionError):
            assert post_spaces(shared_server + path, 12 * MIB, chunk).status_code == 413


def post_spaces(url, size, chunk):
    """In chunks, or with a length where there are none."""
    body = b"[" + b" " * (size - 2) + b"]"
    parts = (body[n : n + chunk] for n in range(0, size, chunk)) if chunk else body
    return requests.post(
        url, data=parts, headers={"Content-Type": "application/json"}, timeout=WAIT_S
    )


def test_a_body_that_nobody_reads_is_no_request(shared_server):
    """A path that takes no body is answered without reading it; the next request comes in two."""
    inner = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    outer = b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(inner)
    client = Client(shared_server)
    client.socket.sendall(outer + inner + b"GET /healthz HTTP/1.1\r\nHo")
    assert client.receive().status == 404
    time.sleep(0.2)
    client.socket.sendall(b"st: x\r\n\r\n")
    assert client.receive().body == b'{"status":"alive"}'
    client.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        client.receive()


@pytest.mark.parametrize("kind", ["-H", "-S"], ids=["hard", "soft"])
def test_more_idle_clients_than_descriptors_end_nothing(shared_database_url, clients, kind):
    """`ulimit -n 1024` is what many services are started with."""
    limited = f"ulimit -S -n 1024; ulimit {kind} -n 1024"
    with served(shared_database_url, shell=limited) as (process, server):
        [worker] = workers(process)
        for _ in range(1_300):
            clients.enter_context(connect(server))
        require_served(server)
        assert workers(process) == [worker]


def test_uploads_that_never_end_take_bounded_memory(shared_database_url, clients):
    """Eighty times 4 MiB; more than 128 MiB are not kept, though those of one kind are 160."""
    heads = (CHUNKED + b"ffffff\r\n", POST + b"Content-Length: 5000000\r\n\r\n")
    with served(shared_database_url) as (process, server):
        before = peak_mib(process)
        for head in heads * 40:
            client = clients.enter_context(connect(server))
            with suppress(OSError):
                client.sendall(head + b" " * 4 * MIB)
        require_served(server)
        assert peak_mib(process) - before < 220


def test_uploads_that_never_end_are_refused_before_those_of_others(shared_database_url, clients):
    """Forty times 4 MiB of one address; another one's upload has begun before them."""
    body = b'{"entity":"blocks"}' + b" " * 900_000
    with served(shared_database_url) as (_, server):
        honest = clients.enter_context(Client(server, "127.0.0.9").socket)
        honest.settimeout(WAIT_S)
        honest.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-10])
        for _ in range(40):
            client = clients.enter_context(connect(server))
            with suppress(OSError):
                client.sendall(POST + b"Content-Length: 5000000\r\n\r\n" + b" " * 4 * MIB)
        require_served(server)
        honest.sendall(body[-10:])
        assert honest.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("arguments", [(), ("--worker-connections", "20")], ids=["room", "full"])
def test_a_stop_waits_for_nobody_for_long(shared_database_url, clients, arguments):
    """The worker ends by itself: gunicorn would kill it after its graceful time-out."""
    with served(shared_database_url, *arguments) as (process, server):
        for begun in [
            b"",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HT",
            POST + b"Content-Length: 100\r\n\r\n{",
            CHUNKED + b"5\r\n{",
            b"GARBAGE\r\n\r\n",
            b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n" * 40,
        ] * 20:
            clients.enter_context(connect(server)).sendall(begun)
        process.terminate()
        _, errors = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    assert b"Traceback" not in errors and b"SIGKILL" not in errors, errors.decode()


def test_what_has_begun_before_a_stop_is_answered(shared_database_url, clients):
    with served(shared_database_url) as (process, server):
        client = clients.enter_context(connect(server))
        client.sendall(POST + b"Content-Length: 19\r\n\r\n")
        time.sleep(0.2)
        process.terminate()
        wait_until(lambda: not accepts(int(server.rpartition(":")[2])))
        client.sendall(BLOCKS)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        process.communicate(timeout=WAIT_S)
