"""A field that scan/ethereum/blocks.py declares is in all the places that CONTRIBUTING.md names."""

import re
from pathlib import Path

import pytest

from scan import registry
from scan.api.openapi import document, schemas
from scan.api.openapi.schemas import declared
from scan.database import lists
from scan.database.statements import read_records
from scan.ethereum import blocks
from scan.queries.filter_values import PARSERS

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


@pytest.mark.parametrize(
    ("values", "source"),
    [(PARSERS, "PARSERS of scan/queries/filter_values.py"), (declared("filters"), document.TABLE)],
)
def test_a_kind_of_filters_without_an_entry_is_named(values, source):
    message = re.escape(f"the kind colour have no entry in {source}: add one")
    with pytest.raises(LookupError, match=message):
        lists.of_kind("colour", values, source)


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
