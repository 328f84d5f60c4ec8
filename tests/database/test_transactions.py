"""Open transactions: statements that are sent together, also where they are prepared; and
columns that migrations add, which older rows lack."""

import re

import psycopg2
import pytest

from scan.database import migrations
from scan.database.errors import Conflict
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.column_types import COMPUTED, TEXT, Column, annotated_columns

TOPIC, OTHER = bytes([1]) * 32, bytes([2]) * 32
INSERT, LIST = "indexer/event_topics_insert", "indexer/event_topics_list"


def stored(database):
    return {bytes(topic) for (topic,) in database.rows(LIST)}


@pytest.mark.parametrize("prepared", [False, True])
def test_deferred_statements_run_before_the_next_one(database, prepared):
    before = stored(database)
    with database.transaction(prepared=prepared) as tx:
        tx.defer(INSERT, topics=[TOPIC])
        tx.defer(INSERT, topics=[OTHER])
        assert {bytes(topic) for (topic,) in tx.rows(LIST)} == before | {TOPIC, OTHER}
    assert stored(database) == before | {TOPIC, OTHER}


def test_a_deferred_statement_that_fails_takes_the_others_with_it(database):
    before = stored(database)
    with pytest.raises(psycopg2.Error), database.transaction() as tx:
        tx.defer(INSERT, topics=[TOPIC])
        tx.defer("indexer/partitions_add", table="no_table", first=0, bound=1)
        tx.defer(INSERT, topics=[OTHER])
    assert stored(database) == before


def test_an_error_leaves_nothing_of_deferred_statements(database):
    before = stored(database)
    with pytest.raises(ValueError, match="ours"), database.transaction() as tx:
        tx.rows(INSERT, topics=[OTHER])
        tx.defer(INSERT, topics=[TOPIC])
        raise ValueError("ours")
    assert stored(database) == before


def test_an_array_of_nulls_can_be_given_to_a_prepared_statement(database):
    with database.transaction(prepared=True) as tx:
        assert tx.rows("indexer/emitters_list_known", addresses=[]) == []
        assert len(tx.rows("indexer/emitters_list_known", addresses=[None])) == 1


def test_a_broken_constraint_is_named(database):
    with pytest.raises(Conflict, match="migrations_pkey"), database.transaction() as tx:
        tx.execute("database/migrations_insert", number=1_000_000, name="first")
        tx.execute("database/migrations_insert", number=1_000_000, name="second")


RECORDS = {"blocks": DecodedBlock, "transactions": DecodedTransaction}
ADDED = [
    (migration.name, table, column)
    for migration in migrations.expected_schema().migrations
    for table, changes in re.findall(r"ALTER TABLE (?:IF EXISTS )?(\w+)([^;]*);", migration.text)
    for column in re.findall(r"ADD COLUMN (?:IF NOT EXISTS )?(\w+)", changes)
    if table in RECORDS
]


@pytest.mark.check
def test_what_a_migration_adds_may_be_null_in_older_rows():
    filled = set()  # what migrations filled in older rows, such as "blocks.size"
    for migration, table, column in ADDED:
        definition = annotated_columns(RECORDS[table]).get(column, Column(TEXT, COMPUTED))
        assert (definition.added_by == migration) != (f"{table}.{column}" in filled), (
            f"migrations/{migration} adds {table}.{column}: its field in scan/ethereum/blocks.py"
            f' needs Column(added_by="{migration}"), since older rows have null; or filled has it'
        )


@pytest.mark.check
@pytest.mark.parametrize("table", RECORDS)
def test_a_field_names_the_migration_that_added_its_column(table):
    columns = annotated_columns(RECORDS[table])
    assert len(columns) > 10
    named = {(c.added_by, table, name) for name, c in columns.items() if c.added_by}
    assert named <= {*ADDED}, "a field's Column says that a migration added it, which does not"
