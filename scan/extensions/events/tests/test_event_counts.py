"""How many logs an event has is counted as they are written, whatever writes them."""

import json
from random import Random

import pytest

from scan.database import migrations
from scan.database.connection import Database
from scan.extensions.events.tests.test_following import ABI, Coffers, address_of, fill, following
from tests.commands.test_command import scan
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing

COUNTED = "SELECT address, topic0, logs FROM contract_event_counts ORDER BY 1, 2"
ROWS = (
    "SELECT address, coalesce(topic0, ''), count(*) FROM contract_events"
    " GROUP BY 1, 2 ORDER BY 1, 2"
)


def add_rows(url, emitter, blocks):
    execute(
        url,
        "INSERT INTO contract_events SELECT n << 20, n, 0, 0, decode(%s, 'hex'), NULL, NULL, NULL,"
        " NULL, '' FROM generate_series(%s, %s) AS n",
        emitter.hex() * 20,
        blocks[0],
        blocks[-1],
    )


def test_logs_of_a_version_that_did_not_count_are_counted(database_url):
    """Some of them were written since, and counted."""
    add_rows(database_url, b"a", range(1, 4))
    execute(database_url, "DELETE FROM contract_event_counts")
    add_rows(database_url, b"a", range(4, 6))
    add_rows(database_url, b"b", range(6, 7))
    assert execute(database_url, COUNTED) != execute(database_url, ROWS)
    execute(
        database_url,
        "COMMENT ON TABLE contract_event_counts IS NULL; UPDATE schema_state SET digest = ''",
    )
    database = Database(database_url, statement_timeout_ms=0)
    assert migrations.bring_up(database, migrations.expected_schema()) == ["schema.sql"]
    database.close()
    assert execute(database_url, COUNTED) == execute(database_url, ROWS)


@pytest.mark.thorough
@pytest.mark.parametrize("logs", ["none", "all"])
def test_counts_are_exact_through_forks_fills_removal_and_rebuilds(database_url, logs):
    random = Random(102)
    with Anvil() as anvil:
        coffers = Coffers(anvil)
        for amount in range(20):
            coffers.deposit(amount)
        contracts = [address_of(coffers.proxy), address_of(coffers.first)]
        with Indexing(database_url, anvil.url, until=anvil.head(), logs=logs) as index:
            connection, followed = following(database_url)

            def follow():
                followed.add(random.choice(contracts), None, json.dumps(ABI))

            def grow():
                for amount in range(random.randrange(1, 14)):
                    coffers.deposit(amount)
                index.wait_for(anvil.head())

            def fork():
                anvil.reorganise(random.choice([1, 3, 12]))
                grow()

            def remove():
                followed.remove(random.choice(contracts))

            def rebuild():
                done = scan("rebuild", "contract_events", DATABASE_URL=database_url)
                assert done.returncode == 0, done.stderr

            steps = [follow, grow, fork, remove, rebuild, lambda: fill(followed)]
            with connection:
                for step in [follow, *random.choices(steps, k=16), follow, lambda: fill(followed)]:
                    step()
                    assert execute(database_url, COUNTED) == execute(database_url, ROWS)
            assert execute(database_url, COUNTED) != []
