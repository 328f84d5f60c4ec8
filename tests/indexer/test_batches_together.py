"""Several batches of blocks in one transaction, as an index that is large already is caught up."""

import threading
from types import SimpleNamespace

import pytest

from scan.errors import Unavailable
from scan.indexer import writer
from tests.support.database import execute, insert
from tests.support.indexing import Indexing, batches_of
from tests.support.serving import wait_until
from tests.support.table_digest import digest


@pytest.fixture
def transactions(monkeypatch, short_pauses):
    """How many `batches` were written in each. A test may do something once a batch is `added`, or
    before tables are `derived`."""
    noted = SimpleNamespace(batches=[], added=lambda: None, derived=lambda: None)

    class Append(writer.Append):
        def __init__(self, *arguments):
            noted.batches.append(0)
            super().__init__(*arguments)

        def add(self, batch):
            super().add(batch)
            noted.batches[-1] += 1
            noted.added()

        def derive(self):
            noted.derived()
            return super().derive()

    monkeypatch.setattr(writer, "Append", Append)
    return noted


@pytest.fixture
def follow(scenario, indexed, database_url):
    """With batches of two blocks, as many in a transaction as an index of any size allows; the
    index is then as one that took them batch by batch."""

    def until_the_head():
        limits = batches_of(2, fetch_blocks=2, commit_share=1)
        Indexing(database_url, scenario.anvil.url, limits=limits).run_until(scenario.anvil.head())

    yield until_the_head
    assert digest(database_url) == digest(indexed.url)


@pytest.mark.thorough
def test_after_a_transaction_that_failed_one_batch_is_written_alone(follow, transactions):
    """So that what fails again and again with many batches does not stop the index."""
    failed = []

    def fail_with_several():
        if transactions.batches[-1] > 2 and len(failed) < 2:
            failed.append(len(transactions.batches) - 1)
            raise Unavailable("no")

    transactions.derived = fail_with_several
    follow()
    assert len(failed) == 2 and all(transactions.batches[index + 1] == 1 for index in failed)


@pytest.mark.long
def test_who_waits_for_a_lock_has_it_after_the_batch(follow, database_url, transactions):
    """As a migration does."""
    lock = "DO $$ BEGIN LOCK TABLE transactions; END $$"
    waiting = threading.Thread(target=execute, args=(database_url, lock))

    def wait_at_the_third():
        if transactions.batches[-1] == 3 and waiting.ident is None:
            waiting.start()
            wait_until(lambda: execute(database_url, "SELECT pid FROM pg_locks WHERE NOT granted"))

    transactions.added = wait_at_the_third
    follow()
    waiting.join()
    assert 3 in transactions.batches


@pytest.mark.thorough
def test_webhooks_get_their_events_batch_by_batch(follow, database_url, transactions):
    insert(database_url, "webhooks", id=1, url="https://localhost/", event_types="{tx}")
    follow()
    assert set(transactions.batches) == {1}
