"""Responses that clients leave unread: whose connections are closed, and who goes on."""

import socket
from contextlib import suppress
from http.client import HTTPResponse
from pathlib import Path

import pytest
import requests

from tests.support.serving import NOWHERE, free_port, gunicorn_started, wait_for

MIB = 1024 * 1024
BUNDLE = b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n"  # 1.4 MB, never charged
STREAM = b"GET /api/v1/stream HTTP/1.1\r\nHost: x\r\n\r\n"


def send(clients, port, host, request):
    """Send a request from an address of 127.0.0.0/8, with a small buffer for its response."""
    client = clients.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.bind((host, 0))
    client.settimeout(20)
    client.connect(("127.0.0.1", port))
    client.sendall(request)
    return client


def is_closed(client):
    """Whether the server has closed the connection, once everything that came is read."""
    client.settimeout(0.2)
    try:
        while client.recv(MIB):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.long
def test_they_end_neither_the_worker_nor_streams(streaming, clients):
    """Connections are closed while events of others of them stand in the same poll of the loop."""
    port = free_port()
    unlimited = {"SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute", "RPC_URL": NOWHERE}
    with gunicorn_started(streaming.database_url, port, **unlimited) as process:
        server = wait_for(port, process)
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        worker = workers.read_text()
        streams = [send(clients, port, f"127.0.2.{n}", STREAM) for n in range(1, 5)]
        for stream in streams:
            assert stream.recv(12) == b"HTTP/1.1 200"
        modest = send(clients, port, "127.0.3.1", BUNDLE)
        for _ in range(4):
            wave = [send(clients, port, "127.0.0.1", BUNDLE * 6) for _ in range(90)]
            for client in wave:
                with suppress(OSError):
                    client.recv(2 * MIB)
            assert requests.get(f"{server}/healthz", timeout=20).status_code == 200
        assert workers.read_text() == worker
        assert not any(is_closed(stream) for stream in streams)
        response = HTTPResponse(modest)
        response.begin()
        assert len(response.read()) > MIB
        assert any(is_closed(client) for client in wave)
