"""Rows in Parquet files: what is written is what PyArrow and DuckDB read."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.ethereum.blocks import DecodedTransaction
from scan.extensions.exports import parquet

pytestmark = pytest.mark.check

EDGES = [0, 1, 2**63, 2**64 - 1, 2**64, 2**127, 10**38, 2**128 - 1, 2**192, 2**256 - 1]
AMOUNTS = {"value": parquet.ColumnFormat(parquet.UINT256, is_nullable=True)}


@given(st.lists(st.none() | st.integers(0, 2**256 - 1) | st.sampled_from(EDGES)))
def test_integers_survive_as_limbs(values):
    assert parquet.integers(parquet.make_table(AMOUNTS, {"value": values}), "value") == values


def test_transactions_have_every_field_of_the_index():
    assert [*parquet.KINDS["transactions"]] == ["block_number", *DecodedTransaction._fields]


def test_what_a_column_cannot_have_is_refused():
    for value in (-1, 2**256):
        with pytest.raises(OverflowError):
            parquet.make_table(AMOUNTS, {"value": [value]})
    with pytest.raises(ValueError, match="value has nulls"):
        parquet.make_table({"value": parquet.ColumnFormat(parquet.UINT256)}, {"value": [1, None]})


def test_duckdb_reads_the_same_limbs_and_bytes(tmp_path):
    path = tmp_path / "withdrawals" / "0.parquet"
    kind = parquet.KINDS["withdrawals"]
    rows = {
        "block_number": [7] * len(EDGES),
        "withdrawal_index": list(range(len(EDGES))),
        "validator_index": [2**63 - 1] * len(EDGES),
        "address": [bytes(range(20))] * len(EDGES),
        "amount_wei": EDGES,
        "unit": [None] * len(EDGES),
    }
    table = parquet.make_table(kind, rows)
    parquet.write_file(path, table)
    assert parquet.read_file(path, kind).equals(table)
    read = duckdb.from_parquet(str(path)).fetchall()
    assert [
        sum(limb << (64 * place) for place, limb in enumerate(row[4:8])) for row in read
    ] == EDGES
    assert {row[3] for row in read} == {bytes(range(20))}


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
