"""Looking keys up and counting their use, against a real database that comes and goes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from scan.accounts import api_keys
from scan.database.connection import Database
from scan.errors import Unavailable
from tests.support.database import execute, made_key, name_in


@contextmanager
def away(postgres, url):
    """While it lasts, the database cannot be reached under its name."""
    name = name_in(url)
    server = postgres.url("postgres")
    execute(
        server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", name
    )
    execute(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    try:
        yield
    finally:
        execute(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def test_unknown_keys_fill_a_bounded_memory(database):
    lookup = api_keys.ApiKeyLookup(database, clock=lambda: 0.0, most_cached=50)
    keys = [api_keys.new_key().text for _ in range(60)]
    assert [*map(lookup.find, keys)] == [None] * 60
    assert [lookup.find_cached(key) is not None for key in keys] == [False] * 10 + [True] * 50


def test_a_key_that_is_revoked_while_it_is_looked_up_stops_working_at_once(database_url):
    class Revoking(Database):
        def row(self, statement, *preceding, **params):
            row = super().row(statement, *preceding, **params)
            execute(database_url, "UPDATE api_keys SET active = false")
            lookup.clear_cache()
            return row

    key = made_key(database_url, 100)
    lookup = api_keys.ApiKeyLookup(Revoking(database_url, statement_timeout_ms=5000))
    assert lookup.find(key.text) is not None
    assert lookup.find_cached(key.text) is None
    assert lookup.find(key.text) is None


def test_a_lost_database_is_asked_once_a_second_and_found_again(database, database_url, postgres):
    now = [0.0]
    lookup = api_keys.ApiKeyLookup(database, clock=lambda: now[0])
    key = made_key(database_url, 100)
    with away(postgres, database_url):
        for _ in range(2):
            with pytest.raises(Unavailable):
                lookup.find(key.text)
    with pytest.raises(Unavailable):  # it rests
        lookup.find(key.text)
    now[0] = api_keys.PAUSE_AFTER_FAILURE_S
    assert lookup.find(key.text) is not None


def test_uses_counted_while_the_database_is_away_are_kept(database, database_url, postgres):
    key = made_key(database_url, 100)
    usage = api_keys.KeyUsage(database, flush_every_s=3600)
    with away(postgres, database_url):
        usage.count(key.id, 2_000_000_000.0)
        with pytest.raises(Unavailable):
            usage.flush()
        usage.count(key.id, 1_999_999_999.0)
    usage.close()
    [(total, last_used_at)] = execute(
        database_url, "SELECT total_requests, iso(last_used_at) FROM api_keys"
    )
    assert (total, last_used_at) == (2, "2033-05-18T03:33:20Z")


def test_processes_that_count_the_same_keys_at_once_lose_nothing(database, database_url):
    """Eight of them, each with its keys in another order: no deadlock, every use counted."""
    keys = [made_key(database_url, 100).id for _ in range(40)]

    def count(number):
        usage = api_keys.KeyUsage(database, flush_every_s=3600)
        order = keys[number * 5 :] + keys[: number * 5]
        for _ in range(25):
            for key_id in order if number % 2 else reversed(order):
                usage.count(key_id, 2_000_000_000.0)
            usage.flush()
        usage.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert execute(database_url, "SELECT DISTINCT total_requests FROM api_keys") == [(200,)]
