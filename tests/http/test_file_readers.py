"""Files over sockets: who reads slowly or never holds a place of his own, but no thread."""

import os
import signal
import socket
from contextlib import ExitStack

import pytest
import requests

from tests.http.conftest import served, unread, workers
from tests.support import WAIT_S
from tests.support.database import execute
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

TOKENS = 16_000  # with names of 255 characters 6 MB, which no socket's buffers take
TOKENS_FILE = b"GET /api/v1/tokens?format=ndjson HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def tokens_url(shared_database_url):
    execute(
        shared_database_url,
        "INSERT INTO tokens (address, block_number, type, name, symbol, decimals,"
        " total_supply, item_type, holder_count)"
        " SELECT int8send(n) || '\\x000000000000000000000000', 0, 'BEP20', repeat('T', 255),"
        " 'TKN', 18, 1, NULL, n FROM generate_series(1, %s) AS n RETURNING 1",
        TOKENS,
    )
    return shared_database_url


@pytest.fixture(scope="module")
def server(tokens_url, tmp_path_factory):
    with served(tokens_url, SCAN_DATA_DIR=str(tmp_path_factory.mktemp("data"))) as (_, address):
        yield address


def downloading(server, number):
    """A client with an address of its own that asks for a file, and reads the beginning alone."""
    client = unread(server, f"127.0.1.{number}")
    client.sendall(TOKENS_FILE)
    assert client.recv(12) == b"HTTP/1.1 200"
    return client


@pytest.mark.long
def test_clients_that_do_not_read_hold_no_thread(server):
    threads = 8
    with ExitStack() as stack:
        for number in range(1, threads + 2):
            stack.enter_context(downloading(server, number))
        answer = requests.get(f"{server}/api/v1/tokens?limit=7", timeout=WAIT_S)
        assert len(answer.json()["tokens"]) == 7
        # Who has a file has no other one before it is taken.
        again = stack.enter_context(socket.socket())
        again.bind(("127.0.1.1", 0))
        again.connect(("127.0.0.1", int(server.rpartition(":")[2])))
        again.sendall(TOKENS_FILE)
        assert again.recv(12) == b"HTTP/1.1 429"
        others = requests.get(f"{server}/api/v1/tokens?format=csv", timeout=WAIT_S)
        assert (others.status_code, len(others.content.splitlines())) == (200, TOKENS + 1)


def test_who_leaves_gives_the_place_back(server):
    def gets_a_file():
        try:
            downloading(server, 1).close()
        except AssertionError:
            return False
        return True

    for _ in range(3):
        wait_until(gets_a_file)


def test_a_killed_worker_leaves_no_file(tokens_url, tmp_path):
    with (
        served(tokens_url, SCAN_DATA_DIR=str(tmp_path)) as (process, address),
        downloading(address, 1),
    ):
        for pid in (*workers(process), process.pid):
            os.kill(int(pid), signal.SIGKILL)
        process.wait(WAIT_S)
        assert [*(tmp_path / "files").iterdir()] == []
