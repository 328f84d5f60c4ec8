"""A socket whose key is revoked while it is open."""

import pytest

from tests.support.database import execute, made_key
from tests.support.serving import connect, gunicorn

pytestmark = pytest.mark.thorough


def test_a_socket_ends_with_its_key(own_index):
    """Before it would as a silent one, after 90 s."""
    handshake = (
        "GET /socket/v2/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: scan\r\nX-API-Key: {key}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    url = own_index.settings.database_url
    key = made_key(url, 1000)
    with gunicorn(url, SCAN_ACCESS="keys") as address:
        with connect(address) as client:
            client.sendall(handshake.format(key=key.text).encode())
            assert client.recv(4096).startswith(b"HTTP/1.1 101 ")
            execute(url, "UPDATE api_keys SET active = false WHERE id = %s", key.id)
            while client.recv(4096):
                pass
        with connect(address) as client:
            client.sendall(handshake.format(key=key.text).encode())
            assert client.recv(4096).startswith(b"HTTP/1.1 401 ")
