"""What a declaration lacks is named: of fields, kinds of filters, lists, and sections of tables."""

import re

import pytest

from scan import registry
from scan.api.openapi import document, schemas
from scan.api.openapi.schemas import declared
from scan.database import lists
from scan.database.statements import read_records
from scan.ethereum import blocks
from scan.queries.filter_values import PARSERS

pytestmark = pytest.mark.check

COLUMNS = {"Block": blocks.BLOCK_COLUMNS, "Transaction": blocks.TRANSACTION_COLUMNS}


@pytest.mark.parametrize("record", COLUMNS)
def test_every_declared_column_has_a_key_of_its_record(record):
    keys = read_records()["records"][record]
    in_camel_case = {n: re.sub("_(.)", lambda part: part[1].upper(), n) for n in COLUMNS[record]}
    key_of = in_camel_case | {"timestamp_s": "timestamp", "method": "methodId"}
    # Columns that records show otherwise, or in the record of one block alone.
    shown_otherwise = set(
        "requests_hash block_access_list_hash slot_number unproven blob_gas_price producer_fees"
        " coin_logs traced l1_fee operator_fee mint chain_fields".split()
    )
    missing = {n for n in COLUMNS[record] if key_of[n] not in keys} - shown_otherwise
    assert missing == set(), f"[records.{record}] of sql/records.toml lacks them"


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
