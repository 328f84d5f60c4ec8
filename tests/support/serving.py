"""Real servers for tests: gunicorn as it is run, nginx from deploy/, Redis; all on loopback."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Barrier
from types import MappingProxyType
from urllib.parse import urlsplit

import pytest
import requests
from redis import Redis
from werkzeug.serving import ThreadedWSGIServer

from tests.support import POLL_S, WAIT_S
from tests.support.forked_python import Forked

ROOT = Path(__file__).resolve().parent.parent.parent
PORTS = range(15_000, 32_000)
_chance = random.SystemRandom()  # two runs at once must not try the same ports
NOWHERE = "http://127.0.0.1:1"  # a node that refuses connections
SERVERS = ROOT / "tests" / "support" / "servers.txt"
PROGRAMS = {line.split()[0] for line in SERVERS.read_text().splitlines() if line[0] != "#"}
NOT_INSTALLED = " is not installed: sudo tests/support/install_servers"


def free_port():
    """Below those that the kernel gives to connections, and of this worker of pytest alone: nobody
    else has it when it is bound, or a test would talk to the server of another."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    while True:
        port = _chance.choice(PORTS[worker::workers])
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


@contextmanager
def gunicorn(database_url, *arguments, **environment):
    """The base address of a server run with gunicorn.conf.py, when it answers."""
    port = free_port()
    with gunicorn_started(database_url, port, *arguments, **environment) as process:
        yield wait_for(port, process)


@contextmanager
def gunicorn_started(database_url, port, *arguments, shell="", **environment):
    """Started by `shell`, such as "ulimit -n 1024", where that is given."""
    given = {"RPC_URL": NOWHERE, "DATABASE_URL": database_url, "PORT": str(port)}
    given["SCAN_DEVELOPMENT_NODE"] = "off"  # or nothing would be cached of anvil
    own = "STATEMENT_TIMEOUT_MS" in environment
    configuration = "tests/support/statement_timeout.conf.py" if own else "gunicorn.conf.py"
    is_read_by_imports = environment.keys() & {"PYTHONPATH", "WEB_CONCURRENCY"}
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        configuration,
        *arguments,
        "app:create_app()",
    ]
    if shell:
        command = ["bash", "-c", f'{shell}; exec "$@"', "bash", *command]
    kind = subprocess.Popen if shell or is_read_by_imports else Forked
    env = {**os.environ, **given, **environment}
    with ending(command, kind, cwd=ROOT, env=env) as process:
        yield process


@contextmanager
def ending(command, kind=subprocess.Popen, **options):
    """A process that ends with the context."""
    process = kind(command, stderr=subprocess.PIPE, **options)
    try:
        yield process
    finally:
        stop(process)


def wait_for(port, process=None):
    wait_until(lambda: _answers(port), process)
    return f"http://127.0.0.1:{port}"


@contextmanager
def nginx(folder, instances, replaced=MappingProxyType({})):
    """deploy/nginx.conf with its ports, and what `replaced` says, changed."""
    port = free_port()
    site = (ROOT / "deploy" / "nginx.conf").read_text()
    site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
    site = site.replace("/var/log/nginx/", f"{folder}/")
    site = site.replace("listen [::]:80;", "")  # not every machine has IPv6
    for number, instance in enumerate(instances, 1):
        site = site.replace(f"127.0.0.1:800{number}", instance.removeprefix("http://"))
    for old, new in replaced.items():
        assert old in site
        site = site.replace(old, new)
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(_nginx_main(folder))
    command = [program("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with ending(command) as process:
        yield wait_for(port, process)


def _nginx_main(folder):
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Of what a test's folder has, another user could read nothing.
    user = "user root; " if os.getuid() == 0 else ""
    return (
        f"{user}daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        "events {}\n"
        f"http {{ {temporary} include {folder}/site.conf; }}\n"
    )


@contextmanager
def redis_cluster(folder):
    """A cluster of one server, which has all slots: its address, and its process."""
    # By default the bus has the port plus 10,000, which a connection may have.
    cluster = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    with redis_server(folder, None, *cluster) as address, Redis.from_url(address) as client:
        client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: client.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        yield f"redis+cluster{address.removeprefix('redis')}", client.info("server")["process_id"]


@contextmanager
def redis_server(folder, port=None, *arguments):
    port = port or free_port()
    options = "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)
    in_memory = "--save", "", "--appendonly", "no"
    command = [program("redis-server"), *options, *in_memory, *arguments]
    with ending(command, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: accepts(port), process)
        yield f"redis://127.0.0.1:{port}"


def completed(command, timeout=WAIT_S, **options):
    """A program that has ended, with what it printed as text."""
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


def program(name):
    """Where it is installed. Without it a test is left out, and fails where CI=true."""
    assert name in PROGRAMS, f"{name} is to stand in servers.txt"
    if path := shutil.which(name) or shutil.which(name, path="/usr/sbin"):
        return path
    message = f"{name}{NOT_INSTALLED}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def at_once(count, request):
    """`count` requests in as many threads, let go together."""
    start = Barrier(count)

    def wait_and_request(number):
        start.wait()
        return request(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(wait_and_request, range(count)))


def statuses(responses):
    return Counter(response.status_code for response in responses)


def connect(server):
    address = urlsplit(server)
    return socket.create_connection((address.hostname, address.port), timeout=WAIT_S)


def exchange(server, request_bytes, *, finish=False):
    """All that comes back for bytes no HTTP client would send; `finish` sends no more."""
    with connect(server) as connection:
        connection.sendall(request_bytes)
        if finish:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer


@contextmanager
def frozen(*pids):
    """Processes stand still while it lasts; their sockets still take connections."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def cleared(event):
    """Whoever waits for the event waits while it lasts."""
    event.clear()
    try:
        yield
    finally:
        event.set()


@contextmanager
def in_thread(server):
    """Serves from a thread of this process, which wakes for requests alone; its address."""
    threading.Thread(target=server.serve_forever, args=(3600.0,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server._BaseServer__shutdown_request = True
        server.socket.shutdown(socket.SHUT_RDWR)  # wakes it, and refuses who comes yet
        server.shutdown()
        server.server_close()


class _Threads(ThreadedWSGIServer):
    """Threads that stay, as gunicorn's do: each new one would connect to the database."""

    def __init__(self, app):
        super().__init__("127.0.0.1", 0, app)
        self._connections = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._count = 0

    def process_request(self, *connection):
        self._connections.put(connection)
        if not self._idle.acquire(blocking=False):
            self._count += 1
            threading.Thread(target=self._work, daemon=True).start()

    def server_close(self):
        super().server_close()
        for _ in range(self._count):
            self._connections.put(())

    def _work(self):
        while connection := self._connections.get():
            self.process_request_thread(*connection)
            self._idle.release()


def serving(app):
    """Serves an application over HTTP from this process; its address."""
    return in_thread(_Threads(app))


def wait_until(condition, process=None, timeout_s=WAIT_S, told=str):
    """`told` has what is said where it is waited in vain, or a process ends meanwhile."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if process is not None and process.poll() is not None:
            stderr = process.stderr.read().decode() if process.stderr else ""
            raise AssertionError(f"the server ended: {stderr or told()}")
        assert time.monotonic() < deadline, f"waited in vain {told()}"
        time.sleep(0.02)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WAIT_S)


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _answers(port):
    address = f"http://127.0.0.1:{port}/healthz"
    try:
        return requests.get(address, timeout=POLL_S, allow_redirects=False).status_code < 500
    except requests.RequestException:  # also slow, on a busy machine
        return False


@contextmanager
def no_thread_starts():
    before = threading.stack_size(1 << 45)
    try:
        yield
    finally:
        threading.stack_size(before)
