"""Columns of blocks and transactions that migrations add, which older rows lack."""

import re

import pytest

from scan.database import migrations
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.column_types import COMPUTED, TEXT, Column, annotated_columns

RECORDS = {"blocks": DecodedBlock, "transactions": DecodedTransaction}
# Columns of these tables that migrations added and filled in older rows.
FILLED = set()


def added_columns(text):
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


@pytest.mark.check
def test_what_a_migration_adds_may_be_null_in_older_rows():
    for migration, table, column in ADDED:
        known = annotated_columns(RECORDS[table]).get(column, Column(TEXT, COMPUTED))
        assert (known.added_by == migration) != (f"{table}.{column}" in FILLED), (
            f"migrations/{migration} adds {table}.{column}: its field in scan/ethereum/blocks.py"
            f' needs Column(added_by="{migration}"), since older rows have null; or FILLED names it'
        )


@pytest.mark.check
@pytest.mark.parametrize("table", RECORDS)
def test_a_field_names_the_migration_that_added_its_column(table):
    for name, column in annotated_columns(RECORDS[table]).items():
        if column.added_by:
            assert (column.added_by, table, name) in ADDED, (
                f"{table}.{name} says that migrations/{column.added_by} added it, which does not"
            )
