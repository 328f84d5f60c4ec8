"""A standby that misses the last blocks becomes primary, and connections move to it at once."""

import os
import random
import time
from contextlib import contextmanager
from functools import partial

import psycopg2
import pytest

from scan.errors import ScanError
from tests.support import auditing, database, scenario, table_digest
from tests.support.indexing import PATIENCE_S, Indexing
from tests.support.scenario.stage import ETHER, Stage

pytestmark = pytest.mark.thorough


def name_of(url):
    return str(psycopg2.extensions.parse_dsn(url)["dbname"])


def refuse_connections(postgres, name):
    database.execute(postgres.url("postgres"), f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')


@contextmanager
def standby_of(postgres, primary):
    """A copy of a database in use, whose connections end for it; dropped by its name at the end."""
    name = f"{primary}_standby"
    server = postgres.url("postgres")
    refuse_connections(postgres, primary)
    database.execute(
        server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", primary
    )
    database.execute(server, f'CREATE DATABASE "{name}" TEMPLATE "{primary}"')
    database.execute(server, f'ALTER DATABASE "{primary}" ALLOW_CONNECTIONS true')
    yield name
    database.execute(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def fail_over(postgres, primary, standby):
    """Connections to `primary` end; the next ones reach what was `standby`, and the reverse."""
    connection = psycopg2.connect(postgres.url("postgres"))
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN (%s, %s)",
            (primary, standby),
        )
        for old, new in ((primary, "lost"), (standby, primary), ("lost", standby)):
            cursor.execute(f'ALTER DATABASE "{old}" RENAME TO "{new}"')
    connection.close()


def add_novelties(stage):
    """A token, a contract that is none, and a pool, each with an event."""
    stage.deploy("novelty", "Coin", "Novelty", "NEW", 9)
    stage.do(1, "novelty", "mint", stage.people[1], ETHER)
    factory = "0x" + "fa" * 20
    tokens = (stage.contracts["gold"].address, stage.contracts["harbor"].address)
    stage.deploy("new pool", "FakePool", factory, *tokens)
    stage.do(1, "novelty", "transfer", stage.people[2], 7)
    stage.do(2, "new pool", "swapV2", 10, 0, 0, 9)
    scenario.everyday(stage, 5)


def watch(url, address):
    """A webhook for everything of an address, which nobody delivers."""
    database.execute(
        url,
        "WITH made AS (INSERT INTO webhooks VALUES"
        " (7, %s, %s, 'https://receiver.test/', '{tx,token_transfer}', true, now()) RETURNING id)"
        " INSERT INTO delivery_queues (webhook_id, host) SELECT id, 'receiver.test:443' FROM made",
        *[bytes.fromhex(address[2:])] * 2,
    )


def wait_for(indexing, number):
    """Until the block is indexed, over any loss of connections."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            indexing.wait_for(number)
        except ScanError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def delivery_ids(url):
    return [row[0] for row in database.execute(url, "SELECT id FROM deliveries ORDER BY id")]


FAILOVERS = int(os.environ.get("FAILOVERS", "6"))


def test_many_failovers_leave_what_a_fresh_index_has(anvil, postgres, template, database_url):
    """Each loses commits: of blocks all indexed, or with the indexer at work."""
    stage, chance = Stage(anvil, seed=50), random.Random(50)
    for act in scenario.BASIC_ACTS:
        act(stage)
    watch(database_url, stage.people[1])
    lost = set()
    blocks = 0
    with Indexing(database_url, anvil.url) as indexing:
        wait_for(indexing, anvil.head())
        for _ in range(FAILOVERS):
            with standby_of(postgres, name_of(database_url)) as standby:
                ids, before = set(delivery_ids(postgres.url(standby))), anvil.head()
                add_novelties(stage)
                all_indexed = partial(wait_for, indexing, anvil.head())
                at_work = partial(time.sleep, chance.random())
                chance.choice([all_indexed, at_work])()
                lost |= set(delivery_ids(database_url)) - ids
                blocks += anvil.head() - before
                refuse_connections(postgres, name_of(database_url))
                fail_over(postgres, name_of(database_url), standby)
            wait_for(indexing, anvil.head())
            assert not lost & set(delivery_ids(database_url))
    print(FAILOVERS, "failovers,", blocks, "blocks,", len(lost), "deliveries lost")
    assert lost
    assert table_digest.digest(database_url) == table_digest.fresh_digest(postgres, template, anvil)
    assert auditing.run(indexing.settings, node=True) == auditing.EXACT


def test_ids_of_deliveries_follow_the_clock_only_where_they_are_behind_it(database_url):
    def advance():
        return int(database.execute(database_url, "SELECT advance_delivery_ids()")[0][0])

    first = advance()
    assert abs(first - time.time() * 1e6) < PATIENCE_S * 1e6
    assert advance() == first + 1
    database.execute(database_url, "SELECT setval('deliveries_id_seq', 2 * %s)", first)
    assert advance() == 2 * first + 1
