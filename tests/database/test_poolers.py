"""PgBouncer between Scan and PostgreSQL: exact in session mode, refused in the others."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from scan.database import errors
from scan.database.connection import Database
from scan.http.services import SESSION
from tests.support import WAIT_S, http_client, serving
from tests.support.database import execute
from tests.support.http_client import NEWEST, UNLIMITED, assert_soon, cached_newest
from tests.support.indexer_process import IndexerProcess
from tests.support.indexing import status
from tests.support.pgbouncer import pgbouncer
from tests.support.scan_command import started

pytestmark = pytest.mark.long


def test_a_session_has_exactly_the_settings_of_its_client(database_url):
    """Two clients with other settings, one after the other, on one session of the server's."""

    def settings_of(url, **options):
        with (
            closing(Database(url, **options).new_connection()) as session,
            session.cursor() as cursor,
        ):
            cursor.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'")
            return dict(cursor.fetchall())

    cases = ((1000, SESSION), (0, {"work_mem": "64MB", "statement_timeout": "0"}), (1000, SESSION))
    with pgbouncer(database_url, "session", default_pool_size="1") as url:
        for timeout_ms, session in cases:
            options = {"statement_timeout_ms": timeout_ms, "session": session}
            state, expected = settings_of(url, **options), settings_of(database_url, **options)
            expected.pop("client_encoding", None)
            assert state == expected | {key: state[key] for key in state.keys() - expected.keys()}
            assert state.keys() - expected.keys() <= {"application_name", "client_encoding"}
            assert state["statement_timeout"] == str(timeout_ms)


def test_indexer_api_and_webhooks_work_through_a_pooler(anvil, database_url):
    with (
        pgbouncer(database_url, "session") as pooled,
        IndexerProcess(pooled, anvil.url),
        serving.gunicorn(pooled, **UNLIMITED) as server,
    ):
        client = http_client.Client(server)
        for number in range(1, 8):
            anvil.mine()
            serving.wait_until(lambda number=number: status(database_url)["indexedBlock"] == number)
            assert_soon(client, NEWEST, f'"number":{number},')
            cached_newest(client)


def test_one_indexer_writes_and_the_next_takes_over(anvil, database_url):
    """The lock is the session's, which ends with its client's connection."""
    with (
        pgbouncer(database_url, "session") as pooled,
        IndexerProcess(pooled, anvil.url) as first,
        IndexerProcess(pooled, anvil.url) as second,
    ):
        anvil.mine(3)
        serving.wait_until(lambda: status(database_url)["indexedBlock"] == 3)
        serving.wait_until(lambda: "another indexer" in first.output() + second.output())
        loser = first if "another indexer" in first.output() else second
        (second if loser is first else first).kill()
        anvil.mine(2)
        serving.wait_until(lambda: status(database_url)["indexedBlock"] == 5)


@pytest.mark.parametrize("mode", ["transaction", "statement"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"default_pool_size": "1"}, {"server_round_robin": "1", "min_pool_size": "5"}],
    ids=str,
)
def test_a_shared_session_is_found_out(database_url, mode, settings):
    """Whatever other clients do at the moment, and however sessions are lent."""
    with pgbouncer(database_url, mode, **settings) as url, ThreadPoolExecutor(4) as pool:
        asking = pool.map(lambda _: execute(url, "SELECT 1"), range(200))
        for _ in range(5):
            database = Database(url, statement_timeout_ms=1000)
            with pytest.raises(errors.SharedSession):
                database.value("http/chain_get_version")
        list(asking)


def test_a_pooler_without_a_session_for_the_check_is_used(database_url):
    """It has one, and the check would need two: nothing is certain, and nothing is refused."""
    with pgbouncer(database_url, "session", default_pool_size="1") as url:
        database = Database(url, statement_timeout_ms=1000)
        assert database.value("http/chain_get_version") is not None
        database.close()


@pytest.mark.parametrize("command", ["deliver", "run"])
def test_every_part_refuses_to_start_on_shared_sessions(database_url, command):
    with pgbouncer(database_url, "statement") as url:
        given = {"RPC_URL": serving.NOWHERE, "PORT": str(serving.free_port())}
        given["DATABASE_URL"] = url.replace("postgres@", "postgres:pw@")
        ended = started("scan", command, environ=given)
    assert ended.returncode == 2
    assert ended.stderr.startswith("scan: DATABASE_URL='postgresql://postgres:***@127.0.0.1:")
    assert "pool_mode = session" in ended.stderr and "Traceback" not in ended.stderr


def test_gunicorn_refuses_to_start_on_shared_sessions(database_url):
    """Started by itself, and for reads alone."""
    with (
        pgbouncer(database_url, "transaction") as url,
        serving.gunicorn_started(
            database_url, serving.free_port(), READ_DATABASE_URL=url
        ) as process,
    ):
        assert process.wait(WAIT_S) == 1
        assert b"READ_DATABASE_URL='" in process.stderr.read()
