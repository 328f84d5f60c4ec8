"""A response that is being sent when its key is revoked."""

import socket
import time
from contextlib import suppress

import pytest

from tests.http.conftest import unread
from tests.support.database import execute, made_key
from tests.support.serving import gunicorn

pytestmark = pytest.mark.thorough


def test_what_a_client_has_yet_to_take_ends_with_the_key(own_index):
    """Within 5 s, where a client that takes nothing would have 20 s or more."""
    url = own_index.settings.database_url
    key = made_key(url, 100_000)
    request = "GET /api/v1/transactions?limit=100 HTTP/1.1\r\nHost: scan\r\nX-API-Key: {}\r\n\r\n"
    requests = 400  # more than the system's buffers take of their responses
    with gunicorn(url, SCAN_RATE_LIMIT_ADDRESS="100000/minute") as server, unread(server) as slow:
        slow.sendall(request.format(key.text).encode() * requests)
        slow.recv(1, socket.MSG_PEEK)
        execute(url, "UPDATE api_keys SET active = false WHERE id = %s", key.id)
        time.sleep(6)
        received = b""
        with suppress(ConnectionResetError):  # where the server left requests unread
            while piece := slow.recv(1024 * 1024):
                received += piece
    assert 0 < received.count(b"HTTP/1.1 200 OK") < requests
    assert b"HTTP/1.1 401" not in received
