"""Children of factories while commands are killed, blocks fork, and rules come and go."""

import itertools
import os
import subprocess
import sys
import threading
import time
from random import Random
from types import SimpleNamespace

import pytest

from scan import registry
from scan.extensions.events import following as events_following
from scan.extensions.events import indexing
from scan.extensions.events.following import children_of
from scan.extensions.events.tests.coffers import address_of, following
from scan.extensions.events.tests.random_children import Factories
from tests.support import auditing
from tests.support.database import execute
from tests.support.indexing import Indexing, index_apart
from tests.support.scan_command import scan
from tests.support.serving import ROOT, wait_until
from tests.support.table_digest import digest
from tests.support.world import World

pytestmark = pytest.mark.thorough
UNFINISHED = """
    SELECT 1 FROM followed_contracts WHERE complete_from > 0 OR abi_digest IS NULL
    UNION ALL SELECT 1 FROM followed_contracts JOIN followed_children USING (address)
    UNION ALL SELECT 1 FROM followed_children
        WHERE followed_as NOT IN (SELECT address FROM followed_contracts)
    UNION ALL SELECT 1 FROM undecoded_events LIMIT 1
"""


@pytest.fixture
def factories(world, tmp_path):
    """Some logs are indexed, and nothing is followed yet."""
    factories = Factories(world.anvil, Random(3), tmp_path, children=8, events=3)
    factories.play(200)
    world.read()
    return factories


def finish(world, url=None):
    """Until what runs beside the indexer has nothing left to do."""
    settings = world.settings if url is None else Indexing(url, world.anvil.url).settings
    stop = threading.Event()
    beside = threading.Thread(target=indexing.run_beside, args=(settings, stop))
    beside.start()
    wait_until(lambda: not execute(settings.database_url, UNFINISHED))
    stop.set()
    beside.join()


@pytest.mark.parametrize("seed", range(3))
def test_killed_commands_are_finished_beside_the_indexer(world, factories, seed):
    random = Random(seed)
    environment = {**os.environ, "DATABASE_URL": world.url, "RPC_URL": world.anvil.url}
    for rule in factories.rules:
        command = [sys.executable, "-m", "scan", *map(str, factories.command(rule))]
        process = subprocess.Popen(command, env=environment, cwd=ROOT)
        factories.play(40)
        time.sleep(random.uniform(0, 1.5))
        process.kill()
        process.wait()
        world.read()
    finish(world)
    factories.add(world.url)
    world.read()
    names = "SELECT name FROM followed_contracts WHERE factory IS NOT NULL ORDER BY added_at"
    added = [name for (name,) in world.sql(names)]
    factories.rules.sort(key=lambda rule: added.index(rule.name))
    factories.require(world.url)
    assert world.audit() == auditing.EXACT


@pytest.mark.parametrize("settings", [{"logs": "all"}, {"logs": "none", "stores_bodies": False}])
def test_forks_while_logs_are_filled(anvil, places, settings):
    """Of what is stored, and of the node."""
    with World(anvil, places, **settings) as world:
        factories = Factories(anvil, Random(4), world.folder, children=8, events=3)
        factories.play(200)
        world.read()
        connection, followed = following(world.url, anvil.url)
        with connection:
            followed.step_bytes = 1  # one block a step
            followed.add(address_of(factories.own), "own", factories.abi_file.read_text())
            for rule in factories.rules:
                children = children_of(address_of(rule.factory), rule.declaration, rule.argument)
                followed.add_children(children, rule.name, factories.abi_file.read_text())
            followed.make_views()
            for depth in (1, 2, 4, 6):
                for fill in followed.fills():
                    followed.fill(fill)
                followed.begin_children()
                stale = followed.fills()
                factories.fork(depth, 60)
                world.read()
                assert {
                    followed.fill(fill) for fill in stale if fill.complete_from > world.head
                } <= {None}
        finish(world)
        factories.require(world.url)
        assert world.audit(node=True) == auditing.EXACT
        has_data = world.sql("SELECT DISTINCT data IS NOT NULL FROM contract_events")
        assert has_data == [(settings["logs"] != "all",)]  # nothing is stored twice


def test_forks_between_the_steps_that_find_children(world, factories, monkeypatch):
    connection, followed = following(world.url, world.anvil.url)
    first = factories.logs[0].block

    def fork():
        factories.fork(world.head - first + 1, 240)
        world.read()

    acts = itertools.cycle((fork, int))  # before and after a step, which takes no time

    with connection:
        for rule in factories.rules:
            children = children_of(address_of(rule.factory), rule.declaration, rule.argument)
            followed.add_children(children, rule.name, factories.abi_file.read_text())
        for fill in followed.fills():
            followed.fill(fill)
        monkeypatch.setattr(
            events_following, "time", SimpleNamespace(monotonic=lambda: next(acts)() or 0)
        )
        followed.begin_children()
        monkeypatch.undo()
    factories.add(world.url)
    finish(world)
    factories.require(world.url)
    assert world.audit() == auditing.EXACT


def test_what_a_removed_rule_had_is_of_others_and_comes_back(world, factories):
    factories.add(world.url)
    first, *others = factories.rules
    refused = scan(
        "events", "remove", first.factory, "--name", "first_factory", DATABASE_URL=world.url
    )
    assert (refused.returncode != 0, "remove first, other first" in refused.stderr) == (True, True)
    factories.scan(world.url, "events", "remove", first.factory, "--name", first.name)
    factories.rules = others
    finish(world)
    factories.require(world.url)
    factories.play(60)
    world.read()
    factories.scan(world.url, *factories.command(first))
    factories.rules = [*others, first]
    factories.require(world.url)
    factories.scan(world.url, "events", "remove", factories.own)
    factories.itself.remove(factories.own)
    finish(world)
    factories.require(world.url)
    factories.fork(4, 60)
    world.read()
    factories.require(world.url)
    assert world.audit() == auditing.EXACT
    for factory in factories.factories:
        factories.scan(world.url, "events", "remove", factory)
    kept = ("contract_events", "decoded_events", "undecoded_events", "contract_event_counts")
    for table in (*kept, "followed_children"):
        assert world.sql(f"SELECT count(*) FROM {table}") == [(0,)]  # noqa: S608


def test_a_removal_that_ends_between_two_steps_is_continued_through_forks(
    world, factories, monkeypatch
):
    factories.add(world.url)
    of_children = [rule for rule, _ in factories.named().values()]
    rule = max(factories.rules, key=of_children.count)
    own = address_of(factories.own)
    removed = [children_of(address_of(rule.factory), rule.declaration, rule.argument).address, own]
    monkeypatch.setattr(events_following, "STEP_REMOVED", 1)
    connection, followed = following(world.url, world.anvil.url)
    with connection:
        for address in removed:
            assert followed.remove(address) != []
        assert {*removed}.isdisjoint(contract.address for contract in followed.contracts())
        for depth in (1, 2, 3):
            assert followed.continue_removals()
            factories.fork(depth, 40)
            world.read()
    left = "events/removals_list"
    assert len(world.database.rows(left)) == 2
    settings = {"DATABASE_URL": world.url, "RPC_URL": world.anvil.url}
    for command in (factories.command(rule), ("events", "add", factories.own)):
        refused = scan(*map(str, command), **settings)
        assert (refused.returncode, "removal has not ended" in refused.stderr) == (1, True)
    factories.scan(world.url, "events", "remove", rule.factory, "--name", rule.name)
    assert world.database.rows(left) == []
    factories.rules.remove(rule)
    factories.itself.remove(factories.own)
    finish(world)
    factories.require(world.url)
    assert world.audit() == auditing.EXACT
    factories.scan(world.url, *factories.command(rule))
    factories.rules.append(rule)
    factories.require(world.url)


def test_a_child_is_followed_for_itself_once_that_is_asked_for(world, factories):
    own, factories.own = factories.own, factories.children[0]
    factories.itself.remove(own)
    for rule in factories.rules:
        factories.scan(world.url, *factories.command(rule))
    factories.add(world.url)
    factories.itself.add(factories.own)
    factories.require(world.url)
    factories.play(60)
    world.read()
    factories.require(world.url)


def test_contracts_of_builds_become_children_once_logs_name_them(world, factories):
    build = "INSERT INTO built_abis SELECT code_hash, 'Pool', '[]', now() FROM contracts"
    world.sql(f"{build} WHERE address = %s", address_of(factories.own))
    finish(world)
    assert world.sql("SELECT count(*) FROM followed_contracts WHERE is_automatic") == [(12,)]
    factories.itself.remove(factories.own)
    for rule in factories.rules:
        factories.scan(world.url, *factories.command(rule))
    factories.play(60)
    world.read()
    finish(world)
    factories.require(world.url)
    assert world.audit() == auditing.EXACT


def test_restored_rules_find_their_children(world, factories, tmp_path):
    """In an index that is there, and in one that is made after them, block by block or in bulk."""
    factories.add(world.url)
    factories.fork(3, 60)
    world.read()
    file = tmp_path / "owners.jsonl"
    factories.scan(world.url, "backup", "--owners", file)
    in_bulk = ("backfill", "chain", f"--folder={tmp_path / 'bulk'}", "--workers=1", "--memory=1")
    for order in ("index restore", "restore index", "restore bulk index"):
        with world.postgres.cloned(world.template) as url:
            for step in order.split():
                match step:
                    case "index":
                        Indexing(url, world.anvil.url).run_until(world.head)
                    case "restore":
                        factories.scan(url, "restore", "--owners", file)
                    case "bulk":
                        factories.scan(url, *in_bulk, f"--last-block={world.head - 2}")
            finish(world, url)
            factories.require(url)
            assert digest(url) == digest(world.url)


def test_the_extension_is_off_for_some_blocks_and_a_fork(world, factories):
    factories.add(world.url)
    world.indexing.stop()
    world.indexing.wait_for_end()
    factories.fork(5, 60)
    without_events = ",".join(name for name in registry.installed() if name != "events")
    index_apart(world.url, world.anvil, without_events)
    factories.play(60)
    with Indexing(world.url, world.anvil.url, until=world.head):
        finish(world)
        factories.require(world.url)
        assert world.audit() == auditing.EXACT


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM contract_events e USING followed_children c WHERE c.address = e.address",
        "DELETE FROM followed_children WHERE address IN (SELECT address FROM contract_events)",
        "INSERT INTO contract_events SELECT ordinal + 1000, block_number, 0, log_index + 1000,"
        " address, topic0 FROM contract_events LIMIT 1",
    ],
)
def test_an_audit_finds_rows_of_children(world, factories, change):
    factories.add(world.url)
    assert world.audit() == auditing.EXACT
    auditing.spoil(world.settings, change)
    assert world.audit() == auditing.DIFFERS
