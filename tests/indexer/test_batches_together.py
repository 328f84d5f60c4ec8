"""Several batches of blocks in one transaction, as an index that is large already is caught up."""

import threading
from collections import Counter, namedtuple

import pytest

from scan.errors import Unavailable
from scan.indexer import chain_indexer, writer
from tests.support import scenario as acts
from tests.support.anvil import Anvil
from tests.support.database import execute, insert
from tests.support.indexing import Indexing, batches_of
from tests.support.kept_answers import kept_answers
from tests.support.scenario.stage import Stage
from tests.support.serving import wait_until
from tests.support.table_digest import digest

BLOCKS = 2  # in a batch


def nothing():
    pass


class Transactions:
    """Of the database: how many `batches` were written in each. A test may do something once a
    batch is `added`, or before tables are `derived`."""

    def __init__(self):
        self.batches = []
        self.added = self.derived = nothing


@pytest.fixture
def transactions(monkeypatch, short_pauses):
    noted = Transactions()

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


def follow(database_url, node, **settings):
    """With batches of a few blocks, as many in a transaction as an index of any size allows."""
    limits = batches_of(BLOCKS, fetch_blocks=BLOCKS, commit_share=1)
    return Indexing(database_url, node.url, limits=limits, **settings)


def head_of(url):
    [(number,)] = execute(url, "SELECT max(number) FROM blocks")
    return number


Indexed = namedtuple("Indexed", "node url")


@pytest.fixture(scope="module")
def indexed_once(postgres, template, tmp_path_factory):
    """Thirty batches, where the scenario has eighty: each test indexes them anew."""
    folder = tmp_path_factory.mktemp("answers")
    with Anvil() as node, kept_answers(node.url, folder), postgres.cloned(template) as url:
        stage = Stage(node)
        for act in acts.BASIC_ACTS:
            act(stage)
        for _ in range(16):
            acts.everyday(stage, 4)
        Indexing(url, node.url).run_until(node.head())
        yield Indexed(node, url)


@pytest.fixture
def node(indexed_once, database_url):
    """Whose chain the test's database has in the end, as an index that took it batch by batch."""
    yield indexed_once.node
    assert head_of(database_url) == indexed_once.node.head()
    assert digest(database_url) == digest(indexed_once.url)


@pytest.mark.thorough
def test_a_transaction_ends_before_new_partitions(node, database_url, transactions, monkeypatch):
    monkeypatch.setattr("scan.indexer.partitions.ROWS_OF_BODY", 1)  # else each block is one of them
    with follow(database_url, node, partition_rows=20) as indexing:
        indexing.wait_for(node.head())
    partitions = execute(
        database_url, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'transactions'::regclass"
    )
    assert partitions[0][0] > 3
    assert 1 < max(transactions.batches) < sum(transactions.batches) // 2


@pytest.mark.thorough
def test_after_a_transaction_that_failed_one_batch_is_written_alone(
    node, database_url, transactions
):
    """So that what fails again and again with many batches does not stop the index."""
    failed = []

    def fail_with_several():
        if transactions.batches[-1] > 2 and len(failed) < 2:
            failed.append(len(transactions.batches) - 1)
            raise Unavailable("no")

    transactions.derived = fail_with_several
    follow(database_url, node).run_until(node.head())
    assert len(failed) == 2 and all(transactions.batches[index + 1] == 1 for index in failed)


@pytest.mark.long
def test_transactions_of_a_slow_database_end_in_time(node, database_url, transactions, monkeypatch):
    """A database that takes 3 s to write a batch, and first 1 s, later 7 s, to derive from it."""
    clock = 0.0
    batches, times = transactions.batches, Counter()

    def spend(seconds):
        nonlocal clock
        clock += seconds
        times[len(batches) - 1] += seconds

    transactions.added = lambda: spend(3)
    transactions.derived = lambda: spend(batches[-1] * (1 if sum(batches) < 20 else 7))
    monkeypatch.setattr(chain_indexer, "monotonic", lambda: clock)
    follow(database_url, node).run_until(node.head())
    slower = next(n for n in times if sum(batches[: n + 1]) >= 20)
    before, after = range(slower), range(slower + 1, len(batches))
    assert max(times[n] for n in before) == max(times[n] for n in after) == chain_indexer.COMMIT_S
    assert max(batches[n] for n in before) == 5 and max(batches[n] for n in after) == 2


@pytest.mark.long
def test_who_waits_for_a_lock_has_it_after_the_batch(node, database_url, transactions):
    """As a migration does."""
    waiting = []

    def lock():
        execute(database_url, "DO $$ BEGIN LOCK TABLE transactions; END $$")

    def wait_at_the_third():
        if transactions.batches[-1] == 3 and not waiting:
            waiting.append(threading.Thread(target=lock))
            waiting[0].start()
            wait_until(lambda: execute(database_url, "SELECT pid FROM pg_locks WHERE NOT granted"))

    transactions.added = wait_at_the_third
    follow(database_url, node).run_until(node.head())
    waiting[0].join()
    assert 3 in transactions.batches


@pytest.mark.long
def test_a_stop_rolls_several_batches_back(node, database_url, transactions):
    def stop_at_the_third():
        if transactions.batches[-1] == 3:
            indexing.stop()

    transactions.added = stop_at_the_third
    with follow(database_url, node) as indexing:
        indexing.wait_for_end()
    assert transactions.batches[-1] == 3
    assert head_of(database_url) + 1 == sum(transactions.batches[:-1]) * BLOCKS
    transactions.added = nothing
    follow(database_url, node).run_until(node.head())


@pytest.mark.thorough
def test_webhooks_get_their_events_batch_by_batch(node, database_url, transactions):
    insert(database_url, "webhooks", id=1, url="https://localhost/", event_types="{tx}")
    follow(database_url, node).run_until(node.head())
    assert set(transactions.batches) == {1}
