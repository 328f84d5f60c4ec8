"""Whole tables as files: what the lists have, whatever interrupts an export, on whichever fork."""

import csv
import json
import os
import signal
import sys
from collections import Counter

import duckdb
import pytest

from scan.commands import main
from scan.database.connection import Database
from scan.errors import ScanError
from scan.extensions.exports.export_command import DESCRIPTION
from scan.extensions.exports.parquet import KINDS, for_engines, read_file
from scan.extensions.exports.table_export import ExportOptions, export, read_manifest
from scan.extensions.exports.table_files import RANGE_TABLES, TABLES
from scan.extensions.exports.tests.limbs import integers
from scan.files import held_folder
from tests.support import WAIT_S, forked_python, serving

BLOCKS_PER_FILE = 40


def options(folder, **changes):
    return ExportOptions(TABLES, "parquet", folder, BLOCKS_PER_FILE, None, None)._replace(**changes)


def database_of(url):
    return Database(url, statement_timeout_ms=10_000)


def rows(folder, table, columns):
    """By DuckDB, of all files of a table."""
    files = f"{folder}/{table}/*.parquet" if table in RANGE_TABLES else f"{folder}/{table}.parquet"
    return duckdb.sql(f"SELECT {columns} FROM read_parquet('{files}')").fetchall()  # noqa: S608


def require_whole(folder, manifest):
    """Ranges follow each other by number and hash, and nothing else lies in the folders."""
    for older, newer in zip(manifest.ranges, manifest.ranges[1:], strict=False):
        assert newer.block_from == older.block_to + 1
        assert newer.parent_hash == older.last_hash
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert present == {*(file.path for file in manifest.files()), "manifest.json"}
    for file in manifest.files():
        assert (folder / file.path).stat().st_size == file.bytes > 0


@pytest.fixture(scope="module")
def exported(indexed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    export(database_of(indexed.url), options(folder))
    yield folder


def test_files_have_the_rows_of_the_lists(exported, scenario):
    truth = scenario.truth
    fields = {
        "blocks": ("hash", "hash"),
        "transactions": ("hash", "hash"),
        "token_transfers": ("from_address", "fromAddress"),
        "dex_trades": ("maker", "maker"),
        "internal_transfers": ("from_address", "fromAddress"),
    }
    for table, (column, field) in fields.items():
        actual = [f"0x{value.hex()}" for (value,) in rows(exported, table, column)]
        assert actual == [record[field] for record in getattr(truth, table)][::-1], table
    tokens = rows(exported, "tokens", "address, symbol, decimals, total_supply, holder_count")
    exported_tokens = {f"0x{t[0].hex()}": t[1:] for t in tokens}
    for token in truth.tokens:  # besides those that have ended
        expected = (token["symbol"], token["decimals"], token["totalSupply"], token["holderCount"])
        assert exported_tokens[token["address"]] == expected


def test_the_manifest_tells_which_chain_and_how_many_rows(exported, scenario):
    """And files have every value exactly, those of more than 64 bits, too."""
    manifest = read_manifest(exported)
    assert manifest is not None
    require_whole(exported, manifest)
    oldest, newest = scenario.truth.blocks[-1], scenario.truth.blocks[0]
    assert (manifest.chain_id, manifest.genesis_hash) == ("31337", oldest["hash"])
    assert manifest.ranges[-1].last_hash == newest["hash"]
    assert len(manifest.ranges) == -(-len(scenario.truth.blocks) // BLOCKS_PER_FILE)
    counted = sum(range_.files["transactions"].rows for range_ in manifest.ranges)
    assert counted == len(scenario.truth.transactions)
    values = []
    for range_ in manifest.ranges:
        kind = for_engines(KINDS["token_transfers"])
        table = read_file(exported / range_.files["token_transfers"].path, kind)
        values += map(int, table["value_string"].to_pylist())
    assert values == [int(x["value"]) for x in scenario.truth.token_transfers][::-1]
    assert max(values) >= 2**64


def test_limbs_have_the_same_amounts(indexed, exported, tmp_path):
    tables = ("token_transfers",)
    manifest = export(database_of(indexed.url), options(tmp_path, limbs=True, tables=tables))
    values = []
    for range_ in manifest.ranges:
        file = tmp_path / range_.files["token_transfers"].path
        values += integers(read_file(file, KINDS["token_transfers"]), "value")
    expected = rows(exported, "token_transfers", "value_string")
    assert values == [int(digits) for (digits,) in expected]


def test_csv_has_the_same_rows(indexed, exported, tmp_path):
    manifest = export(
        database_of(indexed.url), options(tmp_path, format="csv", tables=("transactions", "tokens"))
    )
    require_whole(tmp_path, manifest)
    paths = sorted((tmp_path / "transactions").iterdir())
    records = [row for path in paths for row in csv.DictReader(path.open(newline=""))]
    expected = rows(exported, "transactions", "hash, value_string, nonce, status")
    assert [row["hash"] for row in records] == [f"0x{row[0].hex()}" for row in expected]
    assert [int(row["nonce"]) for row in records] == [row[2] for row in expected]
    assert [row["value"] for row in records] == [row[1] for row in expected]
    assert [row["status"] for row in records] == [str(row[3]).lower() for row in expected]


def test_the_questions_of_the_guide_are_answered(exported, scenario, monkeypatch):
    """Those of docs/sql.md, whose statements run one after the other."""
    examples = serving.ROOT / "docs" / "examples" / "duckdb_queries.sql"
    monkeypatch.chdir(exported)
    truth, database = scenario.truth, duckdb.connect()
    statements = examples.read_text(encoding="utf-8").rstrip(";\n").split(";\n")
    *macros, busiest, profit, holders = statements
    database.execute(";\n".join(macros))
    days = {transfer["timestamp"][:10] for transfer in truth.token_transfers}
    assert len({row[0] for row in database.execute(busiest).fetchall()}) == len(days)
    maker = Counter(d["maker"] for d in truth.dex_trades).most_common(1)[0][0]
    net = Counter()
    for trade in [trade for trade in truth.dex_trades if trade["maker"] == maker]:
        net.update({trade["tokenOut"]: int(trade["amountOut"])})
        net.subtract({trade["tokenIn"]: int(trade["amountIn"])})
    decimals = {t["address"]: t["decimals"] for t in truth.tokens}
    rows = database.execute(profit, {"address": maker[2:]}).fetchall()
    assert {row[0] for row in rows} == set(net)
    for token, _, _, amount in rows:
        assert amount == pytest.approx(net[token] / 10 ** decimals[token], rel=1e-12)
    dollar = scenario.stage.contracts["dollar"].address.lower()
    days = database.execute(holders, {"token": dollar[2:]}).fetchall()
    count = next(t["holderCount"] for t in truth.tokens if t["address"] == dollar)
    assert days[-1][1] == count


def test_an_export_goes_on_with_newer_blocks(indexed, tmp_path):
    """It writes no range twice, and removes of its folder only files that look like its own."""
    (tmp_path / "blocks" / "folder").mkdir(parents=True)
    notes, orphaned = (
        tmp_path / "blocks" / name for name in ("notes.txt", "000000000000-000000000003.parquet")
    )
    for file in (notes, orphaned):
        file.write_text("mine")
    database = database_of(indexed.url)
    first = export(database, options(tmp_path, block_to=50))
    assert [(r.block_from, r.block_to) for r in first.ranges] == [(0, 39), (40, 50)]
    assert notes.read_text() == "mine" and not orphaned.exists()
    notes.unlink()
    kept = tmp_path / first.ranges[0].files["blocks"].path
    untouched = kept.stat().st_mtime_ns
    second = export(database, options(tmp_path, block_to=85))
    assert [(r.block_from, r.block_to) for r in second.ranges] == [(0, 39), (40, 79), (80, 85)]
    require_whole(tmp_path, second)
    assert kept.stat().st_mtime_ns == untouched


def test_a_folder_holds_one_kind_of_export(indexed, tmp_path):
    database = database_of(indexed.url)
    export(database, options(tmp_path, block_to=5, tables=("blocks",)))
    for change in (
        {"format": "csv"},
        {"tables": ("logs",)},
        {"blocks_per_file": 7},
        {"limbs": True},
    ):
        with pytest.raises(ScanError, match="another --output"):
            export(database, options(tmp_path, **{"tables": ("blocks",), **change}))
    with held_folder(tmp_path), pytest.raises(ScanError, match="Another process works"):
        export(database, options(tmp_path, tables=("blocks",)))
    before_limbs = (tmp_path / "manifest.json").read_text().replace('"limbs": false,', "")
    (tmp_path / "manifest.json").write_text(before_limbs)
    with pytest.raises(ScanError, match="or --limbs: give another --output"):
        export(database, options(tmp_path, tables=("blocks",)))
    (tmp_path / "manifest.json").write_text('{"cut')
    with pytest.raises(ScanError, match="cannot be read"):
        export(database, options(tmp_path, tables=("blocks",)))


@pytest.mark.long
def test_an_export_killed_at_any_moment_goes_on(indexed, tmp_path):
    environment = {**os.environ, "DATABASE_URL": indexed.url}
    command = [sys.executable, "-m", "scan", "export", "all", "--blocks-per-file", "3"]
    process = forked_python.Forked([*command, "--output", str(tmp_path)], env=environment)
    while process.poll() is None and not len([*tmp_path.glob("logs/*.parquet")]) >= 4:
        pass
    process.send_signal(signal.SIGKILL)
    assert process.wait(WAIT_S) == -signal.SIGKILL
    (tmp_path / "blocks" / ".left.parquet.unfinished").write_bytes(b"cut")
    left = json.loads((tmp_path / "manifest.json").read_bytes())["ranges"]
    assert left
    kept = tmp_path / left[0]["files"]["blocks"]["path"]
    before = kept.stat().st_mtime_ns
    manifest = export(database_of(indexed.url), options(tmp_path, blocks_per_file=3))
    require_whole(tmp_path, manifest)
    assert kept.stat().st_mtime_ns == before


def test_a_fork_during_an_export_replaces_its_ranges(world, tmp_path, monkeypatch):
    """It comes after so many looks whether the last range is still in the chain."""
    read_rows, lookups = Database.rows, []
    world.anvil.mine(30)
    world.read()

    def fork_once(database, statement, *preceding, **params):
        rows = read_rows(database, statement, *preceding, **params)
        lookups.extend([statement] * (statement == "queries/blocks_get_hash"))
        if len(lookups) == 5:  # five ranges of four blocks are there, and two of them go
            lookups.append(None)
            world.anvil.reorganise(16)
            world.anvil.mine()
            world.read()
        return rows

    monkeypatch.setattr(Database, "rows", fork_once)
    manifest = export(database_of(world.url), options(tmp_path, blocks_per_file=4))
    assert None in lookups
    require_whole(tmp_path, manifest)
    blocks = rows(tmp_path, "blocks", "number, hash")
    for number, block_hash in blocks:
        block = world.anvil.call("eth_getBlockByNumber", hex(number), False)
        assert block["hash"] == f"0x{block_hash.hex()}"
    assert [number for number, _ in blocks] == list(range(31))


def test_the_command(indexed, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATABASE_URL", indexed.url)
    output = ["--output", str(tmp_path / "new")]
    assert main(["export", "blocks", "tokens", "--to", "9", *output]) == 0
    assert "blocks 0 to 9" in capsys.readouterr().out
    assert main(["export", "spoons", *output]) == 2
    assert "TABLE='spoons': is unknown" in capsys.readouterr().err
    assert f"Tables: {', '.join(TABLES)}, or all." in DESCRIPTION.replace("\n", " ")
    (tmp_path / "file").write_text("")
    assert main(["export", "blocks", "--output", str(tmp_path / "file")]) == 1
