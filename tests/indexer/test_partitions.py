"""Long tables in partitions: the same rows and the same answers as in one partition."""

import sys
from contextlib import closing, contextmanager
from itertools import chain

import psycopg2
import pytest

from scan.database import migrations
from scan.indexer import partitions
from tests.support.auditing import DIFFERS, EXACT, run
from tests.support.database import execute, wait_for_problem
from tests.support.indexer_process import IndexerProcess
from tests.support.indexing import Indexing, client_over, settings_for
from tests.support.partitions import PARTS, lists
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens
from tests.support.serving import wait_until
from tests.support.storm import Storm
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough

ROWS = 40
SMALL = """
import sys
from scan import settings
settings.LEAST_PARTITION_ROWS = 1
from scan.commands import main
sys.exit(main(["index"]))
"""


class SmallPartitions(IndexerProcess):
    """`scan index` that takes a number of rows below what operators may set."""

    command = (sys.executable, "-c", SMALL)


@pytest.fixture(scope="module")
def parted(postgres, template, scenario):
    """The scenario's chain in many partitions a table, with its logs."""
    with postgres.cloned(template) as url:
        indexing = Indexing(url, scenario.anvil.url, logs="all", partition_rows=ROWS)
        indexing.run_until(scenario.anvil.head())
        assert execute(url, PARTS, "transactions") >= [(15,)]
        yield url


@pytest.fixture(scope="module")
def plain(postgres, template, scenario):
    """The same in one partition a table."""
    with postgres.cloned(template) as url:
        Indexing(url, scenario.anvil.url, logs="all").run_until(scenario.anvil.head())
        assert {execute(url, PARTS, table)[0] for table in partitions.TABLES} == {(1,)}
        yield url


@pytest.mark.long
def test_rows_lists_and_cursors_are_those_of_one_partition(plain, parted, scenario):
    assert digest(plain) == digest(parted)
    first, second = (client_over(url, scenario.anvil.url, logs="all") for url in (plain, parted))
    pages = [pages_of(first, path) for path in lists(first, scenario)]
    assert sum(map(len, pages)) - len(pages) > 100  # by cursors
    for page in chain.from_iterable(pages):
        answer = second.get(page.request.full_path)
        assert (answer.status_code, answer.json) == (page.status_code, page.json), page.request


def pages_of(client, path):
    """The first twelve responses of a list, or as many as it has."""
    pages, query = [], "limit=6"
    while query is not None and len(pages) < 12:
        pages.append(client.get(f"/api/v1/{path}?{query}"))
        cursor = pages[-1].json.get("next")
        query = cursor and f"limit=6&cursor={cursor}"
    return pages


def test_an_audit_of_partitions_is_exact_and_finds_what_is_not(parted, scenario):
    settings = settings_for(parted, scenario.anvil.url, logs="all")
    assert run(settings, node=True) == EXACT
    with transaction(parted) as cursor:
        cursor.execute(
            "UPDATE transactions SET value = value + 1 WHERE ordinal = 100 RETURNING block_number"
        )
        [(number,)] = cursor.fetchall()
    assert run(settings, node=True, first=number - 10, last=number + 10) == DIFFERS
    assert run(settings, node=True, first=number + 1, last=number + 10) == EXACT
    with transaction(parted) as cursor:
        cursor.execute("UPDATE transactions SET value = value - 1 WHERE ordinal = 100")


@contextmanager
def transaction(url):
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        yield cursor


@pytest.mark.long
def test_forks_and_kills_over_bounds_leave_a_fresh_index(postgres, template, database_url, anvil):
    storm = Storm(anvil, 5)
    with SmallPartitions(database_url, anvil.url, SCAN_PARTITION_ROWS=str(ROWS)) as indexer:
        storm.blow(indexer, 60)
    assert digest(database_url) == fresh_digest(postgres, template, anvil), storm.steps
    assert execute(database_url, PARTS, "transactions") > [(2,)]


def test_a_session_that_locks_the_table_delays_its_rows_and_loses_nothing(
    postgres, template, anvil
):
    honest_tokens(Stage(anvil))
    with postgres.cloned(template) as url, transaction(url) as cursor:
        cursor.execute("LOCK TABLE transactions IN SHARE UPDATE EXCLUSIVE MODE")
        with Indexing(url, anvil.url, partition_rows=10) as indexing:
            wait_for_problem(url, "lock")  # rows have no partition yet
            assert execute(url, "SELECT count(*) FROM blocks") == [(0,)]
            cursor.connection.commit()
            cursor.execute("SELECT count(*) FROM transactions")  # a reader delays nothing
            indexing.wait_for(anvil.head())
        [(parts,)] = execute(url, PARTS, "transactions")
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
    url = parted
    before = digest(url)
    everything = "SELECT c.oid::int, c.relname FROM pg_class c ORDER BY 1"
    shape = execute(url, everything)
    execute(url, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(url, "http://127.0.0.1:1")) == ["schema.sql"]
    assert execute(url, everything) == shape
    # One that is missing, with the rest of a build that was interrupted in some partitions.
    execute(url, "DROP INDEX transactions_by_to")
    for part, table in (
        ("", "ONLY transactions"),
        ("_0", "transactions_0"),
        ("_40", "transactions_40"),
    ):
        execute(
            url,
            f"CREATE INDEX transactions_by_to{part} ON {table} (to_address, ordinal)"
            " WHERE to_address <> from_address",
        )
    execute(
        url,
        "UPDATE pg_index SET indisvalid = false"
        " WHERE indexrelid = 'transactions_by_to_40'::regclass",
    )
    execute(url, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(url, "http://127.0.0.1:1")) == ["schema.sql"]
    assert execute(url, "SELECT indexrelid FROM pg_index WHERE NOT indisvalid") == []
    [(parts,)], [(indexed,)] = (
        execute(url, PARTS, name) for name in ("transactions", "transactions_by_to")
    )
    assert parts == indexed
    assert digest(url) == before
