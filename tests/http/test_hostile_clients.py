"""Clients that wait, send too much, or what is no request: nobody else waits for them."""

import random
import re
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import requests

from tests.support.http_client import THREADS, Client
from tests.support.serving import (
    NOWHERE,
    connect,
    exchange,
    free_port,
    gunicorn_started,
    wait_for,
    wait_until,
)

pytestmark = pytest.mark.long

OWNER = "/api/v1/keys?owner=0x" + "00" * 20  # takes a thread and the database
POST = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BLOCKS = b'{"entity":"blocks"}'
ENDS = b'{"entity":"blocks","filter":{"blockFrom":0\r\n\r\n},"offset":0\r\n\r\n,"limit":10\r\n\r\n}'
MIB = 1024 * 1024
UNLIMITED = {
    "RPC_URL": NOWHERE,
    "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute",
    "SCAN_RATE_LIMIT_PAGES": "1000000/minute",
}


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Closes what a test has connected."""
    with ExitStack() as stack:
        yield stack


def assert_serves(server: str) -> None:
    """Both by the worker's loop and by a thread."""
    assert requests.get(f"{server}/healthz", timeout=20).status_code == 200
    assert requests.get(server + OWNER, timeout=20).status_code == 200


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def closing(request: bytes) -> bytes:
    return request.replace(b"Host: x", b"Host: x\r\nConnection: close", 1)


@pytest.mark.parametrize(
    "begun",
    [
        b"\r\n",
        b"GET / HTTP/1.2\r\nHost: x\r\nAcc",
        POST + b"Content-Length: 100\r\n\r\n{",
        POST + b"Content-Length: 1000000\r\n\r\n{",
        CHUNKED + b"5\r\n{",
        CHUNKED + b"5\r\n{    \r\n0\r\nTrailer: ",
        CHUNKED + b"1\r\n",
    ],
    ids=lambda begun: ascii(begun[-20:]),
)
def test_what_is_not_whole_holds_no_thread(
    shared_server: str, clients: ExitStack, begun: bytes
) -> None:
    waiting = [clients.enter_context(connect(shared_server)) for _ in range(2 * THREADS)]
    for client in waiting:
        client.sendall(begun)
    assert_serves(shared_server)
    assert select.select(waiting, [], [], 0)[0] == []


def test_who_is_told_to_continue_and_does_not_holds_no_thread(
    shared_server: str, clients: ExitStack
) -> None:
    waiting = [clients.enter_context(connect(shared_server)) for _ in range(2 * THREADS)]
    for client in waiting:
        client.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 19\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert_serves(shared_server)
    for client in waiting:
        client.sendall(BLOCKS)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_body_of_somebody_refused_is_not_waited_for(
    shared_server: str, clients: ExitStack
) -> None:
    head = CHUNKED.replace(b"Host: x", b"Host: x\r\nX-API-Key: nonsense")
    for _ in range(2 * THREADS):
        client = clients.enter_context(connect(shared_server))
        client.sendall(head + b"5\r\n{")
        answer = b""
        while part := client.recv(65536):
            answer += part
        assert answer.startswith(b"HTTP/1.1 401 ") and b"Connection: close" in answer


@pytest.mark.parametrize("pieces", [b" ", b"0\r\n\r\n", b"\r\n\r\n"], ids=ascii)
def test_large_bodies_that_go_on_in_small_pieces_hold_nobody_up(
    shared_server: str, clients: ExitStack, pieces: bytes
) -> None:
    """Each piece might cost as much as all that has come before it."""
    slow = [clients.enter_context(connect(shared_server)) for _ in range(THREADS)]
    over = threading.Event()
    senders = [threading.Thread(target=drip, args=(client, pieces, over)) for client in slow]
    for sender in senders:
        sender.start()
    for _ in range(20):
        assert_serves(shared_server)
    over.set()
    for sender in senders:
        sender.join()


def drip(client: socket.socket, pieces: bytes, over: threading.Event) -> None:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with suppress(OSError):
        client.sendall(CHUNKED + b"ffffff\r\n" + b" " * 4 * MIB)
        while not over.wait(0.001):
            client.sendall(pieces)


def test_a_body_of_very_many_chunks_is_refused(shared_server: str) -> None:
    """Each takes 4 us to decode: 5 MiB of the smallest would take a thread 3.5 s."""
    many = chunks(b" ") * 70_000 + chunks(BLOCKS, b"")
    assert status(exchange(shared_server, closing(CHUNKED) + many)) == 400
    some = chunks(b" ") * 60_000 + chunks(BLOCKS, b"")
    assert status(exchange(shared_server, closing(CHUNKED) + some)) == 200


@pytest.mark.parametrize(
    "body",
    [
        chunks(BLOCKS, b""),
        chunks(BLOCKS[:5], BLOCKS[5:], b""),
        b"".join(chunks(bytes([byte])) for byte in BLOCKS) + chunks(b""),
        b"13;name=value\r\n" + BLOCKS + b"\r\n0\r\nX-Trailer: 1\r\nX-More: 2\r\n\r\n",
        chunks(ENDS, b""),
        chunks(b"\r\n\r\n" * 40 + BLOCKS, b""),
        chunks(*[b"\r\n\r\n"] * 40, BLOCKS, b""),
    ],
    ids=["one", "two", "bytes", "trailers", "ends", "blank lines", "blank chunks"],
)
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_chunks_are_understood_in_whatever_pieces_they_come(
    shared_server: str, body: bytes, size: int
) -> None:
    """What looks like the end may be data; what follows is the next request."""
    client = Client(shared_server)
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sent = (CHUNKED + body) * 2
    for start in range(0, len(sent), size):
        client.socket.sendall(sent[start : start + size])
        if size == 1:
            time.sleep(0.0002)
    assert [client.receive().status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize(
    ("path", "size", "found"),
    [
        ("/api/v1/query", MIB, 400),
        ("/api/v1/query", MIB + 1, 413),
        ("/api/v1/query", 3 * MIB, 413),
        ("/api/v1/verify", 5 * MIB, 400),
        ("/api/v1/verify", 5 * MIB + 1, 413),
        ("/api/v1/query", 6 * MIB, 413),
        ("/api/v1/query", 12 * MIB, 413),
        ("/api/v1/blocks", 6 * MIB, 405),
    ],
)
@pytest.mark.parametrize("chunk", [0, 4096, 64 * MIB])
def test_bodies_are_taken_up_to_their_limit(
    shared_server: str, path: str, size: int, found: int, chunk: int
) -> None:
    """With a length, in chunks, and in one; whoever sends too much reads why."""
    body = b"[" + b" " * (size - 2) + b"]"
    parts = (body[n : n + chunk] for n in range(0, size, chunk)) if chunk else body
    url, headers = shared_server + path, {"Content-Type": "application/json"}
    try:
        answer = requests.post(url, data=parts, headers=headers, timeout=30)
    except requests.ConnectionError:
        # The whole of it does not fit what is read of a refused body.
        assert size > 10 * MIB and chunk
    else:
        assert answer.status_code == found, answer.text


def test_a_length_beyond_every_limit_is_refused_without_reading(shared_server: str) -> None:
    head = POST + b"Content-Length: 99999999999999\r\n\r\n"
    assert status(exchange(shared_server, head)) == 413


def test_a_body_that_nobody_reads_is_no_request(shared_server: str) -> None:
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


def test_ten_thousand_pipelined_requests_are_answered_in_order(shared_server: str) -> None:
    """Some from the loop, some by threads; meanwhile others are served."""
    kinds = [b"GET /healthz HTTP/1.1\r\n", b"GET /nothing HTTP/1.1\r\n", CHUNKED[:-2]]
    ends = [b"\r\n", b"\r\n", b"\r\n" + chunks(b"{}", b"")]
    count, chance = 10_000, random.Random(1)
    kind = [chance.choice([0, 0, 0, 0, 0, 0, 1, 2]) for _ in range(count)]
    sent = b"".join(kinds[k] + b"X-Request-Id: %d\r\n" % n + ends[k] for n, k in enumerate(kind))
    client = Client(shared_server)
    client.socket.settimeout(60)
    sender = threading.Thread(target=client.socket.sendall, args=(sent,))
    sender.start()
    for n, k in enumerate(kind):
        response = client.receive()
        assert (response.status, response["X-Request-Id"]) == ([200, 404, 400][k], str(n))
        if n % 1000 == 0:
            assert_serves(shared_server)
    sender.join()


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
@pytest.mark.parametrize("path", [b"/healthz", b"/nothing"])
def test_the_version_and_connection_decide_whether_it_stays_open(
    shared_server: str, version: bytes, path: bytes
) -> None:
    request = b"GET %b HTTP/%b\r\nHost: x\r\n" % (path, version)
    for header, stays in ((b"", version == b"1.1"), (b"keep-alive", True), (b"close", False)):
        with connect(shared_server) as client:
            client.sendall(request + (b"Connection: %b\r\n" % header if header else b"") + b"\r\n")
            answer = client.recv(65536)
            assert (b"Connection: keep-alive" in answer) == stays
            if not stays:
                assert client.recv(1) == b""


def test_head_and_options_have_no_body(shared_server: str) -> None:
    client = Client(shared_server)
    for path in ("/healthz", "/api/v1/blocks", "/nothing", "/"):
        head = client.ask(path, method="HEAD")
        get = client.ask(path)
        assert (head.status, head["Content-Length"]) == (get.status, str(len(get.body)))
        options = client.ask(path, method="OPTIONS")
        assert options.status == 204 and "GET" in options["Allow"] and options.body == b""


@pytest.mark.parametrize("kind", ["-H", "-S"], ids=["hard", "soft"])
def test_more_idle_clients_than_descriptors_end_nothing(
    shared_database_url: str, clients: ExitStack, kind: str
) -> None:
    """`ulimit -n 1024` is what many services are started with."""
    port = free_port()
    limited = f"ulimit -S -n 1024; ulimit {kind} -n 1024"
    with gunicorn_started(shared_database_url, port, shell=limited, **UNLIMITED) as process:
        server = wait_for(port, process)
        [worker] = children(process)
        for _ in range(1_300):
            clients.enter_context(connect(server))
        assert_serves(server)
        assert children(process) == [worker]


def children(process: "subprocess.Popen[bytes]") -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def peak_mib(process: "subprocess.Popen[bytes]") -> int:
    [worker] = children(process)
    [kib] = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker}/status").read_text())
    return int(kib) // 1024


def test_uploads_that_never_end_take_bounded_memory(
    shared_database_url: str, clients: ExitStack
) -> None:
    """Eighty times 4 MiB; more than 128 MiB are not kept, though those of one kind are 160."""
    heads = (CHUNKED + b"ffffff\r\n", POST + b"Content-Length: 5000000\r\n\r\n")
    port = free_port()
    with gunicorn_started(shared_database_url, port, **UNLIMITED) as process:
        server = wait_for(port, process)
        before = peak_mib(process)
        for head in heads * 40:
            client = clients.enter_context(connect(server))
            with suppress(OSError):
                client.sendall(head + b" " * 4 * MIB)
        assert_serves(server)
        assert peak_mib(process) - before < 220


def test_uploads_that_never_end_are_refused_before_those_of_others(
    shared_database_url: str, clients: ExitStack
) -> None:
    """Forty times 4 MiB of one address; another one's upload has begun before them."""
    body = b'{"entity":"blocks"}' + b" " * 900_000
    port = free_port()
    with gunicorn_started(shared_database_url, port, **UNLIMITED) as process:
        server = wait_for(port, process)
        honest = clients.enter_context(socket.socket())
        honest.bind(("127.0.0.9", 0))
        honest.connect(("127.0.0.1", port))
        honest.settimeout(20)
        honest.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-10])
        for _ in range(40):
            client = clients.enter_context(connect(server))
            with suppress(OSError):
                client.sendall(POST + b"Content-Length: 5000000\r\n\r\n" + b" " * 4 * MIB)
        assert_serves(server)
        honest.sendall(body[-10:])
        assert status(honest.recv(4096)) == 200


def begun(*parts: bytes) -> Callable[[socket.socket], None]:
    def begin(client: socket.socket) -> None:
        for part in parts:
            client.sendall(part)

    return begin


def unread(client: socket.socket) -> None:
    client.sendall(b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n" * 40)


STATES = [
    begun(),
    begun(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    begun(b"GET / HT"),
    begun(POST + b"Content-Length: 100\r\n\r\n{"),
    begun(CHUNKED + b"5\r\n{"),
    begun(b"GARBAGE\r\n\r\n"),
    unread,
]


@pytest.mark.long
def test_a_stop_waits_for_nobody_for_long(shared_database_url: str, clients: ExitStack) -> None:
    """The worker ends by itself: gunicorn would kill it after its graceful time-out."""
    port = free_port()
    with gunicorn_started(shared_database_url, port, **UNLIMITED) as process:
        server = wait_for(port, process)
        for begin in STATES * 20:
            begin(clients.enter_context(connect(server)))
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in errors and b"SIGKILL" not in errors, errors.decode()


@pytest.mark.long
def test_a_stop_while_every_connection_is_taken_ends_in_order(
    shared_database_url: str, clients: ExitStack
) -> None:
    port = free_port()
    few = ("--worker-connections", "20")
    with gunicorn_started(shared_database_url, port, *few, **UNLIMITED) as process:
        server = wait_for(port, process)
        for _ in range(60):
            client = clients.enter_context(connect(server))
            client.sendall(POST + b"Content-Length: 100\r\n\r\n{")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Traceback" not in errors and b"SIGKILL" not in errors, errors.decode()


def test_what_has_begun_before_a_stop_is_answered(
    shared_database_url: str, clients: ExitStack
) -> None:
    port = free_port()
    with gunicorn_started(shared_database_url, port, **UNLIMITED) as process:
        server = wait_for(port, process)
        client = clients.enter_context(connect(server))
        client.sendall(POST + b"Content-Length: 19\r\n\r\n")
        time.sleep(0.2)
        process.terminate()
        wait_until(lambda: refuses(port))
        client.sendall(BLOCKS)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        process.communicate(timeout=60)


def refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
