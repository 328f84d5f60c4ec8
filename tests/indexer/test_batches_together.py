"""Several batches of blocks in one transaction, as an index that is large already is caught up."""

import threading
from collections import namedtuple

import pytest

from scan.errors import Unavailable
from scan.ethereum import node_errors
from scan.indexer import chain_indexer, prefetch, progress, writer
from tests.support import scenario as acts
from tests.support.anvil import Anvil
from tests.support.database import execute, insert
from tests.support.faulty_node import FaultyNode, Reply
from tests.support.indexing import Indexing
from tests.support.kept_answers import kept_answers
from tests.support.scenario.stage import Stage
from tests.support.serving import wait_until
from tests.support.table_digest import digest

BLOCKS = 2  # in a batch


@pytest.fixture
def transactions(monkeypatch):
    """Of the database: how many batches were written in each."""
    monkeypatch.setattr(prefetch, "FETCH_BLOCKS", BLOCKS)
    monkeypatch.setattr(prefetch, "BATCH_BLOCKS", BLOCKS)
    monkeypatch.setattr(chain_indexer, "COMMIT_SHARE", 1)
    monkeypatch.setattr(node_errors, "MAX_PAUSE_S", 0.2)
    batches = []
    start, add = writer.Append.__init__, writer.Append.add

    def note_start(append, *arguments):
        batches.append(0)
        start(append, *arguments)

    def note_batch(append, batch):
        batches[-1] += 1
        add(append, batch)

    monkeypatch.setattr(writer.Append, "__init__", note_start)
    monkeypatch.setattr(writer.Append, "add", note_batch)
    return batches


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
    with Indexing(database_url, node.url, partition_rows=20) as indexing:
        indexing.wait_for(node.head())
    partitions = execute(
        database_url, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'transactions'::regclass"
    )
    assert partitions[0][0] > 3
    assert 1 < max(transactions) < sum(transactions) // 2


@pytest.mark.thorough
def test_what_was_read_before_a_fault_is_written(node, database_url, transactions):
    head = node.head()
    heads = []

    def fail_once(calls, forward):
        numbers = [c["params"][0] for c in calls if c["method"] == "eth_getBlockByNumber"]
        if hex(head) in numbers and not heads:
            heads.append(head)
            return Reply(status=500, body={"error": "no"})
        return Reply(body=forward(calls))

    with FaultyNode(node.url) as faulty:
        faulty.fault = fail_once
        Indexing(database_url, faulty.url).run_until(head)
    assert heads and sum(transactions) == -(-(head + 1) // BLOCKS)  # no block twice


def test_after_a_transaction_that_failed_one_batch_is_written_alone(
    node, database_url, transactions, monkeypatch
):
    """So that what fails again and again with many batches does not stop the index."""
    derive = writer.Append.derive
    failed = []

    def fail_with_several(append):
        if transactions[-1] > 2 and len(failed) < 2:
            failed.append(len(transactions) - 1)
            raise Unavailable("no")
        return derive(append)

    monkeypatch.setattr(writer.Append, "derive", fail_with_several)
    Indexing(database_url, node.url).run_until(node.head())
    assert len(failed) == 2 and all(transactions[index + 1] == 1 for index in failed)


@pytest.mark.long
def test_transactions_of_a_slow_database_end_in_time(node, database_url, transactions, monkeypatch):
    """A database that takes 3 s to write a batch, and first 1 s, later 7 s, to derive from it."""
    clock = 0.0
    taken = []
    add, derive = writer.Append.add, writer.Append.derive

    def add_slowly(append, batch):
        nonlocal clock
        if transactions[-1] == 0:
            taken.append(0.0)
        add(append, batch)
        clock += 3
        taken[-1] += 3

    def derive_slowly(append):
        nonlocal clock
        derive_s = transactions[-1] * (1 if sum(transactions) < 20 else 7)
        clock += derive_s
        taken[-1] += derive_s
        return derive(append)

    monkeypatch.setattr(chain_indexer, "monotonic", lambda: clock)
    monkeypatch.setattr(writer.Append, "add", add_slowly)
    monkeypatch.setattr(writer.Append, "derive", derive_slowly)
    Indexing(database_url, node.url).run_until(node.head())
    slower = next(n for n in range(len(taken)) if sum(transactions[: n + 1]) >= 20)
    assert max(taken[:slower]) == max(taken[slower + 1 :]) == chain_indexer.COMMIT_S
    assert max(transactions[:slower]) == 5 and max(transactions[slower + 1 :]) == 2


@pytest.mark.long
def test_an_indexer_is_heard_of_in_long_transactions(node, database_url, transactions, monkeypatch):
    monkeypatch.setattr(progress, "RECORD_AGAIN_AFTER_S", 0.05)
    derive = writer.Append.derive
    seen = []

    def checked_at():
        return execute(database_url, "SELECT checked_at FROM indexer_status")

    def wait_and_derive(append):
        if transactions[-1] > 2 and not seen:
            seen.append(checked_at())
            wait_until(lambda: checked_at() != seen[0])
        return derive(append)

    monkeypatch.setattr(writer.Append, "derive", wait_and_derive)
    Indexing(database_url, node.url).run_until(node.head())
    assert seen


@pytest.mark.long
def test_who_waits_for_a_lock_has_it_after_the_batch(node, database_url, transactions, monkeypatch):
    """As a migration does."""
    add = writer.Append.add
    waiting = []

    def lock():
        execute(database_url, "DO $$ BEGIN LOCK TABLE transactions; END $$")

    def wait_at_the_third(append, batch):
        add(append, batch)
        if transactions[-1] == 3 and not waiting:
            waiting.append(threading.Thread(target=lock))
            waiting[0].start()
            wait_until(lambda: execute(database_url, "SELECT pid FROM pg_locks WHERE NOT granted"))

    monkeypatch.setattr(writer.Append, "add", wait_at_the_third)
    Indexing(database_url, node.url).run_until(node.head())
    waiting[0].join()
    assert 3 in transactions


@pytest.mark.long
def test_a_stop_rolls_several_batches_back(node, database_url, transactions, monkeypatch):
    indexing = Indexing(database_url, node.url)
    add = writer.Append.add

    def stop_at_the_third(append, batch):
        add(append, batch)
        if transactions[-1] == 3:
            indexing._stop.set()

    monkeypatch.setattr(writer.Append, "add", stop_at_the_third)
    with indexing:
        indexing._thread.join()
    assert transactions[-1] == 3
    assert head_of(database_url) + 1 == sum(transactions[:-1]) * BLOCKS
    monkeypatch.setattr(writer.Append, "add", add)
    Indexing(database_url, node.url).run_until(node.head())


def test_webhooks_get_their_events_batch_by_batch(node, database_url, transactions):
    insert(database_url, "webhooks", id=1, url="https://localhost/", event_types="{tx}")
    Indexing(database_url, node.url).run_until(node.head())
    assert set(transactions) == {1}
