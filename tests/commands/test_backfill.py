"""Columns that an upgrade added: filled from the node, exactly, beside whatever else happens."""

import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import psycopg2
import pytest

from scan.extensions.bulk import backfill_command as backfill
from scan.extensions.demo.demo_node import DemoNode
from scan.indexer import field_backfill
from scan.settings import Settings, child_environment
from tests.support import forked_python
from tests.support.database import Postgres
from tests.support.forked_python import Forked
from tests.support.indexing import Indexing
from tests.support.later_columns import EMPTY, LATER
from tests.support.table_digest import digest

OPTIONS = Namespace()
COLUMNS = [(table, name) for table in LATER._fields for name in getattr(LATER, table)]


@pytest.fixture(autouse=True)
def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field_backfill, "LATER", LATER)


@pytest.fixture(scope="module")
def indexed(postgres: Postgres, template: str, demo_node: DemoNode) -> Iterator[Settings]:
    with postgres.cloned(template) as url:
        indexing = Indexing(url, demo_node.url).run_until(demo_node.recording.head)
        yield indexing.settings


@pytest.fixture
def older(indexed: Settings, postgres: Postgres) -> Iterator[Settings]:
    """The same, after a migration that added columns."""
    with postgres.cloned(urlsplit(indexed.database_url).path.removeprefix("/")) as url:
        execute(url, EMPTY)
        yield replace(indexed, database_url=url, read_database_url=url)


def execute(url: str, statement: str) -> int:
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        touched = cursor.rowcount
    connection.close()
    return int(touched)


def unfilled(settings: Settings) -> int:
    return nulls(settings, "transactions", "nonce")


def nulls(settings: Settings, table: str, column: str) -> int:
    connection = psycopg2.connect(settings.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NULL")  # noqa: S608
        [found] = cursor.fetchone()
    connection.close()
    return int(found)


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_filled_rows_equal_those_indexed_anew(indexed: Settings, older: Settings) -> None:
    assert digest(older.database_url) != digest(indexed.database_url)
    assert backfill.fields(older, OPTIONS) == backfill.FILLED
    for table, name in COLUMNS:
        assert nulls(older, table, name) == nulls(indexed, table, name), f"{table}.{name}"
    assert digest(older.database_url) == digest(indexed.database_url)
    assert backfill.fields(older, OPTIONS) == backfill.FILLED


def test_a_release_that_added_no_column_has_nothing_to_fill(
    older: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(field_backfill, "LATER", field_backfill.LaterColumns((), ()))
    before = unfilled(older)
    assert backfill.fields(older, OPTIONS) == backfill.FILLED
    assert "filled 0 rows" in capsys.readouterr().err
    assert unfilled(older) == before > 0


def test_rows_of_a_block_that_the_node_does_not_have_stay_as_they_are(older: Settings) -> None:
    execute(older.database_url, "UPDATE blocks SET hash = sha256(hash) WHERE number IN (17, 340)")
    assert backfill.fields(older, OPTIONS) == backfill.UNFILLED
    in_them = "SELECT count(*) FROM transactions WHERE block_number IN (17, 340)"
    connection = psycopg2.connect(older.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(in_them)
        assert cursor.fetchone() == (unfilled(older),)
    connection.close()


def test_a_node_of_another_chain_is_refused(
    older: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    execute(older.database_url, "UPDATE chain SET genesis_hash = sha256('another')")
    before = unfilled(older)
    assert backfill.fields(older, OPTIONS) == backfill.UNFILLED
    assert "but the node at RPC_URL serves" in capsys.readouterr().err
    assert unfilled(older) == before


def test_killed_at_any_time_the_next_run_goes_on(indexed: Settings, older: Settings) -> None:
    command = [sys.executable, "-m", "tests.support.later_columns", "backfill", "fields"]
    for wait_s in (0.05, 0.25, 0.35, 0.45, 0.55):
        process = Forked(command, env=child_environment(older), stderr=subprocess.DEVNULL)
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert forked_python.run(command, env=child_environment(older)).returncode == 0
    assert digest(older.database_url) == digest(indexed.database_url)
