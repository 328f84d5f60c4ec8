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


@pytest.mark.long
@pytest.mark.parametrize("step", ["_inspect", "_load", "_accept"])
def test_blocks_of_another_fork_are_read_again(
    postgres, template, database_url, anvil, tmp_path, monkeypatch, step
):
    """A token is made in the last blocks, and is not in those that take their place."""
    stage, depth = Stage(anvil), 6
    for act in (honest_tokens, collections, wrappers):
        act(stage)
    stage.deploy("silver", "Coin", "Ridge Silver", "RSLV", 18)
    stage.do(0, "silver", "mint", stage.people[1], 10**18)
    stage.mine()
    for amount in range(1, depth - 2):
        stage.do(1, "silver", "transfer", stage.people[2], amount)
        stage.mine()
    settings = indexing.settings_for(database_url, anvil.url, partition_rows=40)
    last_block = anvil.head() - 1
    plainly = getattr(chain_backfill.ChainBackfill, step)
    calls = []

    def fork_first(self, plan):
        if not calls:
            anvil.reorganise(depth)
            stage.do(1, "dollar", "transfer", stage.people[2], 5)
            stage.mine()
        calls.append(plan)
        plainly(self, plan)

    monkeypatch.setattr(chain_backfill.ChainBackfill, step, fork_first)
    assert backfill(settings, tmp_path / "files", last_block=last_block)
    assert len(calls) == 2
    follow(settings, anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_an_index_with_blocks_is_left_alone(database_url, anvil, tmp_path):
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
    anvil.mine(12)
    settings = indexing.Indexing(database_url, anvil.url).run_until(12).settings
    before = digest(database_url)
    with pytest.raises(CannotBackfill, match="holds a chain already"):
        backfill(settings, tmp_path / "files", last_block=3)
    assert digest(database_url) == before


def test_what_cannot_be_done_is_refused_and_resumed(database_url, anvil, tmp_path):
    """Of little memory before anything is begun, as of what the node has otherwise at the end."""
    anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
    anvil.mine(12)
    settings = indexing.settings_for(database_url, anvil.url)
    options = {"folder": tmp_path / "files", "last_block": 9}
    with pytest.raises(CannotBegin, match=r"GB of memory is available.*lower --workers"):
        backfill(settings, processes=10**6, **options)
    assert database.execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]
    assert not options["folder"].exists()
    differences = [("transactions 1 0 is missing", 0, 9)]
    with pytest.raises(CannotBackfill, match="transactions 1 0 is missing"):
        backfill(settings, audit=lambda _: differences, **options)
    assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
    problem = "SELECT problem FROM indexer_status WHERE problem <> ''"
    with indexing.Indexing(database_url, anvil.url):  # which writes nothing
        serving.wait_until(lambda: database.execute(database_url, problem))
    [(problem_text,)] = database.execute(database_url, problem)
    assert problem_text.startswith("a bulk backfill is not finished:")
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


def test_a_fork_takes_back_bodies_that_are_being_stored(
    anvil, database_url, postgres, template, monkeypatch
):
    waiting = """
        SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
    """

    def mine(blocks):
        for value in range(blocks):
            anvil.send(anvil.accounts[0], anvil.accounts[1], value=value)
            anvil.mine()

    def copy_and_fork(*given):
        copy_binary(*given)
        anvil.reorganise(body_backfill.READ_BLOCKS + 4)
        mine(2)
        indexer.look()  # it would take blocks back
        serving.wait_until(lambda: database.execute(database_url, waiting) == [(1,)])

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
