"""An instance that reads a streaming replica: how far that is behind, and what goes on without
the primary. Limits in a Redis that is away are no different from a database that is."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from scan.accounts.api_keys import new_key
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.http_client import Client, busy_threads
from tests.support.indexing import Indexing
from tests.support.serving import NOWHERE, free_port, gunicorn, redis_server, wait_until

NEWEST = "/api/v1/blocks?limit=1"
SETTINGS = {"RPC_URL": NOWHERE, "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute"}


@pytest.fixture(scope="module")
def primary() -> Iterator[Postgres]:
    server = Postgres()
    server.make_template()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def replica(primary: Postgres) -> Iterator[Postgres]:
    server = Postgres(primary)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def urls(primary: Postgres, replica: Postgres) -> Iterator[tuple[str, str]]:
    with primary.cloned("template_scan") as url:
        name = url.partition("?")[0].rpartition("/")[2]
        copy = replica.url(name)
        wait_until(lambda: has_database(replica, name))
        yield url, copy
        replays(replica, pause=False)


def has_database(replica: Postgres, name: str) -> bool:
    found = "SELECT 1 FROM pg_database WHERE datname = %s"
    return bool(execute(replica.url("postgres"), found, name))


def replays(replica: Postgres, *, pause: bool) -> None:
    execute(
        replica.url("postgres"),
        f"SELECT pg_wal_replay_{'pause' if pause else 'resume'}()",
    )


def ready(server: str) -> tuple[int, Any]:
    response = requests.get(f"{server}/readyz", timeout=30)
    return response.status_code, response.json()


def indexed(url: str) -> int:
    [(number,)] = execute(url, "SELECT coalesce(max(number), -1) FROM blocks")
    assert isinstance(number, int)
    return number


def test_a_replica_that_replays_nothing_is_not_ready(
    anvil: Anvil, replica: Postgres, urls: tuple[str, str]
) -> None:
    url, copy = urls
    reading = {"READ_DATABASE_URL": copy, "SCAN_MAX_LAG_BLOCKS": "5", **SETTINGS}
    with Indexing(url, anvil.url) as indexing, gunicorn(url, **reading) as server:
        anvil.mine(3)
        indexing.wait_for(3)
        wait_until(lambda: indexed(copy) == 3)
        wait_until(lambda: ready(server)[1]["lagBlocks"] == 0)
        replays(replica, pause=True)
        anvil.mine(5)
        indexing.wait_for(8)
        wait_until(lambda: ready(server)[1]["lagBlocks"] == 5)
        status, body = ready(server)
        assert (status, body["status"], body["indexedBlock"], body["headBlock"]) == (
            *(200, "ready", 3, 8),
        )
        anvil.mine()
        indexing.wait_for(9)
        wait_until(lambda: ready(server)[0] == 503)
        _, body = ready(server)
        assert (body["status"], body["code"], body["lagBlocks"]) == ("unavailable",) * 2 + (6,)
        assert body["problem"] == "The replica is 6 blocks behind the primary."
        replays(replica, pause=False)
        wait_until(lambda: ready(server)[0] == 200)
        assert ready(server)[1]["lagBlocks"] == 0


def test_keyed_reads_go_on_while_the_primary_is_away(
    primary: Postgres, replica: Postgres, urls: tuple[str, str]
) -> None:
    url, copy = urls
    keys = [new_key(), new_key()]
    for key in keys:
        execute(
            url,
            "INSERT INTO api_keys (id, owner_address, signed_at_ms, key_hash, key_prefix, label,"
            " requests_per_minute) VALUES (%s, %s, %s, %s, %s, '', 100)",
            *(key.id, bytes(20), time.time_ns() // 1000, key.hash, key.prefix),
        )
    wait_until(lambda: execute(copy, "SELECT count(*) FROM api_keys") == [(2,)])
    with gunicorn(url, READ_DATABASE_URL=copy, **SETTINGS) as server:
        client = Client(server)

        def ask(text: str) -> tuple[int, str]:
            found = client.ask(NEWEST, more=f"X-API-Key: {text}\r\n")
            return found.status, found["X-RateLimit-Limit"]

        assert ask(keys[0].text) == (200, "100")
        primary.halt()
        try:
            for _ in range(3):  # also of one that was never looked up, and one that is unknown
                assert ask(keys[0].text) == ask(keys[1].text) == (200, "100")
                assert ask("scan_" + "0" * 64)[0] == 401
                time.sleep(1.5)  # what was found is forgotten
            status, body = ready(server)
            assert (status, "primary cannot be reached" in body["problem"]) == (200, True)
            assert client.ask("/api/v1/keys?owner=0x" + "00" * 20).status == 503
        finally:
            primary.resume()
        wait_until(lambda: client.ask("/api/v1/keys?owner=0x" + "00" * 20).status == 200)


def test_responses_of_a_replica_are_cached_for_a_moment(
    anvil: Anvil, urls: tuple[str, str]
) -> None:
    """What is read tells how new the replica is; each request is a moment's news for others."""
    url, copy = urls
    with Indexing(url, anvil.url) as indexing:
        anvil.mine()
        indexing.wait_for(1)
        wait_until(lambda: indexed(copy) == 1)
        reading = {"READ_DATABASE_URL": copy, "SCAN_STATEMENT_TIMEOUT_MS": "60000", **SETTINGS}
        with gunicorn(url, **reading) as server:
            client = Client(server)
            before = reads(copy)
            for _ in range(300):
                assert client.ask(NEWEST).status == 200
            assert reads(copy) - before < 250
            tag = client.ask(NEWEST)["ETag"]
            assert client.ask(NEWEST, more=f"If-None-Match: {tag}\r\n").status == 304
            anvil.mine()
            wait_until(lambda: b'"number":2,' in client.ask(NEWEST).body)
            time.sleep(0.2)
            client.socket.settimeout(0.5)
            with busy_threads(server, url), pytest.raises(TimeoutError):
                client.ask(NEWEST)


def reads(url: str) -> int:
    """Transactions of this database that have ended, as far as they are reported yet."""
    execute(url, "SELECT pg_stat_clear_snapshot()")
    time.sleep(1.2)
    [(count,)] = execute(
        url, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
    )
    assert isinstance(count, int)
    return count


def test_without_its_redis_an_instance_is_not_ready(database_url: str, tmp_path: Path) -> None:
    port = free_port()
    with redis_server(tmp_path, port) as storage:
        server = gunicorn(database_url, SCAN_RATE_LIMIT_STORAGE=storage, **SETTINGS)
        address = server.__enter__()
        wait_until(lambda: ready(address)[0] == 200)
    try:
        wait_until(lambda: ready(address)[0] == 503)
        _, body = ready(address)
        assert "limit" in body["problem"] and body["code"] == "unavailable"
        assert requests.get(f"{address}/healthz", timeout=5).status_code == 200
        with redis_server(tmp_path, port):
            wait_until(lambda: ready(address)[0] == 200)
    finally:
        server.__exit__(None, None, None)
