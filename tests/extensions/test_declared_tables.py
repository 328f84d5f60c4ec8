"""Tables of a block's rows, and types of webhook events, are where CONTRIBUTING.md names them."""

import re

import pytest

from scan.audit.node_comparison import ENTITIES
from scan.database import lists, migrations, statements
from scan.extensions.backfill import block_columns, loading, range_files
from scan.extensions.exports.parquet import KINDS
from scan.indexer.block_rows import TABLES, UNNUMBERED
from scan.webhooks.registration import EVENT_TYPES
from tests.test_declared_fields import ROOT, part

pytestmark = pytest.mark.check

# Tables of sql/schema/chain_tables.sql that are not rows of a block, and why.
NOT_OF_A_BLOCK = {
    "orphaned_blocks": "they are in the chain no more",
    **dict.fromkeys(["codes", "contracts"], "the inspection of contracts writes them"),
    **dict.fromkeys(
        ["tokens", "pools", "rejected_emitters", "contract_changes"], "as it does these"
    ),
    **dict.fromkeys(["dexes", "event_topics"], "they number names and topics"),
}
ROLES = "scan/extensions/sql_access/sql/schema/roles.sql"
NOT_READ_BY_ROLES = {"log_emitters": "logs and contracts have them"}
NOT_NUMBERED = dict.fromkeys(
    ["credits", "uncles"], "its ordinal follows from the block and the place in it"
)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def places_without_rows(table, created):
    """Where a table of a block's rows is missing, with what is to be done there."""
    texts = dict(statements.read_texts())
    read_by_audit = "".join(texts.get(f"audit/{name}_get_rows", "") for name in ENTITIES)
    made = part("scan/indexer/block_rows.py", r"^def table_rows\(", r"^def ")
    missing = {
        f"KINDS of scan/extensions/exports/parquet.py: {table}": table not in KINDS,
        f"SPOOLED or SELECTED of scan/extensions/backfill: {table}":
            table not in {*block_columns.SPOOLED, *range_files.SELECTED},
        f"COPY of scan/extensions/backfill/loading.py: {table}": table not in loading.COPY,
        f"{ROLES}: the rows of {table} that roles of `scan sql-role` read":
            table not in {*NOT_READ_BY_ROLES, *lists.all_entities()}
            and not re.search(rf"\b{table}\b", read(ROLES)),
        f"sql/lists.toml: the entity {table}, or NOT_NUMBERED of this test":
            "    ordinal bigint" in created and table not in {*lists.all_entities(), *NOT_NUMBERED},
        f"UNNUMBERED of scan/indexer/block_rows.py, or scan/indexer/writer.py: {table}":
            table not in UNNUMBERED and f'"{table}"' not in read("scan/indexer/writer.py"),
        f"table_rows() of scan/indexer/block_rows.py: the rows of {table}":
            table in UNNUMBERED and f'"{table}": ' not in made,
        f"sql/indexer/blocks_unwind.sql.j2: the unwinding of {table}":
            not re.search(rf"FROM {table}\b", texts["indexer/blocks_unwind"]),
        f"ENTITIES of scan/audit/node_comparison.py, or its _get_rows: {table}":
            not re.search(rf"\bFROM {table}\b", read_by_audit),
    }  # fmt: skip
    return [place for place, is_missing in missing.items() if is_missing]


def test_every_table_of_a_block_stands_in_every_place():
    lines = [
        f"{table} lacks {place}; or NOT_OF_A_BLOCK says here why it is no block's"
        for table in statements.tables_of("chain_tables")
        if table not in {*NOT_OF_A_BLOCK, *TABLES}
        for place in places_without_rows(
            table,
            part("sql/schema/chain_tables.sql", rf"^CREATE TABLE IF NOT EXISTS {table} ", r"^\)"),
        )
    ]
    assert not lines, "\n".join(lines)


def test_every_table_of_an_extension_is_an_entity():
    assert [table for table in TABLES if not lists.all_entities()[table].is_sparse] == []


def test_every_field_of_an_extension_s_row_is_a_column():
    for name, table in TABLES.items():
        undeclared = set(table.record._fields) - table.columns.keys()
        assert not undeclared, f"{table.record.__name__}: no Column annotates {undeclared}"
        pattern = rf"^CREATE TABLE IF NOT EXISTS {name} \((.*?)^\)"
        [created] = re.findall(pattern, migrations.read_schema(), re.M | re.S)
        missing = table.columns.keys() - set(re.findall(r"^    (\w+) ", created, re.M))
        assert not missing, f"sql/schema/chain_tables.sql: {name} lacks {missing}"


def test_what_rows_are_made_for_is_a_table():
    tables = statements.tables_of("chain_tables")
    lines = [
        f"sql/schema/chain_tables.sql lacks CREATE TABLE {table}, which UNNUMBERED of"
        " scan/indexer/block_rows.py or sql/lists.toml names"
        for table in dict.fromkeys([*UNNUMBERED, *lists.all_entities()])
        if table not in tables
    ]
    assert not lines, "\n".join(lines)


def places_without_event(event_type):
    """Where a type of webhook events is missing, with what is to be done there."""
    constraint = part("sql/schema/webhooks.sql", r"CHECK \(event_types <@", r"'$")
    missing = {
        "sql/schema/webhooks.sql: the constraint of event_types":
            not re.search(rf"\b{event_type}\b", constraint),
        "sql/schema/webhooks.sql: a function that makes its body":
            f'{{"event":"{event_type}"' not in read("sql/schema/webhooks.sql"),
        "sql/indexer/events_insert.sql: the rows of new blocks that concern a webhook":
            f"'{event_type}' = ANY (w.event_types)" not in read("sql/indexer/events_insert.sql"),
        "sql/webhooks/deliveries_insert_test.sql: the body of its test event":
            f"WHEN '{event_type}' THEN" not in read("sql/webhooks/deliveries_insert_test.sql"),
        "scan/api/openapi/keys_and_webhooks.toml: the record of its data":
            f'_event = "{event_type}"' not in read("scan/api/openapi/keys_and_webhooks.toml"),
        "scan/pages/templates/webhooks.html: its box":
            f'name="eventTypes" value="{event_type}"' not in read(
                "scan/pages/templates/webhooks.html"
            ),
        "docs/webhooks.md: its row": f"| `{event_type}` |" not in read("docs/webhooks.md"),
        "tests/webhooks/test_event_types.py: its deliveries, also in a reorganisation":
            f'"{event_type}"' not in read("tests/webhooks/test_event_types.py"),
    }  # fmt: skip
    return [place for place, is_missing in missing.items() if is_missing]


def test_every_type_of_webhook_events_stands_in_every_place():
    lines = [
        f"{name} lacks {place}" for name in EVENT_TYPES for place in places_without_event(name)
    ]
    assert not lines, "\n".join(lines)


def test_the_constraint_of_event_types_has_no_other():
    constraint = part("sql/schema/webhooks.sql", r"CHECK \(event_types <@", r"'$")
    types = re.findall(r"[a-z_]+", constraint.partition("{")[2].partition("}")[0])
    missing = [name for name in types if name not in EVENT_TYPES]
    assert not missing, f"EVENT_TYPES of scan/webhooks/registration.py lacks {missing}"
