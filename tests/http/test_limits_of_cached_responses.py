"""Limits, keys and log lines are exact, whether the worker's loop answers or a thread."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scan.accounts.api_keys import NewKey, new_key
from tests.http.test_cached_responses import ODD, PATH, Client, Told, busy_threads
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.serving import (
    NOWHERE,
    free_port,
    gunicorn,
    gunicorn_started,
    redis_server,
    wait_for,
    wait_until,
)

_sources = (f"127.0.1.{n}" for n in itertools.count(2))


@pytest.fixture(scope="module")
def url(indexed: Indexing) -> str:
    return indexed.settings.database_url


@pytest.fixture(scope="module")
def server(url: str) -> Iterator[str]:
    """Ten requests a minute, as by default, and its page is kept."""
    with gunicorn(url, RPC_URL=NOWHERE) as address:
        Client(address, next(_sources)).ask(PATH)
        yield address


def made_key(url: str, per_minute: int) -> NewKey:
    key = new_key()
    execute(
        url,
        "INSERT INTO api_keys (id, owner_address, signed_at_ms, key_hash, key_prefix, label,"
        " requests_per_minute) VALUES (%s, %s, %s, %s, %s, '', %s)",
        *(key.id, bytes(20), time.time_ns() // 1000, key.hash, key.prefix, per_minute),
    )
    return key


def together(clients: list[Client], times: int, more: str = "") -> list[Told]:
    """Each client asks so often, every second time in a way that is for a thread."""
    start = threading.Barrier(len(clients))

    def ask(client: Client) -> list[Told]:
        start.wait()
        return [client.ask(PATH, more=more + ODD * (n % 2)) for n in range(times)]

    with ThreadPoolExecutor(len(clients)) as pool:
        return [told for found in pool.map(ask, clients) for told in found]


def left(found: list[Told]) -> list[int]:
    return sorted(int(one["X-RateLimit-Remaining"]) for one in found if one.status == 200)


def test_exactly_ten_pass_on_both_ways_together(server: str) -> None:
    source = next(_sources)
    found = together([Client(server, source) for _ in range(12)], 4)
    assert Counter(one.status for one in found) == {200: 10, 429: 38}
    assert left(found) == list(range(10))


def test_the_loop_refuses_nobody_itself(server: str) -> None:
    """A thread says so, with all that belongs to it; and what is refused is not charged."""
    client = Client(server, next(_sources))
    with busy_threads(server):
        assert left([client.ask(PATH) for _ in range(10)]) == list(range(10))
    refused = client.ask(PATH)
    assert refused.status == 429 and int(refused["Retry-After"]) > 0


def test_a_key_is_charged_and_counted_exactly(server: str, url: str) -> None:
    key = made_key(url, 100)
    source = next(_sources)
    found = together([Client(server, source) for _ in range(8)], 20, f"X-API-Key: {key.text}\r\n")
    assert Counter(one.status for one in found) == {200: 100, 429: 60}
    assert left(found) == list(range(100))
    count = "SELECT total_requests FROM api_keys WHERE id = %s"
    wait_until(lambda: execute(url, count, key.id) == [(100,)], timeout_s=3)
    time.sleep(1)
    assert execute(url, count, key.id) == [(100,)]
    assert Client(server, source).ask(PATH)["X-RateLimit-Remaining"] == "9"


def test_a_key_that_was_revoked_elsewhere_is_refused_soon(server: str, url: str) -> None:
    key = made_key(url, 1_000_000)
    client, more = Client(server, next(_sources)), f"X-API-Key: {key.text}\r\n"
    assert client.ask(PATH, more=more).status == 200
    execute(url, "UPDATE api_keys SET active = false WHERE id = %s", key.id)
    until = time.monotonic() + 5
    while client.ask(PATH, more=more).status == 200:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert [client.ask(PATH, more=more).status for _ in range(5)] == [401] * 5


def test_an_unknown_key_is_charged_to_the_address(server: str) -> None:
    client, more = Client(server, next(_sources)), "X-API-Key: scan_" + 64 * "0" + "\r\n"
    answers = [client.ask(PATH, more=more).status for _ in range(12)]
    assert answers == [401] * 10 + [429] * 2


def test_a_proxy_names_who_is_charged_on_both_ways(url: str) -> None:
    with gunicorn(url, RPC_URL=NOWHERE, SCAN_TRUSTED_PROXIES="1") as server:
        client = Client(server)
        client.ask(PATH, more="X-Forwarded-For: 192.0.2.1\r\n")
        for named in ("192.0.2.2", "9.9.9.9, 192.0.2.3", "2001:db8::1"):
            more = f"X-Forwarded-For: {named}\r\n"
            assert left([client.ask(PATH, more=more + ODD * (n % 2)) for n in range(12)]) == list(
                range(10)
            )
        assert client.ask(PATH, more="X-Forwarded-For: 2001:db8::2\r\n").status == 429
        with busy_threads(server):
            found = client.ask(PATH, more="X-Forwarded-For: 192.0.2.4\r\n")
        assert found["X-RateLimit-Remaining"] == "9"


def test_two_workers_with_redis_charge_exactly(url: str, tmp_path: Path) -> None:
    with (
        redis_server(tmp_path) as storage,
        gunicorn(
            url, RPC_URL=NOWHERE, WEB_CONCURRENCY="2", SCAN_RATE_LIMIT_STORAGE=storage
        ) as server,
    ):
        for _ in range(8):
            Client(server, "127.0.2.1").ask(PATH)
        found = together([Client(server, "127.0.2.2") for _ in range(12)], 4)
        assert Counter(one.status for one in found) == {200: 10, 429: 38}


def test_every_request_has_its_line_where_lines_are_wanted(url: str) -> None:
    port = free_port()
    environment = {"RPC_URL": NOWHERE, "SCAN_RATE_LIMIT_ANONYMOUS": "1000/minute"}
    with gunicorn_started(url, port, SCAN_LOG_REQUESTS="on", **environment) as process:
        client = Client(wait_for(port, process))
        for number in range(20):
            client.ask(PATH, more=f"X-Request-Id: line-{number}\r\n")
        stop_quietly = threading.Thread(target=process.terminate)
        stop_quietly.start()
        _, lines = process.communicate(timeout=30)
    assert all(lines.count(b"[line-%d]" % number) == 1 for number in range(20))
