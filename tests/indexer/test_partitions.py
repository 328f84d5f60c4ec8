"""Long tables in partitions: the same rows and the same answers as in one partition."""

from contextlib import closing

import psycopg2
import pytest

from scan.database import migrations
from scan.indexer import partitions
from tests.support.auditing import DIFFERS, EXACT, run
from tests.support.database import execute, wait_for_problem
from tests.support.indexing import Indexing, settings_for
from tests.support.partitions import PARTS
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens
from tests.support.serving import NOWHERE, wait_until
from tests.support.table_digest import digest

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def parted(shared_database_url, scenario):
    """The scenario's chain in many partitions a table, with its logs."""
    url, node = shared_database_url, scenario.anvil
    Indexing(url, node.url, logs="all", partition_rows=40).run_until(node.head())
    assert execute(url, PARTS, "transactions") >= [(15,)]
    return url


def test_an_audit_of_partitions_is_exact_and_finds_what_is_not(parted, scenario):
    settings = settings_for(parted, scenario.anvil.url, logs="all")
    assert run(settings, node=True) == EXACT
    [(number,)] = execute(
        parted,
        "UPDATE transactions SET value = value + 1 WHERE ordinal = 100 RETURNING block_number",
    )
    assert run(settings, node=True, first=number - 10, last=number + 10) == DIFFERS
    assert run(settings, node=True, first=number + 1, last=number + 10) == EXACT
    execute(parted, "UPDATE transactions SET value = value - 1 WHERE ordinal = 100")


def test_a_session_that_locks_the_table_delays_its_rows_and_loses_nothing(database_url, anvil):
    honest_tokens(Stage(anvil))
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLE transactions IN SHARE UPDATE EXCLUSIVE MODE")
        with Indexing(database_url, anvil.url, partition_rows=10) as indexing:
            wait_for_problem(database_url, "lock")  # rows have no partition yet
            assert execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
            connection.commit()
            cursor.execute("SELECT count(*) FROM transactions")  # a reader delays nothing
            indexing.wait_for(anvil.head())
        [(parts,)] = execute(database_url, PARTS, "transactions")
        assert parts > 1


def test_statistics_of_a_whole_table_follow_its_rows(database_url, anvil, monkeypatch):
    """Autovacuum makes those of partitions alone."""
    monkeypatch.setattr(partitions, "LEAST_ANALYZED_ROWS", 4)
    statement = "SELECT count(*) FROM pg_stats WHERE tablename = 'transactions' AND inherited"
    with Indexing(database_url, anvil.url) as indexing:
        assert execute(database_url, statement) == [(0,)]
        for _ in range(9):
            anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
            anvil.mine()
            indexing.wait_for(anvil.head())
        wait_until(lambda: execute(database_url, statement) != [(0,)])


def test_schema_sql_applies_again_and_builds_missing_indexes_in_every_partition(parted):
    before = digest(parted)
    everything = "SELECT c.oid::int, c.relname FROM pg_class c ORDER BY 1"
    shape = execute(parted, everything)
    execute(parted, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(parted, NOWHERE)) == ["schema.sql"]
    assert execute(parted, everything) == shape
    # One that is missing, with the rest of a build that was interrupted in some partitions.
    execute(parted, "DROP INDEX transactions_by_to")
    for part, table in (
        ("", "ONLY transactions"),
        ("_0", "transactions_0"),
        ("_40", "transactions_40"),
    ):
        execute(
            parted,
            f"CREATE INDEX transactions_by_to{part} ON {table} (to_address, ordinal)"
            " WHERE to_address <> from_address",
        )
    execute(
        parted,
        "UPDATE pg_index SET indisvalid = false"
        " WHERE indexrelid = 'transactions_by_to_40'::regclass",
    )
    execute(parted, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(parted, NOWHERE)) == ["schema.sql"]
    assert execute(parted, "SELECT indexrelid FROM pg_index WHERE NOT indisvalid") == []
    [(parts,)], [(indexed,)] = (
        execute(parted, PARTS, name) for name in ("transactions", "transactions_by_to")
    )
    assert parts == indexed
    assert digest(parted) == before
