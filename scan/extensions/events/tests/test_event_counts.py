"""How many logs an event has is counted as they are written, whatever writes them."""

from scan.database import migrations
from tests.support.database import execute

# A log of an address in each of some blocks.
ADD_LOGS = (
    "INSERT INTO contract_events SELECT n << 20, n, 0, 0, %s, NULL, NULL, NULL, NULL, ''"
    " FROM generate_series(%s, %s) AS n"
)


def test_a_log_takes_the_place_of_one_that_was_queued_while_its_block_was_removed(database_url):
    """Its views were made meanwhile, by a transaction that saw it still."""
    queued = "SELECT ordinal >> 20, address FROM undecoded_events"
    execute(database_url, ADD_LOGS, b"a" * 20, 1, 1)
    execute(database_url, "CREATE TABLE seen AS SELECT ordinal, address FROM undecoded_events")
    execute(database_url, "DELETE FROM contract_events")
    assert execute(database_url, queued) == []
    execute(database_url, "INSERT INTO undecoded_events SELECT * FROM seen")
    execute(database_url, ADD_LOGS, b"b" * 20, 1, 1)
    assert [(block, bytes(of)) for block, of in execute(database_url, queued)] == [(1, b"b" * 20)]


def test_logs_of_a_version_that_did_not_count_are_counted(database, database_url):
    """Some of them were written since, and counted."""
    execute(database_url, ADD_LOGS, b"a" * 20, 1, 3)
    execute(database_url, "DELETE FROM contract_event_counts")
    execute(database_url, ADD_LOGS, b"a" * 20, 4, 5)
    execute(database_url, ADD_LOGS, b"b" * 20, 6, 6)
    counted = "SELECT address, topic0, logs FROM contract_event_counts ORDER BY 1, 2"
    rows = (
        "SELECT address, coalesce(topic0, ''), count(*) FROM contract_events"
        " GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert execute(database_url, counted) != execute(database_url, rows)
    execute(
        database_url,
        "CREATE FUNCTION event_arguments() RETURNS integer LANGUAGE sql RETURN 1;"
        " UPDATE schema_state SET digest = ''",
    )
    assert migrations.bring_up(database, migrations.expected_schema()) == ["schema.sql"]
    assert execute(database_url, counted) == execute(database_url, rows)
