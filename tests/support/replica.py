"""A primary and its standby, and a database of both."""

import pytest

from tests.support import serving
from tests.support.database import Postgres, execute, name_in

SETTINGS = {"RPC_URL": serving.NOWHERE, "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute"}


@pytest.fixture(scope="module")
def primary():
    with Postgres() as server:
        server.make_template()
        yield server


@pytest.fixture(scope="module")
def replica(primary):
    with Postgres(primary) as server:
        yield server


@pytest.fixture
def urls(primary, replica):
    with primary.cloned("template_scan") as url:
        name = name_in(url)
        copy = replica.url(name)
        named = "SELECT 1 FROM pg_database WHERE datname = %s"
        serving.wait_until(lambda: execute(replica.url("postgres"), named, name))
        yield url, copy
        replays(replica, pause=False)


def replays(replica, *, pause):
    execute(replica.url("postgres"), f"SELECT pg_wal_replay_{'pause' if pause else 'resume'}()")


def indexed(url):
    [(number,)] = execute(url, "SELECT coalesce(max(number), -1) FROM blocks")
    return number
