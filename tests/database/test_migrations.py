"""Databases of 1.0 brought up to date, also by several instances at once."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg2
import pytest

from scan.database import connection, errors, migrations
from scan.settings import own_call
from tests.support import WAIT_S, auditing, indexing, serving
from tests.support.database import execute, name_in
from tests.support.first_release import (
    bring_up,
    first_template,
    first_url,
    release_with,
    require_present_shape,
    shape,
)
from tests.support.scan_command import scan

__all__ = ["first_template", "first_url"]


@pytest.fixture(scope="module")
def upgraded_template(postgres, first_template):
    """The name of one that was brought up to date."""
    with postgres.cloned(first_template) as url:
        bring_up(url)
        yield name_in(url)


def readiness(url):
    return indexing.client_over(url).get("/readyz").status_code


def test_a_new_database_gets_the_whole_schema_at_once(clone):
    empty_url = clone("template0")
    assert readiness(empty_url) == 503
    assert bring_up(empty_url) == ["schema.sql"]
    assert readiness(empty_url) == 200
    assert bring_up(empty_url) == []


def test_the_schema_is_safe_to_repeat(database_url):
    before = shape(database_url)
    execute(database_url, migrations.expected_schema().schema.replace("%", "%%"))
    assert shape(database_url) == before
    assert execute(database_url, "SELECT version FROM label_state") == []  # caches stay valid


def test_a_column_with_a_default_is_never_null(database_url):
    columns = """
        SELECT attrelid::regclass::text, attname FROM pg_attribute
        JOIN pg_class ON pg_class.oid = attrelid AND relnamespace = current_schema()::regnamespace
        WHERE atthasdef AND NOT attnotnull AND attgenerated = ''
    """
    assert execute(database_url, columns) == []


def test_a_database_of_the_first_release_becomes_the_present_one(first_url, database_url):
    bring_up(first_url)
    require_present_shape(first_url, shape(database_url))
    assert readiness(first_url) == 200
    assert auditing.run(indexing.settings_for(first_url, serving.NOWHERE)) == auditing.EXACT, (
        "rows of the first release lack what is derived of them now, which the audit has printed:"
        " fill it in a migration; until 1.0 is released run python -m"
        " scan.extensions.demo.tests.first_release_writing"
    )


def test_a_migration_that_fails_changes_nothing(clone, upgraded_template):
    upgraded_url = clone(upgraded_template)
    before = shape(upgraded_url)
    with pytest.raises(psycopg2.Error):
        bring_up(upgraded_url, release_with("CREATE TABLE half (x integer); SELECT 1 / 0;"))
    assert shape(upgraded_url) == before


def test_an_older_version_leaves_a_newer_schema_alone_and_serves_on(database_url):
    bring_up(database_url, release_with("CREATE TABLE newer (x integer);"))
    older = migrations.expected_schema()._replace(schema="SELECT 1 / 0;")
    assert bring_up(database_url, older) == []
    assert readiness(database_url) == 200


IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'blocks_by_gas'::regclass"


def release_with_an_index():
    """Every later migration there is, one that locks two tables, and an index of a filled one."""
    release = release_with(
        "ALTER TABLE blocks ADD COLUMN added text; ALTER TABLE tokens ADD COLUMN added text;"
    )
    index = (
        "\nCREATE INDEX IF NOT EXISTS blocks_by_gas ON blocks (gas_used)\n    WHERE gas_used > 0;"
    )
    return release._replace(schema=release.schema + index)


@pytest.mark.thorough
def test_an_index_whose_build_was_interrupted_is_built_anew(database_url):
    release = release_with_an_index()
    bring_up(database_url, release)
    execute(
        database_url,
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'blocks_by_gas'::regclass",
    )
    bring_up(database_url, release._replace(schema=f"{release.schema}\n-- changed\n"))
    assert execute(database_url, IS_VALID) == [(True,)]


def test_a_database_that_lacks_a_migration_is_not_ready(database_url, monkeypatch):
    release = release_with("ALTER TABLE blocks ADD COLUMN added text;")
    monkeypatch.setattr(migrations, "expected_schema", lambda: release)
    assert readiness(database_url) == 503
    bring_up(database_url, release)
    assert readiness(database_url) == 200


def test_a_schema_that_is_half_applied_is_not_ready_and_is_finished(database_url):
    """The process ended after a migration; the previous release goes on serving."""
    release = release_with("ALTER TABLE blocks ADD COLUMN added text;")
    with pytest.raises(errors.SchemaMismatch, match="no migration leads"):
        bring_up(database_url, release._replace(schema="SELECT FROM no_such_table;"))
    assert execute(database_url, "SELECT added FROM blocks") == []
    assert readiness(database_url) == 200
    assert bring_up(database_url, release) == ["schema.sql"]


@pytest.mark.check
def test_no_two_migrations_have_one_number():
    """The second one would count as applied."""
    numbers = [migration.number for migration in migrations.expected_schema().migrations]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.check
def test_schema_sql_changes_nothing_that_readers_would_wait_for():
    """ALTER and DROP belong into a migration, which is tried again with a short wait."""
    statements = re.sub(
        r"--[^\n]*|\$\$.*?\$\$", "", migrations.expected_schema().schema, flags=re.S
    )
    assert not re.search(r"^\s*(ALTER|DROP|LOCK|TRUNCATE)\b", statements, re.M)


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["migrate", "serve"])
def test_tables_of_another_commit_are_named_with_the_way_out(
    clone, upgraded_template, tmp_path, command
):
    upgraded_url = clone(upgraded_template)
    execute(upgraded_url, "ALTER TABLE blocks DROP COLUMN unproven CASCADE")
    execute(upgraded_url, "UPDATE schema_state SET digest = '\\x0a0b'")
    execute(upgraded_url, "COMMENT ON TABLE schema_state IS '0.9.0, commit 0123abcd of 2026-01-31'")
    environ = {"DATABASE_URL": upgraded_url, "RPC_URL": serving.NOWHERE}
    environ |= {"SCAN_DATA_DIR": str(tmp_path), "PORT": str(serving.free_port())}
    ended = scan(command, **environ)
    assert ended.returncode == 1, ended.stderr
    assert "The database's tables are of Scan 0.9.0, commit 0123abcd of" in ended.stderr
    assert migrations.own_version() in ended.stderr
    assert "unproven" not in ended.stderr  # PostgreSQL's words
    assert f"`{own_call()} backup --owners owners.jsonl`, name an empty database in" in ended.stderr
    assert f"`{own_call()} restore --owners owners.jsonl`" in ended.stderr
    assert "docs/operation.md, Upgrade" in ended.stderr
    assert "`git checkout 0123abcd`" in ended.stderr


@pytest.mark.thorough
def test_a_plan_says_that_tables_are_of_another_commit(clone, upgraded_template):
    """Before anything is stopped for an upgrade, and without an index of it."""
    upgraded_url = clone(upgraded_template)
    execute(upgraded_url, "ALTER TABLE blocks DROP COLUMN unproven CASCADE")
    execute(upgraded_url, "DROP INDEX labels_by_text")
    execute(upgraded_url, "UPDATE schema_state SET digest = '\\x0a0b'")
    before = shape(upgraded_url)
    with closing(connection.Database(upgraded_url, statement_timeout_ms=0)) as database:
        with pytest.raises(errors.SchemaMismatch) as caught:
            migrations.plan(database)
        assert "unproven" in caught.value.reason
        assert "unproven" not in caught.value.for_operators
        assert "`scan backup --owners owners.jsonl`" in caught.value.message
    with pytest.raises(errors.SchemaMismatch, match="no migration leads"):
        bring_up(upgraded_url)
    assert shape(upgraded_url) == before  # a start that is refused changes nothing, either


@pytest.mark.thorough
def test_a_plan_changes_nothing_and_an_index_may_be_of_a_new_function(clone, upgraded_template):
    upgraded_url = clone(upgraded_template)
    execute(upgraded_url, "DROP FUNCTION words_of CASCADE")
    execute(upgraded_url, "UPDATE schema_state SET digest = '\\x0a0b'")
    before = shape(upgraded_url)
    with closing(connection.Database(upgraded_url, statement_timeout_ms=0)) as database:
        assert [file.name for file in migrations.plan(database) or ()] == [migrations.SCHEMA]
        assert shape(upgraded_url) == before
        assert bring_up(upgraded_url) == [migrations.SCHEMA]
        assert migrations.plan(database) == []
    assert execute(upgraded_url, "SELECT to_regclass('labels_by_word')::text") == [
        ("labels_by_word",)
    ]


@pytest.mark.thorough
def test_instances_that_start_together_apply_each_migration_once(first_url):
    """CREATE TABLE without IF NOT EXISTS would fail the second time."""
    release = release_with("CREATE TABLE once (x integer); SELECT pg_sleep(0.1);")
    applied = []
    threads = [
        threading.Thread(target=lambda: applied.append(bring_up(first_url, release)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(names.count(release.migrations[-1].name) for names in applied) == 1
    assert len(applied) == 6 and bring_up(first_url, release) == []


@pytest.mark.thorough
def test_no_reader_waits_for_a_migration_that_waits_for_another(first_url, caplog, monkeypatch):
    """A transaction that has read every table goes on for as long as the migration is tried."""
    over = threading.Event()

    def read_until_over(table):
        """How often, each time without a wait of a second for a lock."""
        connection, count = psycopg2.connect(first_url), 0
        connection.autocommit = True
        with closing(connection), connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
            while not over.is_set():
                cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
                count += 1
        return count

    caplog.set_level("INFO")
    bring_up(first_url)
    release = release_with_an_index()
    monkeypatch.setattr(migrations, "expected_schema", lambda: release)
    read = ("blocks", "transactions", "token_transfers", "tokens", "addresses", "dex_trades")
    files = Path(__file__).with_name("files.sql").read_text()
    before = execute(first_url, files, list(read))
    migrating = threading.Thread(target=bring_up, args=(first_url, release))
    with ThreadPoolExecutor(len(read)) as pool, ExitStack() as ended:
        ended.callback(over.set)
        readers = [pool.submit(read_until_over, table) for table in read]
        with closing(psycopg2.connect(first_url)) as reading, reading.cursor() as long_reader:
            for table in read:
                long_reader.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
            migrating.start()
            serving.wait_until(lambda: caplog.text.count("is waiting for other statements") > 2)
            assert readiness(first_url) == 503
        migrating.join(WAIT_S)
    assert not migrating.is_alive()
    assert all(reader.result() > 10 for reader in readers)
    assert execute(first_url, files, list(read)) == before, "a table was written anew"
    assert execute(first_url, IS_VALID) == [(True,)]
    assert readiness(first_url) == 200
    assert bring_up(first_url, release) == []
