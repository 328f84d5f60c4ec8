"""Forks and kills while a bulk backfill runs, and what it refuses to begin on; and a fork while
older bodies are stored."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.extensions.backfill import body_backfill, chain_backfill
from scan.extensions.backfill.plan import CannotBackfill, CannotBegin
from scan.extensions.backfill.tests.backfilling import backfill, follow
from tests.support import database, indexing, serving
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import collections, honest_tokens, wrappers
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough

DEPTH = 6


@pytest.fixture
def stage(anvil):
    """A token is made in the last DEPTH blocks."""
    stage = Stage(anvil)
    for act in (honest_tokens, collections, wrappers):
        act(stage)
    stage.deploy("silver", "Coin", "Ridge Silver", "RSLV", 18)
    stage.do(0, "silver", "mint", stage.people[1], 10**18)
    stage.mine()
    for amount in range(1, DEPTH - 2):
        stage.do(1, "silver", "transfer", stage.people[2], amount)
        stage.mine()
    return stage


def fork(stage):
    """The last blocks replaced by as many without the token, and others after them."""
    stage.anvil.reorganise(DEPTH)
    stage.do(1, "dollar", "transfer", stage.people[2], 5)
    stage.mine()


@pytest.mark.long
@pytest.mark.parametrize("step", ["_inspect", "_load", "_accept"])
def test_blocks_of_another_fork_are_read_again(
    postgres, template, database_url, stage, tmp_path, monkeypatch, step
):
    settings = indexing.settings_for(database_url, stage.anvil.url, partition_rows=40)
    last_block = stage.anvil.head() - 1
    plainly = getattr(chain_backfill.ChainBackfill, step)
    calls = []

    def fork_first(self, plan):
        if not calls:
            fork(stage)
        calls.append(plan)
        plainly(self, plan)

    monkeypatch.setattr(chain_backfill.ChainBackfill, step, fork_first)
    assert backfill(settings, tmp_path / "files", last_block=last_block)
    assert len(calls) == 2
    follow(settings, stage.anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, stage.anvil)


@pytest.fixture
def chain(anvil):
    """A transaction in one of its blocks."""
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
    anvil.mine(12)
    return anvil


def test_an_index_with_blocks_is_left_alone(database_url, chain, tmp_path):
    settings = indexing.Indexing(database_url, chain.url).run_until(chain.head()).settings
    before = digest(database_url)
    with pytest.raises(CannotBackfill, match="holds a chain already"):
        backfill(settings, tmp_path / "files", last_block=3)
    assert digest(database_url) == before


def test_what_cannot_be_done_is_refused_and_resumed(database_url, chain, tmp_path):
    """Of little memory before anything is begun, as of what the node has otherwise at the end."""
    settings = indexing.settings_for(database_url, chain.url)
    options = {"folder": tmp_path / "files", "last_block": 9}
    with pytest.raises(CannotBegin, match=r"GB of memory is available.*lower --workers"):
        backfill(settings, processes=10**6, **options)
    assert database.execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]
    assert not options["folder"].exists()
    differences = [("transactions 1 0 is missing", 0, 9)]
    with pytest.raises(CannotBackfill, match="transactions 1 0 is missing"):
        backfill(settings, audit=lambda _: differences, **options)
    assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
    assert problem_of_the_indexer(settings) == "a bulk backfill is not finished"
    with pytest.raises(CannotBackfill, match="begun with SCAN_LOGS=none"):
        backfill(replace(settings, logs="all"), **options)
    with pytest.raises(CannotBackfill, match="begun with SCAN_BODIES=on"):
        backfill(replace(settings, stores_bodies=False), **options)
    with pytest.raises(CannotBackfill, match="lower --memory"):
        backfill(settings, memory_bytes=10**15, **options)
    audits = [differences, []]  # of the node that had it otherwise once
    assert backfill(settings, audit=lambda _: audits.pop(0), **options)
    assert not audits
    assert database.execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]


def problem_of_the_indexer(settings):
    """The first words of what it says; it writes nothing."""
    status = "SELECT problem FROM indexer_status WHERE problem <> ''"
    with indexing.Indexing(settings.database_url, ",".join(settings.rpc_urls)):
        serving.wait_until(lambda: database.execute(settings.database_url, status))
    return str(database.execute(settings.database_url, status)[0][0]).partition(":")[0]


WAITING = """
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def test_a_fork_takes_back_bodies_that_are_being_stored(
    anvil, database_url, postgres, template, monkeypatch
):
    def mine(blocks):
        for value in range(blocks):
            anvil.send(anvil.accounts[0], anvil.accounts[1], value=value)
            anvil.mine()

    def copy_and_fork(*given):
        copy_binary(*given)
        anvil.reorganise(body_backfill.READ_BLOCKS + 4)
        mine(2)
        indexer.look()  # it would take blocks back
        serving.wait_until(lambda: database.execute(database_url, WAITING) == [(1,)])

    mine(3 * body_backfill.READ_BLOCKS)
    indexing.Indexing(database_url, anvil.url, stores_bodies=False).run_until(anvil.head())
    copy_binary = body_backfill.copy_binary
    with (
        indexing.Indexing(database_url, anvil.url) as indexer,
        closing(Database(database_url, statement_timeout_ms=0)) as own,
    ):
        older = body_backfill.BodyBackfill(own, Node([anvil.url]), threading.Event())
        serving.wait_until(older.missing)
        stored = older.run()
        assert next(stored) == body_backfill.READ_BLOCKS
        with monkeypatch.context() as patch:
            patch.setattr(body_backfill, "copy_binary", copy_and_fork)
            assert next(stored) == body_backfill.READ_BLOCKS
        indexer.wait_for(anvil.head())
        assert [*stored]
    assert digest(database_url) == fresh_digest(postgres, template, anvil)
