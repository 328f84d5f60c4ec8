"""Random factories: views have the logs of the contracts that they name, and no others."""

from random import Random

import pytest

from scan.extensions.events.tests.random_children import Factories
from scan.extensions.events.tests.random_events import rows_of
from tests.support import auditing
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scan_command import scan
from tests.support.table_digest import digest
from tests.support.world import World

THOROUGH, LONG = pytest.mark.thorough, pytest.mark.long
NAMED = """
    SELECT hex(c.address), f.name, c.block_number FROM followed_children c
    JOIN followed_contracts f ON f.address = c.followed_as
"""
SIZES = [(300, 8, 4), pytest.param(20_000, 60, 12, marks=LONG)]  # logs, children, events


def require_all(factories, url):
    """Views and the contracts of factories are what the logs say."""
    rows = ((child, of.name, block) for child, (of, block) in factories.named().items())
    assert sorted(execute(url, NAMED)) == sorted(rows)
    of_log = ("log_index", "contract")
    for number, event in enumerate(factories.abi):
        rows = rows_of(url, f"events.own_event{number}", event, *of_log)
        assert rows == factories.expected_of_own(number)
        for rule in factories.rules:
            rows = rows_of(url, f"events.{rule.name}_event{number}", event, *of_log)
            assert rows == factories.expected(rule, number), (rule.declaration, event)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=THOROUGH) for n in range(2, 5))])
@pytest.mark.parametrize(("logs", "children", "events"), SIZES)
def test_children_of_before_and_of_later_through_forks_and_in_a_fresh_index(
    world, tmp_path, seed, logs, children, events
):
    factories = Factories(world.anvil, Random(seed), tmp_path, children=children, events=events)
    factories.play(logs // 2)
    world.read()
    factories.add(world.url)
    require_all(factories, world.url)
    factories.play(logs // 2)
    world.read()
    require_all(factories, world.url)
    for depth in (1, 3, 6):
        factories.fork(depth, 40)
        world.read()
        require_all(factories, world.url)
    with world.postgres.cloned(world.template) as url:
        with Indexing(url, world.anvil.url, until=world.head):
            factories.add(url)
            require_all(factories, url)
        assert digest(url) == digest(world.url)
    assert world.audit() == auditing.EXACT
    done = scan("rebuild", "contract_events", "--workers", "1", DATABASE_URL=world.url)
    assert done.returncode == 0, done.stderr
    require_all(factories, world.url)


@pytest.mark.parametrize(
    "settings",
    [
        {"logs": "all"},
        pytest.param({"logs": "standard"}, marks=THOROUGH),
        {"logs": "none", "stores_bodies": False},
        pytest.param({"logs": "all", "stores_bodies": False}, marks=THOROUGH),
    ],
)
def test_children_whatever_is_stored(anvil, places, settings):
    with World(anvil, places, **settings) as world:
        factories = Factories(anvil, Random(5), world.folder, children=6, events=3)
        factories.play(150)
        world.read()
        factories.add(world.url)
        factories.play(100)
        world.read()
        require_all(factories, world.url)
        factories.fork(2, 40)
        world.read()
        require_all(factories, world.url)
        assert world.audit(node=True) == auditing.EXACT
