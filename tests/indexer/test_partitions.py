"""Long tables in partitions: the same rows and the same answers as in one table."""

import itertools
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.database import migrations
from scan.database.connection import Database
from scan.database.statements import load_statements
from scan.extensions.audit import audit_command as audit
from scan.indexer import partitions
from scan.indexer.partitions import TABLES, Partitions
from tests.conftest import Played
from tests.extensions.audit.auditing import run
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.indexer_process import IndexerProcess
from tests.support.indexing import Indexing, settings_for
from tests.support.scenario import Stage, everyday, honest_tokens, play
from tests.support.storm import Storm
from tests.support.table_digest import digest, fresh_digest

ROWS = 40
PARTITIONED = "SELECT count(*)::int FROM pg_class WHERE relkind = 'p' AND relname = ANY (%s)"
PARTS = "SELECT count(*)::int FROM pg_inherits WHERE inhparent = to_regclass(%s)"
SMALL = """
import sys
from scan import settings
settings.LEAST_PARTITION_ROWS = 1
from scan.commands import main
sys.exit(main(["index"]))
"""


class SmallPartitions(IndexerProcess):
    """`scan index` that takes a number of rows below what operators may set."""

    command = (sys.executable, "-c", SMALL)


@pytest.fixture(scope="module")
def both(
    postgres: Postgres, template: str, scenario: Played
) -> Iterator[tuple[FlaskClient, FlaskClient, str]]:
    """The API over the scenario's chain in plain tables, and over the same in partitions."""
    rpc_url, head = scenario.anvil.url, scenario.anvil.head()
    with postgres.cloned(template) as plain, postgres.cloned(template) as parted:
        settings = []
        for url, rows in ((plain, 10**8), (parted, ROWS)):
            with Indexing(url, rpc_url, logs="all", partition_rows=rows) as indexing:
                indexing.wait_for(head)
                settings.append(indexing.settings)
        assert execute(parted, PARTITIONED, list(TABLES)) == [(len(TABLES),)]
        assert execute(parted, PARTS, "transactions") >= [(15,)]
        assert digest(plain) == digest(parted)
        first, second = (create_app(s).test_client() for s in settings)
        yield first, second, parted


def lists(first: FlaskClient, scenario: Played) -> list[str]:
    people = [*scenario.stage.people[:3], "0x" + 40 * "0"]
    tokens = [t["address"] for t in first.get("/api/v1/tokens?limit=20").json["tokens"]]
    own = ("history", "internal", "items", "tokens", "trades", "transactions", "transfers")
    return [
        *("blocks", "transactions", "token-transfers", "internal-transfers", "dex-trades", "logs"),
        *("tokens", "pools", "addresses", "contracts"),
        *(f"addresses/{a}/{name}" for a in (*people, *tokens[:2]) for name in own),
        *(f"tokens/{a}/{name}" for a in tokens for name in ("holders", "items", "transfers")),
    ]


def test_lists_and_their_cursors_answer_as_over_plain_tables(
    both: tuple[FlaskClient, FlaskClient, str], scenario: Played
) -> None:
    first, second, _ = both
    cursors = 0
    for path in lists(first, scenario):
        query = "limit=6"
        for _ in range(12):
            expected = first.get(f"/api/v1/{path}?{query}")
            answer = second.get(f"/api/v1/{path}?{query}")
            assert (answer.status_code, answer.json) == (expected.status_code, expected.json), path
            cursor = expected.json.get("next")
            if cursor is None:
                break
            query = f"limit=6&cursor={cursor}"
            cursors += 1
    assert cursors > 200


def test_details_and_files_answer_as_over_plain_tables(
    both: tuple[FlaskClient, FlaskClient, str], scenario: Played
) -> None:
    first, second, _ = both
    people = scenario.stage.people
    hashes = [t["hash"] for t in first.get("/api/v1/transactions?limit=100").json["transactions"]]
    tokens = [t["address"] for t in first.get("/api/v1/tokens?limit=20").json["tokens"]]
    pools = [p["address"] for p in first.get("/api/v1/pools?limit=5").json["pools"]]
    paths = [
        *(f"/api/v1/transactions/{h}" for h in hashes[::5]),
        *(f"/tx/{h}" for h in hashes[::25]),
        *(f"/api/v1/blocks/{number}" for number in range(0, scenario.anvil.head(), 10)),
        *(f"/api/v1/addresses/{a}" for a in (*people, *tokens)),
        *(f"/api/v1/tokens/{a}" for a in tokens),
        *(f"/address/{a}" for a in people[:3]),
        *(f"/token/{a}" for a in tokens[:3]),
        *(f"/api/v1/pools/{a}{below}" for a in pools for below in ("", "/candles", "/volume")),
        *("/api/v1/stats", "/api/v1/stats/daily", "/api/v1/gas", "/txs", "/blocks", "/charts"),
        *("/api/v1/transactions?format=csv", f"/api/v1/addresses/{people[0]}/history?format=csv"),
        *(f"/api?module=account&action=txlist&address={a}" for a in people[:3]),
        *(f"/api?module=account&action=tokentx&address={a}" for a in people[:3]),
        *(f"/api?module=account&action=txlistinternal&address={a}" for a in people[:3]),
        f"/api?module=logs&action=getLogs&address={tokens[0]}&fromBlock=0&toBlock=latest",
    ]
    for path in paths:
        expected, answer = first.get(path), second.get(path)
        assert expected.status_code == 200, (path, expected.text)
        assert (answer.status_code, answer.text) == (200, expected.text), path


def test_an_audit_of_partitions_is_exact_and_finds_what_is_not(
    both: tuple[FlaskClient, FlaskClient, str], scenario: Played
) -> None:
    settings = settings_for(both[2], scenario.anvil.url, logs="all")
    assert run(settings, node=True) == audit.EXACT
    assert run(settings, node=True, first=20, last=90) == audit.EXACT
    with transaction(both[2]) as cursor:
        cursor.execute("UPDATE transactions SET value = value + 1 WHERE ordinal = 100")
        assert cursor.rowcount == 1
    assert run(settings, node=True) == audit.DIFFERS
    with transaction(both[2]) as cursor:
        cursor.execute("UPDATE transactions SET value = value - 1 WHERE ordinal = 100")


@contextmanager
def transaction(url: str) -> Iterator[Any]:
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        yield cursor


class Load:
    """Requests without a pause, until the end of the context; `failures` are those above 499."""

    def __init__(self, settings: Any, paths: list[str]) -> None:
        self._client = create_app(settings).test_client()
        self._paths = paths
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.failures: list[tuple[str, int, str]] = []
        self.count = 0

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _ask(self) -> None:
        for path in itertools.cycle(self._paths):
            answer = self._client.get(f"{path}{'&' if '?' in path else '?'}={self.count}")
            self.count += 1
            if answer.status_code >= 500:
                self.failures.append((path, answer.status_code, answer.text))
            if self._stop.is_set():
                return


@pytest.mark.long
def test_a_plain_database_is_converted_under_load(
    postgres: Postgres, template: str, database_url: str, scenario: Played
) -> None:
    rpc_url, head = scenario.anvil.url, scenario.anvil.head()
    with Indexing(database_url, rpc_url, logs="all", partition_rows=10**8) as indexing:
        indexing.wait_for(head)
    expected = digest(database_url)
    settings = indexing.settings
    person = scenario.stage.people[0]
    paths = [
        *("/api/v1/transactions", "/api/v1/token-transfers", "/api/v1/dex-trades", "/api/v1/logs"),
        *(
            f"/api/v1/addresses/{person}{p}"
            for p in ("", "/transactions", "/history", "/transfers")
        ),
        *(f"/api/v1/blocks/{head}", f"/tx/{scenario.truth.transactions[0]['hash']}"),
        f"/api?module=account&action=txlist&address={person}",
    ]
    with Load(settings, paths) as one, Load(settings, paths) as two:
        wait_until_count(one, 2 * len(paths))  # whose statements are prepared by now
        with closing(Database(database_url, statement_timeout_ms=0)) as database:
            tables = Partitions(database, ROWS)
            for table in TABLES:
                [(count,)] = execute(database_url, f"SELECT count(*) FROM {table}")  # noqa: S608
                while execute(database_url, PARTITIONED, [table]) == [(0,)]:
                    tables.forget()
                    tables.prepare(table, int(str(count)), int(str(count)) + 1)
        for load in (one, two):
            wait_until_count(load, load.count + 2 * len(paths))
    assert not one.failures and not two.failures
    assert execute(database_url, PARTITIONED, list(TABLES)) == [(len(TABLES),)]
    assert digest(database_url) == expected
    assert execute(database_url, "SELECT 1 FROM pg_index WHERE NOT indisvalid") == []


def wait_until_count(load: Load, count: int) -> None:
    while load.count < count:
        time.sleep(0.01)


@pytest.mark.long
def test_a_conversion_goes_on_after_kills_and_forks_cross_its_bounds(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil
) -> None:
    stage = play(anvil, rounds=5, poison=False)
    with IndexerProcess(database_url, anvil.url, SCAN_LOGS="all") as indexer:
        wait_for_head(indexer, anvil)
    # Two tables as a kill may leave them.
    [(first,)] = execute(database_url, "SELECT count(*)::int FROM transactions")
    bound = (int(str(first)) // ROWS + 1) * ROWS
    for table, validity in (("transactions", "NOT VALID"), ("token_transfers", "")):
        execute(
            database_url,
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_bound"
            f" CHECK (ordinal >= 0 AND ordinal < {bound * 10}) {validity}",
        )
    environment = {"SCAN_LOGS": "all", "SCAN_PARTITION_ROWS": str(ROWS)}
    with SmallPartitions(database_url, anvil.url, **environment) as indexer:
        for words in ("transactions is partitioned", "logs is partitioned"):
            while words not in indexer.output():
                anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
                anvil.mine()
                time.sleep(0.05)
            indexer.kill()
            indexer.start()
    assert execute(database_url, PARTITIONED, ["transactions", "token_transfers", "logs"]) == [(3,)]
    with SmallPartitions(database_url, anvil.url, **environment) as indexer:
        for depth in (1, 3, 8, 20, 9, 2):
            wait_for_head(indexer, anvil)
            anvil.reorganise(depth)
            for _ in range(6):
                everyday(stage, 9)
        wait_for_head(indexer, anvil)
    [(parts,)] = execute(database_url, PARTS, "logs")
    assert int(str(parts)) >= 3
    assert digest(database_url) == fresh_digest(postgres, template, anvil, logs="all")


def wait_for_head(indexer: IndexerProcess, anvil: Anvil) -> None:
    head = anvil.call("eth_getBlockByNumber", "latest", False)
    indexer.wait_for(int(head["number"], 16), head["hash"])


@pytest.mark.long
def test_forks_and_kills_over_bounds_leave_what_a_fresh_index_has(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil
) -> None:
    storm = Storm(anvil, 5)
    rows = str(ROWS)
    with SmallPartitions(database_url, anvil.url, SCAN_PARTITION_ROWS=rows) as indexer:
        storm.blow(indexer, 60)
    assert digest(database_url) == fresh_digest(postgres, template, anvil), storm.steps
    assert execute(database_url, PARTITIONED, ["transactions"]) == [(1,)]


@pytest.fixture
def converted(postgres: Postgres, template: str) -> Iterator[Any]:
    """Makes a partition of an empty `transactions` after statements of a test's own."""
    with (
        postgres.cloned(template) as url,
        closing(Database(url, statement_timeout_ms=0)) as database,
    ):

        def convert(*statements: str) -> str:
            for statement in statements:
                execute(url, statement)
            tables = Partitions(database, 1000)
            tables.prepare("transactions", 0, 1500)
            return url

        yield convert


def test_what_stands_on_the_table_follows_its_name(converted: Any) -> None:
    url = converted(
        "CREATE ROLE partition_reader",
        "GRANT SELECT ON transactions, v1.transactions TO partition_reader",
        "GRANT UPDATE (value) ON transactions TO partition_reader",
        "ALTER TABLE transactions ALTER COLUMN from_address SET STATISTICS 777",
        "ALTER TABLE transactions SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
        "CREATE INDEX own_index ON transactions (nonce) WITH (fillfactor = 70)",
        "CREATE FUNCTION own_value(t transactions) RETURNS numeric LANGUAGE sql RETURN t.value + 1",
        "CREATE FUNCTION own_count() RETURNS bigint LANGUAGE sql"
        " RETURN (SELECT count(*) FROM transactions)",
        "REVOKE ALL ON FUNCTION own_count() FROM PUBLIC",
        "GRANT EXECUTE ON FUNCTION own_count() TO partition_reader",
        "CREATE VIEW own_view WITH (security_invoker = true) AS"
        " SELECT own_value(t) AS more, method_id(t) AS method FROM transactions t",
        "CREATE PUBLICATION own_publication FOR TABLE transactions (ordinal, hash), blocks",
    )
    try:
        insert_transactions(url, 990, 1010)
        assert execute(
            url, "SELECT tableoid::regclass::text, count(*) FROM transactions GROUP BY 1 ORDER BY 1"
        ) == [("transactions_0", 10), ("transactions_1000", 10)]
        assert execute(url, "SELECT count(*), max(more) FROM own_view") == [(20, 1010)]
        assert execute(url, "SELECT count(*) FROM v1.transactions") == [(0,)]  # it has no block
        assert execute(url, "SELECT own_count()") == [(20,)]
        assert execute(url, "SELECT reloptions FROM pg_class WHERE relname = 'own_view'") == [
            (["security_invoker=true"],)
        ]
        execute(
            url,
            "SET ROLE partition_reader; SELECT own_count(); SELECT 1 FROM transactions;"
            " UPDATE transactions SET value = 1 WHERE ordinal = 1001",
        )
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            execute(url, "SET ROLE partition_reader; DELETE FROM transactions")
        assert execute(
            url, "SELECT has_function_privilege('public', 'own_count()', 'EXECUTE')"
        ) == [(False,)]
        parts = ["transactions", "transactions_0", "transactions_1000"]
        assert execute(
            url,
            "SELECT DISTINCT attstattarget::int FROM pg_attribute"
            " WHERE attname = 'from_address' AND attrelid::regclass::text = ANY (%s)",
            parts,
        ) == [(777,)]
        assert execute(
            url,
            "SELECT count(*) FROM pg_class WHERE relname ~ '^transactions_(0|1000)$'"
            " AND reloptions = '{autovacuum_vacuum_insert_scale_factor=0.02}'",
        ) == [(2,)]
        counts = index_counts(url)
        assert len({count for _, count in counts}) == 1 and len(counts) == 3, counts
        assert execute(
            url,
            "SELECT tablename, attnames, p.pubviaroot FROM pg_publication_tables t"
            " JOIN pg_publication p USING (pubname) WHERE tablename <> 'blocks'",
        ) == [("transactions", ["ordinal", "hash"], True)]
        assert (
            execute(
                url,
                "SELECT proname FROM pg_proc p WHERE EXISTS (SELECT FROM pg_type t WHERE"
                " t.typname = 'transactions_0' AND t.oid = ANY (p.proargtypes))",
            )
            == []
        )
    finally:
        execute(url, "DROP OWNED BY partition_reader; DROP ROLE partition_reader")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE MATERIALIZED VIEW own_view AS SELECT count(*) FROM transactions",
        "CREATE TABLE own_notes (ordinal bigint REFERENCES transactions)",
        "CREATE RULE own_rule AS ON DELETE TO transactions DO ALSO NOTHING",
        "ALTER TABLE transactions ENABLE ROW LEVEL SECURITY",
        "CREATE TRIGGER own_trigger AFTER INSERT ON transactions FOR EACH STATEMENT"
        " EXECUTE FUNCTION announce_labels()",
        "CREATE VIEW own_view AS SELECT t FROM transactions t",  # whose column is of the row's type
        "CREATE TABLE transactions_0 ()",
    ],
)
def test_a_table_on_which_something_else_stands_stays_plain(
    converted: Any, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = converted(statement)
    assert "transactions stays one table" in caplog.text
    assert execute(url, PARTITIONED, ["transactions"]) == [(0,)]
    assert execute(url, "SELECT 1 FROM pg_constraint WHERE conname = 'transactions_bound'") == []


def test_a_reader_that_holds_the_table_delays_its_conversion_and_loses_nothing(
    postgres: Postgres, template: str, anvil: Anvil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "PATIENCE_S", 0.5)
    honest_tokens(Stage(anvil))
    with postgres.cloned(template) as url, transaction(url) as cursor:
        cursor.execute("SELECT count(*) FROM transactions")
        with Indexing(url, anvil.url, partition_rows=10) as indexing:
            indexing.wait_for(anvil.head())  # into the plain table
            assert execute(url, PARTITIONED, ["transactions"]) == [(0,)]
            cursor.connection.commit()
            while execute(url, PARTITIONED, ["transactions"]) == [(0,)]:
                anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
                anvil.mine()
                indexing.wait_for(anvil.head())
    with postgres.cloned(template) as url, transaction(url) as cursor:
        execute(
            url,
            "ALTER TABLE transactions ADD CONSTRAINT transactions_bound"
            " CHECK (ordinal >= 0 AND ordinal < 10)",
        )
        cursor.execute("SELECT count(*) FROM transactions")
        with Indexing(url, anvil.url, partition_rows=10) as indexing:
            wait_for_problem(url, "lock")  # rows beyond the bound have no place
            assert execute(url, "SELECT count(*) FROM blocks") == [(0,)]
            cursor.connection.commit()
            indexing.wait_for(anvil.head())
        assert execute(url, PARTITIONED, ["transactions"]) == [(1,)]


def wait_for_problem(url: str, words: str) -> None:
    for _ in range(6000):
        if execute(url, "SELECT 1 FROM indexer_status WHERE problem LIKE %s", f"%{words}%"):
            return
        time.sleep(0.01)
    raise AssertionError(execute(url, "SELECT problem FROM indexer_status"))


def test_schema_sql_applies_again_and_builds_missing_indexes_in_every_partition(
    both: tuple[FlaskClient, FlaskClient, str], postgres: Postgres
) -> None:
    url = both[2]
    before = digest(url)
    everything = "SELECT c.oid::int, c.relname FROM pg_class c ORDER BY 1"
    shape = execute(url, everything)
    execute(url, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(url, "http://127.0.0.1:1")) == ["schema.sql"]
    assert execute(url, everything) == shape
    # One that is missing, with the rest of a build that was interrupted in some partitions.
    execute(url, "DROP INDEX transactions_by_to")
    execute(
        url,
        "CREATE INDEX transactions_by_to ON ONLY transactions (to_address, ordinal)"
        " WHERE to_address <> from_address",
    )
    execute(
        url,
        "CREATE INDEX transactions_by_to_0 ON transactions_0 (to_address, ordinal)"
        " WHERE to_address <> from_address",
    )
    execute(
        url,
        "CREATE INDEX transactions_by_to_40 ON transactions_40 (to_address, ordinal)"
        " WHERE to_address <> from_address",
    )
    execute(
        url,
        "UPDATE pg_index SET indisvalid = false"
        " WHERE indexrelid = 'transactions_by_to_40'::regclass",
    )
    execute(url, "UPDATE schema_state SET digest = 'x'")
    assert migrations.run(settings_for(url, "http://127.0.0.1:1")) == ["schema.sql"]
    assert (
        execute(
            url,
            "SELECT relname FROM pg_index JOIN pg_class c ON c.oid = indexrelid"
            " WHERE NOT indisvalid",
        )
        == []
    )
    [(parts,)], [(indexed,)] = (
        execute(url, PARTS, name) for name in ("transactions", "transactions_by_to")
    )
    assert parts == indexed
    assert digest(url) == before


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where PostgreSQL's user may write; pytest's own is root's alone."""
    with tempfile.TemporaryDirectory(prefix="scan-partitions-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_a_partition_comes_back_from_a_dump_of_its_own(
    postgres: Postgres, converted: Any, folder: Path
) -> None:
    """As docs/growing.md says."""
    url = converted()
    insert_transactions(url, 0, 1400)
    execute(url, "VACUUM (FREEZE, ANALYZE) transactions_0")
    dump, contents = folder / "dump", folder / "list"
    postgres.run_program("pg_dump", "-Fc", "-t", "transactions_0", "-f", str(dump), url)
    execute(url, "DROP TABLE transactions_0")
    listed = postgres.run_program("pg_restore", "-l", str(dump)).splitlines()
    contents.write_text("\n".join(line for line in listed if "ATTACH" not in line))
    postgres.run_program("pg_restore", "-e", "-d", url, "-L", str(contents), str(dump))
    execute(
        url,
        "ALTER TABLE transactions ATTACH PARTITION transactions_0 FOR VALUES FROM (0) TO (1000)",
    )
    assert execute(url, "SELECT count(*), sum(ordinal)::int FROM transactions") == [
        (1400, sum(range(1400)))
    ]
    assert len({count for _, count in index_counts(url)}) == 1, index_counts(url)


def insert_transactions(url: str, first: int, end: int) -> None:
    execute(
        url,
        "INSERT INTO transactions (ordinal, block_number, transaction_index, status, hash,"
        " from_address, value, gas_price, gas_used, fee, type) SELECT n, 1, n, true, int4send(n),"
        " '', n, 1, 1, 1, '' FROM generate_series(%s, %s) AS n",
        *(first, end - 1),
    )


def index_counts(url: str) -> list[tuple[object, ...]]:
    """Of transactions and its partitions."""
    return execute(
        url,
        "SELECT indrelid::regclass::text, count(*) FROM pg_index WHERE indisvalid"
        " AND indrelid::regclass::text ~ '^transactions(_[0-9]+)?$' GROUP BY 1",
    )


def test_checkpoints_are_looked_for_without_subqueries(
    both: tuple[FlaskClient, FlaskClient, str],
) -> None:
    """PostgreSQL 18.4 computed them for keys of other lists, too, which are no text."""
    statement = load_statements()["indexer/lists_insert_checkpoints"]
    parameters: dict[str, object] = dict.fromkeys(statement.params, 0)
    parameters |= {name: 10 * ROWS for name in parameters if name.startswith("last_")}
    parameters |= {"lists": ["transactions_by_from"], "keys": [b"\xff" * 20], "entries": [120]}
    with transaction(both[2]) as cursor:
        cursor.execute(f"EXPLAIN {statement.text}", parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.connection.rollback()
    assert "dex_trades_40" in plan and "logs_200" in plan
    assert "InitPlan" not in plan and "SubPlan" not in plan
