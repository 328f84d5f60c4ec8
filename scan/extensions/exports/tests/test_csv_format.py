"""Cells as spreadsheets take them."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.api.openapi.schemas import declared, schemas
from scan.extensions.exports import csv_columns
from scan.extensions.exports.csv_columns import GROUPS, Context, columns, day_of

pytestmark = pytest.mark.check

FORMULA_SIGNS = "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"


@pytest.mark.parametrize(
    ("written", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ("\ttext", "'\ttext"),
        ("  =1", "'  =1"),
        ("\N{NO-BREAK SPACE}=1", "'\N{NO-BREAK SPACE}=1"),
        ("\N{FULLWIDTH EQUALS SIGN}1", "'\N{FULLWIDTH EQUALS SIGN}1"),
        # Where the machine's separator is a semicolon, another cell begins behind it.
        ("x;=1+1", "x;'=1+1"),
        ('x,"=1', "x,\"'=1"),
        ("x\n=1", "x\n'=1"),
        ("Tether-USD", "Tether-USD"),
        ("A+B=C", "A+B=C"),
        ("", ""),
    ],
)
def test_no_text_is_taken_for_a_formula(written, cell):
    assert csv_columns.text(written) == cell


@given(st.text(alphabet=f'ab1 \t\r\n;,|"{FORMULA_SIGNS}', max_size=12))
def test_no_separator_makes_a_formula_of_text(written):
    line = csv_columns.lines([["0xab", csv_columns.text(written)]]).decode()
    for separator in ",;|\t":
        for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
            for cell in row:
                assert cell.strip()[:1] not in set(FORMULA_SIGNS), (separator, row)


@pytest.mark.parametrize(
    ("units", "decimals", "shown"),
    [
        ("0", 18, "0"),
        ("1", 18, "0.000000000000000001"),
        ("1000000000000000000", 18, "1"),
        ("1234567890123456789", 18, "1.234567890123456789"),
        ("10", 1, "1"),
        ("123", 0, "123"),
        ("5", 255, f"0.{'0' * 254}5"),
        (str(2**256 - 1), 18, f"{2**256 - 1}"[:-18] + "." + f"{2**256 - 1}"[-18:]),
        ("-1500", 3, "-1.5"),
        ("-1", 2, "-0.01"),
    ],
)
def test_amounts_are_exact(units, decimals, shown):
    assert csv_columns.amount(units, decimals) == shown


def test_rows_are_those_of_rfc_4180():
    rows = [["a,b", 'say "x"', None, 7, "line\nbreak", "é"]]
    assert csv_columns.lines(rows) == '"a,b","say ""x""",,7,"line\nbreak",é\r\n'.encode()


@pytest.mark.parametrize("own", [None, "0xa1", "0xb2"])
def test_parts_of_a_fee_stand_where_the_fee_does(own):
    """Not in the list of an address that did not pay it."""
    parts = {"execution": "5", "blob": None, "l1": "7", "operator": None}
    record = {"fromAddress": "0xa1", "fee": "12", "feeParts": parts, "mint": "3"}
    cells = {
        column.name: column.cell(record, Context(own, "", {}))
        for column in columns("transactions", own)
        if column.name in ("fee_wei", "l1_fee_wei", "operator_fee_wei", "mint_wei")
    }
    paid = own != "0xb2"
    assert cells == {
        "fee_wei": "12 wei" if paid else None,
        "l1_fee_wei": "7 wei" if paid else None,
        "operator_fee_wei": None,
        "mint_wei": "3 wei",
    }


@pytest.mark.parametrize("kind", ["blocks", "transactions"])
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
