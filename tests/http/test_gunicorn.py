"""gunicorn.conf.py and the worker: workers and their threads, and JSON before the application."""

import inspect
import json
import os
import re
import runpy
import select
import signal
import socket
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import requests
from gunicorn.config import Config

from scan.api.openapi.document import document
from scan.http.background_threads import WorkerThread
from scan.processor_affinity import ALLOWED
from scan.server import connection
from scan.verification.sandbox import Program
from tests.http.conftest import require_served, served, workers
from tests.support import WAIT_S, serving
from tests.support.serving import ROOT, wait_until


@pytest.mark.check
def test_another_release_of_gunicorn_or_flask_is_read_first():
    sources = "".join(path.read_text() for path in (ROOT / "scan" / "server").glob("*.py"))
    used = {*re.findall(r"^from (gunicorn\.[a-z.]+) import", sources, re.M)} - {"gunicorn.http"}
    # What stands on no public interface: the first digits of the source's SHA-256, as it was read.
    read = {
        "gunicorn.glogging": "32d64a0047eab7f6",
        "gunicorn.http.body": "c46c000fc93b6be5",
        "gunicorn.http.errors": "348906eec2cafb86",
        "gunicorn.http.message": "408e5f03f30353f9",
        "gunicorn.http.parser": "618c7c5a229709e5",
        "gunicorn.http.unreader": "a28537df77eb34f0",
        "gunicorn.http.wsgi": "2b8be67bf98bb3f1",
        "gunicorn.workers.gthread": "2aa395873b3e9084",
        "flask.globals": "5dd419992b4198f2",
    }
    assert used <= read.keys()
    digests = {
        name: sha256(inspect.getsource(import_module(name)).encode()).hexdigest()[:16]
        for name in read
    }
    assert digests == read, "CONTRIBUTING.md says what to do at their next release"


@pytest.mark.check
@pytest.mark.parametrize(
    ("arguments", "environment"), [((), {"WEB_CONCURRENCY": "2"}), (("-w", "2"), {})]
)
def test_more_workers_than_one_are_refused_for_limits_in_memory(arguments, environment):
    """It says so, and refuses to start."""
    with serving.gunicorn_started(
        "postgresql://127.0.0.1:1/x", serving.free_port(), *arguments, **environment
    ) as process:
        _, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode not in (0, None)
    assert b"Traceback" not in stderr and b"would each count on their own" in stderr


def test_a_running_server_refuses_one_more_worker(database_url):
    with served(database_url) as (process, address):
        process.send_signal(signal.SIGTTIN)
        time.sleep(0.5)
        assert len(workers(process)) == 1
        require_served(address)


def test_what_no_application_sees_is_answered_in_json(shared_server):
    """By a code that the document has for every operation, and without headers that it requires."""
    components = document()["components"]
    refusal = json.dumps(components["responses"]["default"])
    assert "/Location" not in refusal
    required = ["After", "Location"]  # of headers, by their last word
    assert [n for n, header in components["headers"].items() if header["required"]] == required
    for request, status in {
        b"GARBAGE\r\n\r\n": 400,
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n": 414,
        b"GET / HTTP/1.1\r\nX-API-Key: " + b"k" * 20_000 + b"\r\n\r\n": 431,
        b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: x\r\n" % n for n in range(200)) + b"\r\n": 431,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: rot13\r\n\r\n": 501,
    }.items():
        head, _, body = serving.exchange(shared_server, request).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status), request[:30]
        assert b"Content-Type: application/json" in head
        assert b"X-Content-Type-Options: nosniff" in head
        assert {"error", "code"} <= set(json.loads(body))
        assert f'"{json.loads(body)["code"]}"' in refusal


CHUNKED = (
    b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def test_the_rest_of_a_body_is_waited_for(database_url):
    """Beyond the worker's next check of its connections, at which it closes the idle one."""
    whole = CHUNKED + b'13\r\n{"entity":"blocks"}\r\n0\r\n\r\n'
    with (
        serving.gunicorn(database_url, "--keep-alive", "1") as server,
        serving.connect(server) as client,
        serving.connect(server) as idle,
    ):
        client.sendall(whole[:-20])
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        while idle.recv(65536):
            pass
        client.sendall(whole[-20:])
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_clients_that_never_finish_hold_no_thread(shared_server):
    """Eight threads, two hundred clients; those who do ask are answered while these wait, by the
    loop and by a thread."""
    slow = [serving.connect(shared_server) for _ in range(200)]
    half_a_body = (
        b"POST /api/v1/query HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
        b'Content-Length: 19\r\n\r\n{"entity":'
    )
    unfinished = [
        b"\r\n",
        b"GET / HTTP/1.2\r\nHost: x\r\nAcc",
        b"GET /healthz HTTP/1.1\r\nX-Slow: ",
        half_a_body,
        half_a_body.replace(b" 19", b" 1000000"),
        *(CHUNKED + part for part in (b"5\r\n{", b"5\r\n{    \r\n0\r\nTrailer: ", b"1\r\n")),
    ]
    for number, client in enumerate(slow):
        client.sendall(unfinished[number % len(unfinished)])
    require_served(shared_server)
    assert select.select(slow, [], [], 0)[0] == []
    for client in slow:
        client.close()


def test_a_worker_starts_each_thread_beside_serving_once(client, monkeypatch):
    started = []
    monkeypatch.setattr(WorkerThread, "start", lambda thread: started.append(thread))
    monkeypatch.setenv("DATABASE_URL", client.application.extensions["scan"].settings.database_url)
    hooks = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    worker = SimpleNamespace(wsgi=client.application)
    monkeypatch.setitem(hooks["post_worker_init"].__globals__, "gc", Mock())
    hooks["post_worker_init"](worker)
    for running in {worker.deliveries, *worker.beside_serving} - {*started}:
        running.stop()
    names = Counter(thread.name for thread in started)
    assert "creations" in names and {*names.values()} == {1}, names


def test_threads_of_a_worker_share_a_processor(database_url):
    bound = "tests.support.bound_worker.BoundWorker"
    with served(database_url, "--worker-class", bound) as (process, address):
        for number in range(20):
            requests.get(f"{address}/api/v1/blocks?page={number + 1}", timeout=WAIT_S)
        [worker] = workers(process)
        threads = Path(f"/proc/{worker}/task")
        assert len([*threads.iterdir()]) > 2

        def processors():
            """Those that any of the threads may use."""
            allowed = set()
            for thread in threads.iterdir():
                with suppress(ProcessLookupError):  # it has ended
                    allowed |= os.sched_getaffinity(int(thread.name))
            return allowed

        wait_until(lambda: len(processors()) == 1, process)


@pytest.mark.check
def test_a_compiler_may_use_all(tmp_path):
    script = tmp_path / "compiler"
    script.write_text(f"#!{sys.executable}\nimport os\nprint(sorted(os.sched_getaffinity(0)))\n")
    script.chmod(0o755)
    (tmp_path / "folder").mkdir()
    try:
        os.sched_setaffinity(0, {min(ALLOWED)})
        finished = Program(script, os.environ["PATH"]).run([], str(tmp_path / "folder"), 60)
    finally:
        os.sched_setaffinity(0, ALLOWED)
    assert finished.output.decode().strip() == str(sorted(ALLOWED))


def test_a_body_that_nobody_has_read_is_dropped_in_one_piece():
    """gunicorn reads it by the kilobyte, and copies what is left of it each time: 5 MiB held the
    worker's loop, and with it every other client, for 16 s."""
    client, server = socket.socketpair()
    size = 5 * 1024 * 1024
    with client, server, ThreadPoolExecutor(1) as pool:
        server.setblocking(False)
        conn = connection.Connection(Config(), server, ("127.0.0.1", 1), ("127.0.0.1", 80))
        head = b"POST /api/v1/blocks HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (size)
        future = pool.submit(client.sendall, head + b" " * (size) + b"GET / HTTP/1.1\r\n")
        wait_until(lambda: conn.receive() and conn.parse_head())
        wait_until(lambda: conn.receive() is None and conn.is_whole() and future.done())
        pieces, read = [], conn.received.read
        conn.received.read = lambda *sizes, **options: (
            pieces.append(sizes) or read(*sizes, **options)
        )
        conn.end_request()
        assert len(pieces) == 1
        assert bytes(conn.received.data) == b"GET / HTTP/1.1\r\n"
