"""Tables of Apache Iceberg: each row once, whatever interrupts an export."""

import random
import signal
import sys
from contextlib import closing
from unittest.mock import Mock

import pyarrow
import pytest
from pyarrow import ipc
from pyarrow import parquet as files
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from scan.commands import main
from scan.database.connection import Database
from scan.errors import ScanError
from scan.ethereum import column_types
from scan.extensions.exports import hooks, iceberg, table_export
from scan.extensions.exports.iceberg import Contradiction, opened
from scan.extensions.exports.table_files import RANGE_TABLES, TABLES
from scan.files import held_folder
from tests.support.database import execute
from tests.support.forked_python import Forked
from tests.support.s3_server import CREDENTIALS, s3_bucket
from tests.support.scan_command import scan
from tests.support.serving import wait_until

NAMESPACE = "chain_31337"
DEPTH = 5


def options(*tables, **changes):
    chosen = tables or ("token_transfers", "blocks")
    return table_export.ExportOptions(chosen, "parquet", None, 40, None, None)._replace(**changes)


def export(url, warehouse, chosen=None, depth=DEPTH):
    with (
        closing(Database(url, statement_timeout_ms=10_000)) as database,
        opened(str(warehouse), None) as catalog,
    ):
        iceberg.export(database, catalog, chosen or options(), depth)


def tables_of(warehouse):
    """By name."""
    catalog = load_catalog("scan", uri=f"sqlite:///{warehouse}/catalog.db")
    return {
        name: catalog.load_table((space, name)) for space, name in catalog.list_tables(NAMESPACE)
    }


def rows_of(content):
    """In a fixed order."""
    return sorted(map(repr, content.to_pylist()))


def require_equal(url, warehouse, folder, block_to):
    """The tables have the rows of files of the same blocks, each once."""
    with closing(Database(url, statement_timeout_ms=10_000)) as database:
        chosen = options(*TABLES, folder=folder, block_to=block_to)
        table_export.export(database, chosen)
    tables = tables_of(warehouse)
    assert {*tables} == {*TABLES}
    for name, table in tables.items():
        path = folder / (name if name in RANGE_TABLES else f"{name}.parquet")
        assert rows_of(table.scan().to_arrow()) == rows_of(files.read_table(path)), name


def positions(warehouse):
    """The last block of each table by its snapshot."""
    snapshots = {name: table.current_snapshot() for name, table in tables_of(warehouse).items()}
    return {name: s.summary["scan.last-block"] for name, s in snapshots.items() if s}


def command(warehouse, *arguments):
    return [sys.executable, "-m", "scan", "export", "iceberg", str(warehouse), *arguments]


def environment(url):
    return {"DATABASE_URL": url, "SCAN_FINALITY": str(DEPTH)}


def test_tables_have_the_final_blocks_once(indexed, scenario, tmp_path):
    warehouse, final = tmp_path / "warehouse", scenario.anvil.head() - DEPTH
    export(indexed.url, warehouse, options(*TABLES, block_to=60))
    export(indexed.url, warehouse, options(*TABLES, block_to=85))
    export(indexed.url, warehouse, options(*TABLES))
    export(indexed.url, warehouse, options(*TABLES))
    require_equal(indexed.url, warehouse, tmp_path / "files", final)
    tables = tables_of(warehouse)
    blocks = tables["blocks"]
    ends = [snapshot.summary["scan.last-block"] for snapshot in blocks.snapshots()]
    assert ends == ["39", "60", "85", "125", str(final)]
    assert (
        blocks.current_snapshot().summary["scan.last-hash"]
        == scenario.anvil.call("eth_getBlockByNumber", hex(final), False)["hash"]
    )
    assert len(tables["tokens"].snapshots()) == 1  # no newer block than that of the first run


@pytest.mark.long
def test_an_export_killed_at_any_moment_has_each_row_once(indexed, scenario, tmp_path):
    """Each as soon as a table's next metadata are written, which a commit then names or not."""
    warehouse, draw = tmp_path / "warehouse", random.Random(5)
    call, ends = command(warehouse, "--blocks-per-file", "4"), []

    def count():
        return len([*warehouse.rglob("*.metadata.json")])

    for _ in range(15):
        last = count() + draw.randrange(1, 40)
        with Forked(call, env=environment(indexed.url)) as process:
            while process.poll() is None and count() < last:
                pass
            process.kill()
        ends.append(process.returncode)
    assert ends == [-signal.SIGKILL] * 15
    assert 0 < int(positions(warehouse)["blocks"]) < scenario.anvil.head() - DEPTH
    done = scan(*call[3:], **environment(indexed.url))
    assert done.returncode == 0, done.stderr
    require_equal(indexed.url, warehouse, tmp_path / "files", scenario.anvil.head() - DEPTH)


def test_watching_follows_the_chain(world, tmp_path):
    warehouse = tmp_path / "warehouse"
    world.read()  # fewer blocks than are final
    process = Forked(command(warehouse, "--watch", "1"), env=environment(world.url))
    try:
        wait_until((warehouse / NAMESPACE / "blocks").exists)
        for _ in range(2 * DEPTH):
            world.pay()
        world.read()
        wait_until(lambda: positions(warehouse).get("blocks") == str(world.head - DEPTH))
        world.anvil.reorganise(DEPTH - 1)
        world.pay()
        world.read()
        wait_until(lambda: positions(warehouse)["blocks"] == str(world.head - DEPTH))
        wait_until(lambda: positions(warehouse)["tokens"] == str(world.head))
    finally:
        process.kill()
    require_equal(world.url, warehouse, tmp_path / "files", world.head - DEPTH)


@pytest.mark.parametrize("mined", [0, 3 * DEPTH])
def test_a_deeper_reorganisation_is_refused(world, tmp_path, mined):
    world.anvil.mine(4 * DEPTH)
    world.read()
    export(world.url, tmp_path)
    before = positions(tmp_path)
    world.anvil.reorganise(2 * DEPTH)
    world.anvil.mine(mined)
    world.pay()
    world.read()
    with pytest.raises(Contradiction, match="a reorganisation was deeper than SCAN_FINALITY"):
        export(world.url, tmp_path)
    assert positions(tmp_path) == before


def test_blocks_of_another_chain_are_refused(clone, indexed_template, tmp_path):
    url = clone(indexed_template)
    export(url, tmp_path, options(block_to=9))
    execute(url, "UPDATE chain SET genesis_hash = sha256(genesis_hash)")
    with pytest.raises(Contradiction, match="has blocks of another chain"):
        export(url, tmp_path)


def test_removed_rows_are_refused(clone, indexed_template, tmp_path):
    early, late, url = tmp_path / "early", tmp_path / "late", clone(indexed_template)
    export(url, early, options(block_to=9))
    export(url, late, options(block_to=49))
    execute(url, "INSERT INTO retention VALUES (true, 50, 60, now(), 50)")
    with pytest.raises(Contradiction, match="ends at block 9, but rows before 50 are no longer"):
        export(url, early)
    export(url, late, options(block_to=60))
    assert positions(late)["blocks"] == "60"


def test_a_table_takes_added_columns(indexed, tmp_path):
    number, amount, text = column_types.BIGINT, column_types.UINT256, column_types.TEXT

    def added(block_to, **columns):
        def rows(_, first, last):
            yield {name: [first] if name != "memo" else ["text"] for name in columns}

        table = {"events.paid": hooks.AddedTable(columns, rows)}
        export(indexed.url, tmp_path, options("events.paid", block_to=block_to, added=table))

    added(9, number=number)
    added(19, number=number, amount=amount)
    added(29, amount=amount, memo=text)
    with pytest.raises(ScanError, match="events_paid cannot take its new columns"):
        added(39, amount=amount, memo=number)
    added(39, number=number)
    rows = tables_of(tmp_path)["events_paid"].scan().to_arrow().sort_by("amount").to_pylist()
    assert [(row["number"], row["amount_string"], row["memo"]) for row in rows] == [
        (10, "10", None),
        (None, "20", "text"),
        *[(number, None, None) for number in (30, 0)],
    ]


def test_snapshots_of_others_are_passed_over(indexed, tmp_path):
    """Such as those of engines that merge files; but not where none is an export's."""
    export(indexed.url, tmp_path, options(block_to=9))
    blocks = tables_of(tmp_path)["blocks"]
    schema = blocks.schema().as_arrow()
    blocks.append(schema.empty_table())
    export(indexed.url, tmp_path, options(block_to=19))
    rows = tables_of(tmp_path)["blocks"].scan().to_arrow()
    assert sorted(rows["number"].to_pylist()) == [*range(20)]
    with opened(str(tmp_path), None) as catalog:
        catalog.create_table((NAMESPACE, "logs"), schema).append(schema.empty_table())
    with pytest.raises(Contradiction, match="logs has rows of others"):
        export(indexed.url, tmp_path, options("logs"))


class RacingDatabase(Database):
    """Has another export begin and end while a range is read."""

    def __init__(self, url, race):
        super().__init__(url, statement_timeout_ms=10_000)
        self._race = race

    def rows(self, statement, *preceding, **params):
        if statement == "exports/blocks_get_range":
            self._race()
        return super().rows(statement, *preceding, **params)


def test_blocks_are_the_last_and_what_is_ahead_waits(indexed, tmp_path):
    def fail():
        raise KeyboardInterrupt

    chosen = options("blocks", "transactions", block_to=50)
    with (
        closing(RacingDatabase(indexed.url, fail)) as database,
        opened(str(tmp_path), None) as catalog,
        pytest.raises(KeyboardInterrupt),
    ):
        iceberg.export(database, catalog, chosen, DEPTH)
    assert positions(tmp_path) == {"transactions": "39"}
    export(indexed.url, tmp_path, chosen)
    assert positions(tmp_path) == {"transactions": "50", "blocks": "50"}
    tables = {name: table.scan().to_arrow() for name, table in tables_of(tmp_path).items()}
    assert sorted(tables["blocks"]["number"].to_pylist()) == [*range(51)]
    hashes = tables["transactions"]["hash"].to_pylist()
    assert len({*hashes}) == len(hashes) == sum(tables["blocks"]["transaction_count"].to_pylist())


def test_of_two_exports_at_once_one_is_refused(indexed, tmp_path):
    """Of a storage, where nobody holds a folder."""
    with opened(str(tmp_path), None) as catalog:

        def race():
            with closing(Database(indexed.url, statement_timeout_ms=10_000)) as other:
                iceberg.export(other, catalog, options("blocks"), DEPTH)

        with (
            closing(RacingDatabase(indexed.url, race)) as database,
            pytest.raises(CommitFailedException),
        ):
            iceberg.export(database, catalog, options("blocks", block_to=30), DEPTH)
    numbers = tables_of(tmp_path)["blocks"].scan().to_arrow()["number"].to_pylist()
    assert sorted(numbers) == [*range(len(numbers))]


@pytest.mark.thorough
def test_a_warehouse_in_s3(indexed, tmp_path):
    catalog, prefix = f"sqlite:///{tmp_path}/catalog.db", "PYICEBERG_CATALOG__SCAN__S3__"
    arguments = ("export", "iceberg", "s3://lake/scan", "blocks", "--catalog", catalog, "--to")
    with s3_bucket("lake") as (endpoint, _):
        storage = {f"{prefix}ENDPOINT": endpoint, f"{prefix}REGION": "us-east-1", **CREDENTIALS}
        for block_to in ("20", "45"):
            done = scan(*arguments, block_to, **environment(indexed.url), **storage)
            assert done.returncode == 0, done.stderr
        stored = load_catalog("scan", uri=catalog, **{"s3.endpoint": endpoint})
        table = stored.load_table(f"{NAMESPACE}.blocks")
        assert table.location() == f"s3://lake/scan/{NAMESPACE}/blocks"
        assert sorted(table.scan().to_arrow()["number"].to_pylist()) == [*range(46)]


@pytest.mark.thorough
def test_a_commit_whose_answer_is_lost_is_not_made_twice(indexed, scenario, tmp_path, monkeypatch):
    """As that of a REST catalog may be; the next run goes on after it."""
    commit, made = SqlCatalog.commit_table, []

    def lose_some(*arguments):
        made.append(commit(*arguments))
        if len(made) in (2, 5):
            raise OSError("the answer is lost")
        return made[-1]

    monkeypatch.setattr(SqlCatalog, "commit_table", lose_some)
    for _ in range(2):
        with pytest.raises(OSError, match="the answer is lost"):
            export(indexed.url, tmp_path, options(*TABLES))
    export(indexed.url, tmp_path, options(*TABLES))
    require_equal(indexed.url, tmp_path, tmp_path / "files", scenario.anvil.head() - DEPTH)


def test_clickhouse_reads_the_tables(indexed, tmp_path, monkeypatch):
    import chdb  # takes 0.2 s and 200 MB, and every worker collects this file

    monkeypatch.chdir(tmp_path)  # it reads no other files
    export(indexed.url, tmp_path)
    table = tables_of(tmp_path)["token_transfers"].scan().to_arrow()
    query = f"FROM icebergLocal('{NAMESPACE}/token_transfers')"
    answer = chdb.query(query, "Arrow").bytes()
    read = ipc.open_file(pyarrow.py_buffer(answer)).read_all()
    assert rows_of(read.select(table.column_names).cast(table.schema)) == rows_of(table)


def test_wrong_calls_and_what_is_not_there(indexed, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DATABASE_URL", indexed.url)
    for arguments, reason in (
        ((), "WAREHOUSE='': is required"),
        (("s3://lake/scan",), "--catalog='': is required, as s3://lake/scan is not"),
        ((str(tmp_path / "a#b"),), "has a character with a meaning in URIs"),
        ((str(tmp_path), "spoons"), "TABLE='spoons': is unknown"),
        ((str(tmp_path), "--catalog", "thrift://localhost"), "pip install 'pyiceberg[hive]'"),
        (("a://b", "--catalog", f"sqlite:///{tmp_path}/a"), "WAREHOUSE='a://b': cannot be "),
    ):
        assert main(["export", "iceberg", *arguments]) == 2
        assert reason in capsys.readouterr().err
    assert main(["export", "blocks", "--watch", f"--output={tmp_path}"]) == 2
    assert "TABLE='blocks': has no --catalog or --watch" in capsys.readouterr().err
    with monkeypatch.context() as interrupted:
        interrupted.setattr(iceberg, "time", Mock(sleep=Mock(side_effect=KeyboardInterrupt)))
        assert main(["export", "iceberg", str(tmp_path / "lake"), "blocks", "--watch"]) == 130
    monkeypatch.chdir(tmp_path)
    assert main(["export", "iceberg", "name", "--catalog", "http://127.0.0.1:9"]) == 1
    assert "name: HTTPConnectionPool" in capsys.readouterr().err
    assert not (tmp_path / "name").exists()  # of a REST catalog
    (tmp_path / "file").touch()
    with held_folder(tmp_path / "held"):
        for name, reason in (("held", "Another process works in"), ("file", "File exists")):
            assert main(["export", "iceberg", str(tmp_path / name)]) == 1
            assert reason in capsys.readouterr().err
    monkeypatch.delitem(sys.modules, iceberg.__name__)
    monkeypatch.delattr("scan.extensions.exports.iceberg")
    monkeypatch.setitem(sys.modules, "pyiceberg", None)
    assert main(["export", "iceberg", str(tmp_path)]) == 1
    assert "pyiceberg is not installed: pip install '.[iceberg]'" in capsys.readouterr().err
