"""Cells of CSV files as spreadsheets take them, and of Parquet files as PyArrow and DuckDB do."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.api.openapi.schemas import declared, schemas
from scan.ethereum.blocks import DecodedTransaction
from scan.extensions.exports import csv_columns, parquet
from scan.extensions.exports.csv_columns import GROUPS, Context, columns, day_of
from scan.extensions.exports.tests.limbs import integers
from scan.http import csv_text

pytestmark = pytest.mark.check

FORMULA_SIGNS = "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"


@pytest.mark.parametrize(
    ("written", "cell"),
    [
        ("\ttext", "'\ttext"),
        ("\N{NO-BREAK SPACE}=1", "'\N{NO-BREAK SPACE}=1"),
        # A text that does not begin like one stays as it is.
        ("x;=1+1", "x;=1+1"),
        ('{"@x":"=1"}', '{"@x":"=1"}'),
        ("", ""),
    ],
)
def test_no_text_is_taken_for_a_formula(written, cell):
    assert csv_text.text(written) == cell


@given(st.text(alphabet=f'ab1 \t\r\n;,|"{FORMULA_SIGNS}', max_size=12))
def test_no_cell_is_a_formula(written):
    line = csv_text.lines([["0xab", csv_text.text(written)]]).decode()
    [[_, cell]] = csv.reader(io.StringIO(line, newline=""))
    assert cell.strip()[:1] not in set(FORMULA_SIGNS)
    assert cell in (written, f"'{written}")


def test_lists_are_json_and_numbers_stay_numbers():
    written = ["-5", ["1.5", "-0.5"], "=1+1", {"-5": "-7", "@x": False}]
    assert csv_columns.plain(written) == '["-5",["1.5","-0.5"],"=1+1",{"-5":"-7","@x":false}]'
    assert [csv_columns.plain(value) for value in ("-5", -5, None, "-5+1")] == [
        *("-5", "-5", None, "'-5+1")
    ]


def test_numbers_of_tables_stay_numbers():
    cells = {"-9": "-9", '["-9","=1"]': '["-9","=1"]', "-9+cmd": "'-9+cmd"}
    assert {text: csv_columns.stored(text) for text in cells} == cells


@pytest.mark.parametrize(
    ("units", "decimals", "shown"),
    [
        ("0", 18, "0"),
        ("1", 18, "0.000000000000000001"),
        ("1234567890123456789", 18, "1.234567890123456789"),
        ("5", 255, f"0.{'0' * 254}5"),
        (str(2**256 - 1), 18, f"{2**256 - 1}"[:-18] + "." + f"{2**256 - 1}"[-18:]),
        ("-1500", 3, "-1.5"),
    ],
)
def test_amounts_are_exact(units, decimals, shown):
    assert csv_columns.amount(units, decimals) == shown


def test_rows_are_those_of_rfc_4180():
    rows = [["a,b", 'say "x"', None, 7, "line\nbreak", "é", "a\0b"]]
    assert csv_text.lines(rows) == '"a,b","say ""x""",,7,"line\nbreak",é,a\ufffdb\r\n'.encode()


PAID = ("12 wei", "7 wei")


@pytest.mark.parametrize(
    ("own", "expected"), [(None, PAID), ("0xa1", PAID), ("0xb2", (None, None))]
)
def test_parts_of_a_fee_stand_where_the_fee_does(own, expected):
    """Not in the list of an address that did not pay it."""
    parts = {"execution": "5", "blob": None, "l1": "7", "operator": None}
    record = {"fromAddress": "0xa1", "fee": "12", "feeParts": parts, "mint": "3"}
    cells = {
        column.name: column.cell(record, Context(own, "", {}))
        for column in columns("transactions", own)
        if column.name in ("fee_wei", "l1_fee_wei", "operator_fee_wei", "mint_wei")
    }
    assert (cells.pop("fee_wei"), cells.pop("l1_fee_wei")) == expected
    assert cells == {"operator_fee_wei": None, "mint_wei": "3 wei"}


@pytest.mark.parametrize(
    "kind",
    sorted({"blocks", "transactions", "contractCreations", "history"} & declared("csv").keys()),
)
def test_a_row_names_what_nothing_proves_of_it(kind):
    [cell] = [column.cell for column in columns(kind, None) if column.name == "unproven"]
    assert cell({"unproven": ["value", "fee"]}, Context(None, "", {})) == "value fee"
    assert cell({"unproven": []}, Context(None, "", {})) == ""


def test_every_column_shows_a_field_of_a_record():
    records = json.dumps(schemas())
    for kind, written in declared("csv").items():
        assert len({column.name for column in columns(kind, None)}) == len(columns(kind, None))
        for column in written:
            source = re.split(" as | in ", column.rpartition(" = ")[2])[0]
            is_known = column in GROUPS or source.endswith("()") or f'"{source}": ' in records
            assert is_known, f"[csv] {kind}: {column}"


@pytest.mark.parametrize("day", ["2026-01-31", "12000-01-31"])  # a block may have any time
def test_a_day_is_that_of_the_time(day):
    assert day_of({"timestamp": f"{day}T23:59:59Z"}) == day


EDGES = [0, 1, 2**63, 2**64 - 1, 2**64, 2**127, 10**38, 2**128 - 1, 2**192, 2**256 - 1]
AMOUNTS = {"value": parquet.ColumnFormat(parquet.UINT256, is_nullable=True)}


@given(st.lists(st.none() | st.integers(0, 2**256 - 1) | st.sampled_from(EDGES)))
def test_integers_survive_as_limbs(values):
    assert integers(parquet.make_table(AMOUNTS, {"value": values}), "value") == values


def test_transactions_have_every_field_of_the_index():
    assert [*parquet.KINDS["transactions"]] == ["block_number", *DecodedTransaction._fields]


def test_what_a_column_cannot_have_is_refused():
    for value in (-1, 2**256):
        with pytest.raises(OverflowError):
            parquet.make_table(AMOUNTS, {"value": [value]})
    with pytest.raises(ValueError, match="value has nulls"):
        parquet.make_table({"value": parquet.ColumnFormat(parquet.UINT256)}, {"value": [1, None]})


def test_every_kind_can_be_empty(tmp_path):
    for name, kind in parquet.KINDS.items():
        path = tmp_path / name / "0.parquet"
        parquet.write_file(path, parquet.make_table(kind, {column: [] for column in kind}))
        assert parquet.read_file(path, kind).num_rows == 0


def test_a_failed_write_leaves_nothing_and_a_file_of_another_kind_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "0.parquet"
    table = parquet.make_table(AMOUNTS, {"value": EDGES})

    def fail(*_, **__):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setattr(parquet.parquet, "write_table", fail)
        parquet.write_file(path, table)
    assert list(tmp_path.iterdir()) == []
    parquet.write_file(path, table)
    with pytest.raises(ValueError, match="other columns"):
        parquet.read_file(path, parquet.KINDS["withdrawals"])
