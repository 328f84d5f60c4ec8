"""A column of a table that older databases have, too: its migration, and what fills older rows."""

import re

import psycopg2
import pytest

from scan.database import migrations
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.column_types import TEXT, Column, annotated_columns
from tests.database.test_migrations import FIRST
from tests.support.database import Postgres

RECORDS: dict[str, type] = {"blocks": DecodedBlock, "transactions": DecodedTransaction}
# Columns of these tables that migrations added, and why `scan backfill fields` leaves them alone.
NOT_FILLED = {
    **dict.fromkeys(
        ("internal_transfers_before", "internal_transfer_count", "traced", "withdrawal_count"),
        "older blocks are without internal transfers and withdrawals, which responses say",
    ),
    **dict.fromkeys(("traced_before", "untraced_before"), "the writer counts anew where null"),
    **dict.fromkeys(
        ("logs_before", "log_count"), "logs are stored from the first block on or never"
    ),
}


def added_columns(text: str) -> list[tuple[str, str]]:
    """(table, column) of the ALTER TABLE statements in a migration."""
    return [
        (table, column)
        for table, changes in re.findall(r"ALTER TABLE (?:IF EXISTS )?(\w+)([^;]*);", text)
        for column in re.findall(r"ADD COLUMN (?:IF NOT EXISTS )?(\w+)", changes)
    ]


ADDED = [
    (migration.name, table, column)
    for migration in migrations.expected_schema().migrations
    for table, column in added_columns(migration.text)
    if table in RECORDS
]


@pytest.mark.parametrize(("migration", "table", "column"), ADDED)
def test_what_a_migration_adds_is_filled_in_older_rows(
    migration: str, table: str, column: str
) -> None:
    known = annotated_columns(RECORDS[table]).get(column, Column(TEXT))
    assert (known.added_by == migration) != (column in NOT_FILLED), (
        f"migrations/{migration} adds {table}.{column}: its field in scan/ethereum/blocks.py needs"
        f' Column(added_by="{migration}"), and sql/indexer/fields_fill_{table}.sql a line, so that'
        " `scan backfill fields` fills older rows; or NOT_FILLED says here why it cannot"
    )


@pytest.mark.parametrize("table", RECORDS)
def test_a_field_names_the_migration_that_added_its_column(table: str) -> None:
    for name, column in annotated_columns(RECORDS[table]).items():
        if column.added_by:
            assert (column.added_by, table, name) in ADDED, (
                f"{table}.{name} says that migrations/{column.added_by} added it, which does not"
            )


def test_every_column_reaches_older_databases(database_url: str, postgres: Postgres) -> None:
    release = migrations.expected_schema()
    tables = re.findall(r"^CREATE TABLE IF NOT EXISTS .*?^\)[^;]*;", release.schema, re.S | re.M)
    with postgres.cloned("template1") as older_url:
        with psycopg2.connect(older_url) as connection, connection.cursor() as cursor:
            cursor.execute((FIRST / "schema.sql").read_text())
            for text in (*(m.text for m in release.migrations), *tables):
                cursor.execute(text)
        connection.close()
        missing = columns(database_url) - columns(older_url)
    for table, column in sorted(missing):
        pytest.fail(
            f"{table}.{column} stands in schema.sql alone: an older database has the table without"
            f" it. Add it in migrations/{release.newest + 1:04d}_….sql"
        )


def columns(url: str) -> set[tuple[str, str]]:
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public'"
        )
        found = set(cursor.fetchall())
    connection.close()
    return found
