"""A field that scan/ethereum/blocks.py declares is in all the places that CONTRIBUTING.md names."""

import re
from pathlib import Path

import pytest

from scan import registry
from scan.api.openapi import document, schemas
from scan.api.openapi.schemas import declared
from scan.database import lists, migrations
from scan.database.statements import read_records, result_columns, tables_of
from scan.ethereum import blocks, column_types
from scan.queries.filter_values import PARSERS
from tests.audit.columns import KEYS as KEYS_OF_TABLES
from tests.audit.columns import NOT_COMPARED
from tests.support.tables_document import names_of

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = {"blocks": blocks.BLOCK_COLUMNS, "transactions": blocks.TRANSACTION_COLUMNS}
TEMPLATES = {
    "blocks": ["block.html"],
    "transactions": ["transaction_overview.html", "transaction.html"],
}
# Keys of records that are not the column's name in camel case.
KEYS = {"timestamp_s": "timestamp", "method": "methodId"}
STORED_AS = {"timestamp_s": "timestamp"}
# Columns of derived tables that follow from other derived tables, or from all blocks of a day.
EXPECTED_ALONE = set(
    "item_count day first_block last_block active_address_count new_address_count"
    " holder_count held_supply".split()
)
# Columns that the indexer makes, of no field of the node's.
MADE = {
    "blocks": set(
        "timestamp transaction_count gas_price_sum withdrawal_count traced"
        " transactions_before token_transfers_before dex_trades_before logs_before"
        " internal_transfers_before traced_before untraced_before log_count unproven_before"
        " token_transfer_count dex_trade_count internal_transfer_count".split()
    ),
    "transactions": {"ordinal", "block_number"},
}
# Columns that a place leaves out, and why.
NOT_IN_RECORDS = {
    **dict.fromkeys(
        ["requests_hash", "block_access_list_hash", "slot_number"], "the record of one block has it"
    ),
    "unproven": "/readyz and the pages' footer have it",
    "blob_gas_price": "it is part of the fee",
    "producer_fees": "the history of the producer has it",
    "coin_logs": "it says how logs are read",
    "traced": "the list of its internal transfers is there, or is not",
    **dict.fromkeys(["l1_fee", "operator_fee"], "feeParts has it"),
    **dict.fromkeys(["mint", "chain_fields"], "records of chains that have it have it"),
}
NOT_ON_PAGES = NOT_IN_RECORDS | {
    "cumulative_gas_used": "it says nothing of the transaction itself",
    "method": "the page names the function that was called",
}


def key_of(name):
    first, *others = name.split("_")
    return KEYS.get(name, first + "".join(map(str.title, others)))


def part(path, begins, ends):
    """Of a file, from one pattern to the next."""
    text = (ROOT / path).read_text(encoding="utf-8")
    match = re.search(f"{begins}.*?(?={ends})", text, re.S | re.M)
    assert match is not None, f"{path} has nothing that begins with {begins}"
    return match.group()


def missing_entries(table, name):
    """Where a declared column is missing, with what is to be done there."""
    key, stored = key_of(name), STORED_AS.get(name, name)
    templates = [f"scan/pages/templates/{name}" for name in TEMPLATES[table]]
    created = part("sql/schema/chain_tables.sql", rf"^CREATE TABLE IF NOT EXISTS {table} ", r"^\)")
    page = "".join((ROOT / path).read_text(encoding="utf-8") for path in templates)
    documented = read_records()["records"][table.title().removesuffix("s")]
    missing = {
        f"sql/schema/chain_tables.sql: the column {stored} of {table}; a migration, or until 1.0"
        " `python -m scan.extensions.demo.tests.first_release_writing`": not re.search(
            rf"^\s+{stored}\b", created, re.M
        )
    }
    if name not in NOT_IN_RECORDS:
        missing[f"sql/records.toml: the key {key}"] = key not in documented
    if name not in NOT_IN_RECORDS and table == "transactions":  # block_record() is rendered
        for path, begins, ends in (
            ("sql/schema/records.sql", r"^CREATE OR REPLACE FUNCTION transaction_record\(", r";$"),
            ("tests/support/truth/blocks.py", r"^def transaction_record\(", r"^def |\Z"),
        ):
            source = part(path, begins, ends)
            missing[f"{path}: the key {key} of transaction_record()"] = f'"{key}"' not in source
    if name not in NOT_ON_PAGES and key not in documented.get("_facts", ()):
        missing[f"_facts of sql/records.toml, {templates[0]}, or NOT_ON_PAGES here: {key}"] = (
            re.search(rf"\.{key}\b", page) is None
        )
    return [entry for entry, is_missing in missing.items() if is_missing]


@pytest.mark.parametrize("table", COLUMNS)
def test_every_declared_column_stands_in_every_place(table):
    missing = {name: missing_entries(table, name) for name in COLUMNS[table]}
    lines = [
        f"{table}.{name} lacks {entry}" for name, entries in missing.items() for entry in entries
    ]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_of_the_table_is_declared_or_made(table):
    created = part("sql/schema/chain_tables.sql", rf"^CREATE TABLE IF NOT EXISTS {table} ", r"^\)")
    columns = set(re.findall(r"^    ([a-z_]+) ", created, re.M))
    missing = columns - COLUMNS[table].keys() - MADE[table]
    assert not missing, (
        f"{table}: {sorted(missing)} would stay null: scan/ethereum/blocks.py declares no such"
        " Column; name what the indexer makes in MADE of this test"
    )


@pytest.mark.parametrize("table", COLUMNS)
def test_every_declared_column_has_a_type_and_a_source(table):
    # From the order of the transactions, and from several fields by the rules of fees.
    derived = {"transaction_index", "fee", "producer_fees", "burnt_fees", "blob_fees"}
    derived |= {"blob_base_fee", "coin_logs"}
    derived |= {"operator_fee", "chain_fields", "traced"}  # by the form of a chain, by traces
    derived |= {"unproven"}  # by the check of hashes
    for name, column in COLUMNS[table].items():
        assert isinstance(column, column_types.Column) and (column.json_name or name in derived), (
            f"{table}.{name}: its Column in scan/ethereum/blocks.py names no field of JSON"
        )


@pytest.mark.parametrize(
    ("values", "source"),
    [(PARSERS, "PARSERS of scan/queries/filter_values.py"), (declared("filters"), document.TABLE)],
)
def test_a_kind_of_filters_without_an_entry_is_named(values, source):
    message = re.escape(f"the kind colour have no entry in {source}: add one")
    with pytest.raises(LookupError, match=message):
        lists.of_kind("colour", values, source)


DERIVED = [
    ("addresses_changes", "addresses"),
    ("daily_stats_changes", "daily_stats"),
    *((f"{table}_changes", table) for table in ("tokens", "pools", "dexes", "event_topics")),
]


@pytest.mark.parametrize(("function", "table"), DERIVED)
def test_a_derived_column_stands_in_its_table_and_in_its_rules(function, table):
    """The indexer's statements are rendered from the columns that the function returns."""
    kind = "chain" if table in tables_of("chain_tables") else "derived"
    file = f"sql/schema/{kind}_tables.sql"
    created = part(file, rf"^CREATE TABLE IF NOT EXISTS {table} \(", r"^\)")
    declared = re.findall(r"^    ([a-z]\w*) [a-z]", created, re.M)
    expected, changed = result_columns(f"{table}_expected"), result_columns(function)
    left_out = {name for name in declared if f"{table}.{name}" in NOT_COMPARED}
    left_out.update(KEYS_OF_TABLES.get(table, ()))
    compared = [name for name in declared if name not in left_out]
    missing = [
        f"{name} is returned by {function}() in sql/schema/changes.sql, and no column of"
        f" CREATE TABLE {table} in {file}"
        for name in changed
        if name not in (*declared, "number")
    ]
    missing += [
        f"{table}.{name} is not returned by {table}_expected() in sql/schema/expected.sql"
        for name in dict.fromkeys([*compared, *changed])
        if name not in (*expected, "number")
    ]
    missing += [
        f"{table}.{name} is not returned by {function}() in sql/schema/changes.sql"
        for name in expected
        if name not in (*changed, *EXPECTED_ALONE)
    ]
    assert not missing, "; ".join(missing)


def test_every_column_of_changes_has_its_rule_in_its_place():
    """PostgreSQL compares types alone, and that when it loads the schema."""
    functions = re.findall(
        r"FUNCTION (\w+_changes)\([^)]*\)\s+RETURNS TABLE \(([^)]*)\)\s+LANGUAGE sql STABLE AS \$\$"
        r"\n    SELECT (.*?)\n    FROM ",
        migrations.read_schema(),
        re.S,
    )
    assert len(functions) >= 9
    for name, returned, selected in functions:
        rules, columns = names_of(selected), [column.split()[0] for column in returned.split(",")]
        assert rules == columns, (
            f"{name}() in sql/schema/changes.sql selects {rules}, and returns {columns}: each"
            " column has its rule, AS its name, in the same order"
        )


def test_the_counter_of_every_list_is_a_derived_column():
    counters = {name: list_.counter for name, list_ in lists.all_lists().items() if list_.counter}
    missing = [
        f"[lists.{name}] of sql/lists.toml has the counter {counter.table}.{counter.column}, which"
        f" {counter.table}_changes() in sql/schema/changes.sql does not return"
        for name, counter in counters.items()
        if counter.table != "list_counts"
        and counter.column not in result_columns(f"{counter.table}_changes")
    ]
    assert not missing, "\n".join(missing)


def test_a_list_by_a_filter_that_its_entity_lacks_is_refused(monkeypatch):
    monkeypatch.delitem(lists.read_table()["filters"]["creator"]["matches"], "contract_creations")
    with pytest.raises(LookupError, match=r"contract_creations .*'creator'"):
        lists.all_entities.__wrapped__()


def test_a_section_that_nothing_reads_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "openapi.toml"
    file.write_text("[operatoins.listPings]\nget = '/pings'\n")
    monkeypatch.setattr(registry, "folders", lambda *_, **__: [file])
    with pytest.raises(LookupError, match="operatoins"):
        schemas._files.__wrapped__()
