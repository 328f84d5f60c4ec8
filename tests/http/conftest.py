"""Clients over bare sockets, and what a server's worker holds."""

import re
import socket
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S
from tests.support.serving import free_port, gunicorn_started, wait_for

LIMITS = ("ANONYMOUS", "FILES", "PAGES")
UNLIMITED = {f"SCAN_RATE_LIMIT_{name}": "1000000/minute" for name in LIMITS}


@pytest.fixture
def clients():
    """Closes what a test has connected."""
    with ExitStack() as stack:
        yield stack


def workers(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def peak_mib(process):
    """The most that the worker has ever held."""
    [worker] = workers(process)
    [kib] = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker}/status").read_text())
    return int(kib) // 1024


@contextmanager
def served(url, *arguments, shell="", **environment):
    """A server of the test's own without limits in fact, and its address."""
    port, environment = free_port(), {**UNLIMITED, **environment}
    with gunicorn_started(url, port, *arguments, shell=shell, **environment) as process:
        yield process, wait_for(port, process)


def require_served(server):
    """Both by the worker's loop and by a thread with the database."""
    for path in ("/healthz", "/api/v1/keys?owner=0x" + "00" * 20):
        assert requests.get(server + path, timeout=WAIT_S).status_code == 200


def unread(server, source="127.0.0.1"):
    """A client with little room for responses, which it does not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    client.bind((source, 0))
    client.settimeout(WAIT_S)
    client.connect(("127.0.0.1", int(server.rpartition(":")[2])))
    return client
