"""What every request meets before Flask: limits, kept answers, and what is never kept."""

from collections.abc import Iterator

import pytest

from tests.support.indexing import Indexing
from tests.support.serving import NOWHERE, exchange, gunicorn


@pytest.fixture(scope="module")
def server(indexed: Indexing) -> Iterator[str]:
    """gunicorn over the scenario's chain; answers about balances need no node."""
    environment = {"RPC_URL": NOWHERE, "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute"}
    with gunicorn(indexed.settings.database_url, **environment) as address:
        yield address


@pytest.mark.parametrize("path", ["//api/v1/blocks", "///api/v1/blocks", "/api/v1/blocks"])
def test_no_spelling_of_a_path_is_free_of_limits(server: str, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert b"X-RateLimit-Limit" in exchange(server, request.encode())


def test_a_target_without_a_slash_is_not_free_of_limits(server: str) -> None:
    request = b"GET api/v1/blocks?:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = exchange(server, request)
    assert b"X-RateLimit-Limit" in answer or not answer.startswith(b"HTTP/1.1 200")


def test_half_a_body_is_not_a_question(server: str) -> None:
    body = b'{"entity":"blocks"}'
    head = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    assert exchange(server, whole, finish=True).startswith(b"HTTP/1.1 200")
    half = head + b"Content-Length: %d\r\n\r\n" % (len(body) + 9) + body
    assert exchange(server, half, finish=True).startswith(b"HTTP/1.1 400")
