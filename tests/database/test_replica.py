"""An instance that reads a streaming replica: how far that is behind, and what goes on without
the primary. Limits in a Redis that is away are no different from a database that is."""

import re
import time

import pytest
import requests

from tests.support import WAIT_S, http_client, serving
from tests.support.database import Postgres, execute, made_key, name_in
from tests.support.http_client import NEWEST
from tests.support.indexing import Indexing
from tests.support.scan_command import started

pytestmark = pytest.mark.long

SETTINGS = {"RPC_URL": serving.NOWHERE, "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute"}


@pytest.fixture(scope="module")
def replica(own_postgres):
    own_postgres.make_template()
    with Postgres(own_postgres) as server:
        yield server


@pytest.fixture
def urls(own_postgres, replica):
    """Of a database, and of its copy, which follows it again at the end."""
    with own_postgres.cloned("template_scan") as url:
        name = name_in(url)
        named = "SELECT 1 FROM pg_database WHERE datname = %s"
        serving.wait_until(lambda: execute(replica.url("postgres"), named, name))
        yield url, replica.url(name)
        replays(replica, pause=False)


def replays(replica, *, pause):
    execute(replica.url("postgres"), f"SELECT pg_wal_replay_{'pause' if pause else 'resume'}()")


def ready(server):
    response = requests.get(f"{server}/readyz", timeout=WAIT_S)
    return response.status_code, response.json()


def test_a_replica_that_replays_nothing_is_not_ready(anvil, replica, urls):
    url, copy = urls
    reading = {"READ_DATABASE_URL": copy, "SCAN_MAX_LAG_BLOCKS": "5", **SETTINGS}
    with Indexing(url, anvil.url) as indexing, serving.gunicorn(url, **reading) as server:
        anvil.mine(3)
        indexing.wait_for(3)
        serving.wait_until(lambda: ready(server)[1]["indexedBlock"] == 3)
        serving.wait_until(lambda: ready(server)[1]["lagBlocks"] == 0)
        replays(replica, pause=True)
        anvil.mine(5)
        indexing.wait_for(8)
        serving.wait_until(lambda: ready(server)[1]["lagBlocks"] == 5)
        status, body = ready(server)
        expected = (200, "ready", 3, 8)
        assert (status, body["status"], body["indexedBlock"], body["headBlock"]) == expected
        anvil.mine()
        indexing.wait_for(9)
        serving.wait_until(lambda: ready(server)[0] == 503)
        _, body = ready(server)
        assert (body["status"], body["code"], body["lagBlocks"]) == ("unavailable",) * 2 + (6,)
        assert body["problem"] == "The replica is 6 blocks behind the primary."
        replays(replica, pause=False)
        serving.wait_until(lambda: ready(server)[0] == 200)
        assert ready(server)[1]["lagBlocks"] == 0


def test_keyed_reads_go_on_while_the_primary_is_away(own_postgres, urls):
    url, copy = urls
    keys = [made_key(url, 100), made_key(url, 100)]
    serving.wait_until(lambda: execute(copy, "SELECT count(*) FROM api_keys") == [(2,)])
    with serving.gunicorn(url, READ_DATABASE_URL=copy, **SETTINGS) as server:
        client = http_client.Client(server)

        def ask(text):
            response = client.ask(NEWEST, more=f"X-API-Key: {text}\r\n")
            return response.status, response["X-RateLimit-Limit"]

        assert ask(keys[0].text) == (200, "100")
        own_postgres.halt()
        try:
            for _ in range(3):  # also of one that was never looked up, and one that is unknown
                assert ask(keys[0].text) == ask(keys[1].text) == (200, "100")
                assert ask("scan_" + "0" * 64)[0] == 401
                time.sleep(1.5)  # what was found is forgotten
            status, body = ready(server)
            assert (status, "primary cannot be reached" in body["problem"]) == (200, True)
            assert client.ask("/api/v1/keys?owner=0x" + "00" * 20).status == 503
        finally:
            own_postgres.resume()
        serving.wait_until(lambda: client.ask("/api/v1/keys?owner=0x" + "00" * 20).status == 200)


def test_a_client_is_shown_nothing_older_by_a_replica(anvil, replica, urls):
    def shown(server, block=None):
        headers = {} if block is None else {"X-Scan-At-Least-Block": str(block)}
        response = requests.get(server + NEWEST, headers=headers, timeout=WAIT_S)
        records = response.json()["blocks"] if response.status_code == 200 else ()
        number = records[0]["number"] if records else None
        assert number is None or response.headers["X-Scan-Block"] == str(number)
        return response.status_code, number

    def metric(name):
        text = requests.get(f"{second}/metrics", timeout=WAIT_S).text
        [value] = re.findall(rf"^{name} (\S+)$", text, re.M)
        return float(value)

    url, copy = urls
    with (
        Indexing(url, anvil.url) as indexing,
        serving.gunicorn(url, **SETTINGS) as first,
        serving.gunicorn(url, READ_DATABASE_URL=copy, **SETTINGS) as second,
    ):
        anvil.mine(3)
        indexing.wait_for(3)
        serving.wait_until(lambda: shown(second) == (200, 3))
        replays(replica, pause=True)
        anvil.mine(2)
        indexing.wait_for(5)
        serving.wait_until(lambda: shown(first) == (200, 5))
        assert shown(second) == (200, 3)  # whoever asks for nothing more gets what there is
        assert shown(second, 3) == (200, 3)
        assert shown(second, 5) == (503, None)
        assert metric("scan_replica_lag_blocks") == metric("scan_replica_up") + 1
        assert ready(second)[1]["replicaLagBlocks"] == 2
        replays(replica, pause=False)
        serving.wait_until(lambda: shown(second, 5) == (200, 5))
        assert shown(second) == (200, 5)
        serving.wait_until(lambda: metric("scan_replica_lag_blocks") == 0)


@pytest.mark.parametrize("command", ["index", "deliver", "serve", "run"])
def test_nothing_starts_on_a_standby_as_its_primary(urls, command):
    _, copy = urls
    given = {"RPC_URL": serving.NOWHERE, "PORT": str(serving.free_port()), "DATABASE_URL": copy}
    ended = started("scan", command, environ=given)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr
    assert ended.stderr.startswith("scan: DATABASE_URL=")
    assert "this server is read-only" in ended.stderr
