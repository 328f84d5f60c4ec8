"""Migrations of a database with the demo chain."""

import threading
from contextlib import closing

import psycopg2
import pytest

from scan.database import migrations
from scan.extensions.demo.demo_node import start
from tests.database.test_migrations import (
    FILES,
    IS_VALID,
    READ,
    bring_up,
    empty_url,
    first_template,
    first_url,
    readiness,
    release_with,
    release_with_an_index,
    require_present_shape,
    shape,
)
from tests.support import WAIT_S, database, first_release, serving, table_digest
from tests.support.indexing import Indexing

__all__ = ["empty_url", "first_template", "first_url"]


def test_an_upgraded_database_has_the_rows_of_one_indexed_anew(first_url, database_url):
    """With a migration more, and a column more in a new database."""
    column = "ALTER TABLE blocks ADD COLUMN added text;"
    bring_up(first_url, release_with(column))
    database.execute(database_url, column)
    node = start(first_release.CHAIN)
    try:
        with Indexing(database_url, node.url) as anew, Indexing(first_url, node.url) as upgraded:
            anew.wait_for(node.recording.head)
            upgraded.wait_for(node.recording.head)
            require_present_shape(first_url, shape(database_url))
            assert table_digest.digest(first_url) == table_digest.digest(database_url)
    finally:
        node.stop()


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


class Readers:
    """Each read gives up where a lock keeps it waiting for a second."""

    def __init__(self, url):
        self._url = url
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(table,)) for table in READ]
        self.counts = dict.fromkeys(READ, 0)
        self.refused = []

    def _read(self, table):
        connection = psycopg2.connect(self._url)
        connection.autocommit = True
        with closing(connection), connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
            while not self._over.is_set():
                try:
                    cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
                    self.counts[table] += 1
                except psycopg2.errors.LockNotAvailable as error:
                    self.refused.append(f"{table}: {error}")

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.thorough
def test_no_reader_waits_for_a_migration_that_waits_for_another(first_url, caplog, monkeypatch):
    """A transaction that has read every table goes on for as long as the migration is tried."""
    caplog.set_level("INFO")
    bring_up(first_url)
    release = release_with_an_index()
    monkeypatch.setattr(migrations, "expected_schema", lambda: release)
    files = database.execute(first_url, FILES, list(READ))
    migrating = threading.Thread(target=bring_up, args=(first_url, release))
    with Readers(first_url) as readers:
        with closing(psycopg2.connect(first_url)) as reading, reading.cursor() as long_reader:
            for table in READ:
                long_reader.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
            migrating.start()
            serving.wait_until(lambda: caplog.text.count("is waiting for other statements") > 2)
            assert readiness(first_url) == 503
        migrating.join(WAIT_S)
    assert not migrating.is_alive() and not readers.refused
    assert all(count > 10 for count in readers.counts.values())
    assert database.execute(first_url, FILES, list(READ)) == files, "a table was written anew"
    assert database.execute(first_url, IS_VALID) == [(True,)]
    assert readiness(first_url) == 200
    assert bring_up(first_url, release) == []
