"""Exported tables as other engines read them: DuckDB and ClickHouse in process have the same rows,
those of PostgreSQL, with amounts at the bounds of types."""

import json
from decimal import Decimal
from itertools import cycle, islice

import duckdb
import pyarrow
import pytest
from eth_utils import keccak
from pyarrow import ipc
from pyarrow import parquet as files

from scan.extensions.exports import parquet, table_files
from tests.support.scan_command import scan

BOUNDS = (0, 1, 2**63 - 1, 2**63, 2**64, 10**38 - 1, 10**38, 2**128, 2**256 - 1)
# Values by type of column, the bounds among them.
VALUES = {
    parquet.BYTES: (b"", b"\0", bytes(range(255))),
    parquet.TEXT: ("", 'a "quoted" text, 𝄞', "7"),
    parquet.BOOLEAN: (True, False),
    parquet.HASHES: ([], [bytes(32), b"\xff" * 32]),
    pyarrow.int16(): (0, 2**15 - 1),
    pyarrow.int32(): (0, 2**31 - 1),
    pyarrow.int64(): (0, 2**63 - 1),
    parquet.ADDRESS: (bytes(20), bytes(range(20))),
    parquet.HASH: (bytes(32), bytes(range(32))),
    parquet.UINT256: BOUNDS,
}


def as_stored(number):
    return number.to_bytes((number.bit_length() + 7) // 8)


def drawn(column):
    """As many values as there are BOUNDS, of a column as it is stored; in order, the last null
    where it may be."""
    values = VALUES[column.type]
    if column.is_unsigned:
        values = tuple(map(as_stored, BOUNDS))
    return [*islice(cycle(values), len(BOUNDS)), *([None] if column.is_nullable else values[:1])]


def by_duckdb(folder):
    return duckdb.from_parquet(f"{folder}/*.parquet").to_arrow_table()


def by_clickhouse(folder):
    import chdb  # takes 0.2 s and 200 MB, and every worker collects this file

    content = chdb.query(f"FROM file('{folder}/*.parquet', Parquet)", "Arrow").bytes()
    return ipc.open_file(pyarrow.py_buffer(content)).read_all()


ENGINES = (by_duckdb, by_clickhouse)


def rows(content, schema):
    """The rows of an engine's answer in the types of the file, in a fixed order. ClickHouse has no
    list that is null."""
    rows = content.select(schema.names).cast(schema).to_pylist()
    return sorted(
        repr({**row, "blob_versioned_hashes": row.get("blob_versioned_hashes") or []})
        for row in rows
    )


@pytest.mark.parametrize("table", table_files.TABLES)
def test_engines_read_equal_rows_of_every_table(table, tmp_path):
    stored = table_files.columns_of(table)
    values = {name: drawn(column) for name, column in stored.items()}
    columns = parquet.for_engines(stored)
    with table_files.new_file(tmp_path / "0.parquet", columns) as write:
        write(values)
    content = parquet.make_table(columns, values)
    for read in ENGINES:
        assert rows(read(tmp_path), content.schema) == rows(content, content.schema), read


@pytest.mark.check
def test_numbers_are_of_the_types_of_engines_where_they_fit_and_texts_always():
    columns = {"value": parquet.ColumnFormat(parquet.UINT256, is_nullable=True)}
    values = [*BOUNDS, None]
    content = parquet.make_table(parquet.for_engines(columns), {"value": values}).to_pydict()
    assert content["value_string"] == [*map(str, BOUNDS), None]
    fitting = [Decimal(value) for value in BOUNDS if value < 10**38]
    assert content["value"] == fitting + [None] * (len(values) - len(fitting))
    stored = table_files.columns_of("transactions")
    numbers = [0, 2**63 - 1, 2**63, 2**64 - 1]  # which the protocol bounds
    values = {"nonce": [*map(as_stored, numbers)], "gas_used": numbers}
    columns = parquet.for_engines({name: stored[name] for name in values})
    content = parquet.make_table(columns, values).to_pydict()
    assert content == {name: [0, 2**63 - 1, None, None] for name in values}


@pytest.fixture
def emitted(world):
    """A world with a token whose transfers are of the BOUNDS, its events followed."""
    topic = keccak(text="Transfer(address,address,uint256)").hex()
    # Emits the first word of its input as the value of a Transfer from the caller, and returns it,
    # as a token's functions do: 0 of the transaction that `place` sends.
    address = world.place(f"5f355f5273{'ab' * 20}337f{topic}60205fa360205ff3")
    for value in BOUNDS[1:]:
        world.anvil.receipt_of(world.anvil.send(world.me, address, data=f"0x{value:064x}"))
    world.read()
    abi = world.folder / "abi.json"
    parties = [{"name": name, "type": "address", "indexed": True} for name in ("from", "to")]
    inputs = [*parties, {"name": "value", "type": "uint256", "indexed": False}]
    abi.write_text(json.dumps([{"type": "event", "name": "Transfer", "inputs": inputs}]))
    add = ("events", "add", address, "--abi", str(abi), "--name", "emitter")
    done = scan(*add, DATABASE_URL=world.url)
    assert done.returncode == 0, done.stderr
    return world


def test_engines_read_the_amounts_of_a_chain(emitted, tmp_path):
    tables = ("token_transfers", "events.emitter_transfer")
    done = scan("export", *tables, "--output", str(tmp_path), DATABASE_URL=emitted.url)
    assert done.returncode == 0, done.stderr
    for table in tables:
        content = files.read_table(tmp_path / table)
        assert sorted(map(int, content["value_string"].to_pylist())) == [*BOUNDS]
        fitting = [Decimal(value) for value in BOUNDS if value < 10**38]
        assert sorted(content["value"].drop_null().to_pylist()) == fitting
        for read in ENGINES:
            answer = read(tmp_path / table)
            assert rows(answer, content.schema) == rows(content, content.schema), (table, read)


def test_events_whose_rows_are_still_to_come_are_refused(emitted, tmp_path):
    """As while older logs are filled, or newer ones not decoded yet: they would be missing."""
    emitted.sql("UPDATE followed_contracts SET complete_from = 2")
    emitted.sql(
        "INSERT INTO undecoded_events"
        " SELECT max(ordinal), address FROM contract_events GROUP BY address"
    )
    last = str(emitted.head - 1)

    def export(name, *bounds):
        output = ("--output", str(tmp_path / name))
        return scan("export", "events.emitter_transfer", *output, *bounds, DATABASE_URL=emitted.url)

    filling, decoding = export("filling", "--to", last), export("decoding", "--from", "2")
    assert "is complete from block 2 on, not from 0" in filling.stderr
    assert f"is complete from block {emitted.head + 1} on, not from 2" in decoding.stderr
    assert (filling.returncode, decoding.returncode) == (1, 1)
    assert export("complete", "--from", "2", "--to", last).returncode == 0
