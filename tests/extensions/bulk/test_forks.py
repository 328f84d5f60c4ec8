"""Forks while a bulk backfill runs, and what it refuses to begin on."""

import time
from dataclasses import replace

import pytest

from scan.extensions.bulk import chain_backfill
from scan.extensions.bulk.chain_backfill import ChainBackfill
from scan.extensions.bulk.plan import CannotBackfill
from scan.settings import Settings
from tests.extensions.bulk.backfilling import backfill, follow
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing, settings_for
from tests.support.scenario import Stage, collections, honest_tokens, wrappers
from tests.support.table_digest import digest, fresh_digest

DEPTH = 6


@pytest.fixture
def stage(anvil: Anvil) -> Stage:
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


def fork(stage: Stage) -> None:
    """The last blocks replaced by as many without the token, and others after them."""
    stage.anvil.reorganise(DEPTH)
    stage.do(1, "dollar", "transfer", stage.people[2], 5)
    stage.mine()


@pytest.mark.long
@pytest.mark.parametrize("step", ["_inspect", "_load", "_accept"])
def test_blocks_of_another_fork_are_read_again(
    postgres, template, database_url, stage, tmp_path, monkeypatch, step
):
    settings = settings_for(database_url, stage.anvil.url, partition_rows=40)
    last_block = stage.anvil.head() - 1
    plainly = getattr(ChainBackfill, step)
    calls = []

    def fork_first(self: ChainBackfill, plan: object) -> None:
        if not calls:
            fork(stage)
        calls.append(plan)
        plainly(self, plan)

    monkeypatch.setattr(ChainBackfill, step, fork_first)
    assert backfill(settings, tmp_path / "files", last_block=last_block)
    assert len(calls) == 2
    follow(settings, stage.anvil.head())
    assert digest(database_url) == fresh_digest(postgres, template, stage.anvil)


def test_an_index_with_blocks_is_left_alone(database_url, stage, tmp_path):
    settings = settings_for(database_url, stage.anvil.url)
    Indexing(database_url, stage.anvil.url).run_until(stage.anvil.head())
    before = digest(database_url)
    with pytest.raises(CannotBackfill, match="holds a chain already"):
        backfill(settings, tmp_path / "files", last_block=3)
    assert digest(database_url) == before


def test_what_differs_from_the_node_is_read_again_and_not_accepted(
    database_url, stage, tmp_path, monkeypatch
):
    monkeypatch.setattr(chain_backfill, "READINGS", 1)
    settings = settings_for(database_url, stage.anvil.url)
    options = {"last_block": stage.anvil.head() - 3}
    with pytest.raises(CannotBackfill, match="transactions 1 0 is missing"):
        differences = [("transactions 1 0 is missing", 0, 19)]
        backfill(settings, tmp_path / "files", audit=lambda _: differences, **options)
    assert execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
    assert problem_of_the_indexer(settings) == "a bulk backfill is not finished"
    with pytest.raises(CannotBackfill, match="begun with SCAN_LOGS=none"):
        backfill(replace(settings, logs="all"), tmp_path / "files", **options)
    monkeypatch.undo()
    audits = [differences, []]  # of the node that had it otherwise once
    assert backfill(settings, tmp_path / "files", audit=lambda _: audits.pop(0), **options)
    assert not audits
    assert execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]


def problem_of_the_indexer(settings: Settings) -> str:
    """The first words of what it says; it writes nothing."""
    with Indexing(settings.database_url, ",".join(settings.rpc_urls)):
        while True:
            rows = execute(settings.database_url, "SELECT problem FROM indexer_status")
            if rows and rows[0][0]:
                break
            time.sleep(0.02)
    return str(rows[0][0]).partition(":")[0]
