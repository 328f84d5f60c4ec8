"""Random factories: views have the logs of the contracts that they name, and no others."""

from random import Random

import pytest

from scan.extensions.events.tests.random_children import Factories
from tests.support import auditing
from tests.support.indexing import Indexing
from tests.support.scan_command import scan
from tests.support.table_digest import digest


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(2, 5))]
)
def test_children_of_before_and_of_later_through_forks_and_in_a_fresh_index(world, tmp_path, seed):
    factories = Factories(world.anvil, Random(seed), tmp_path, children=8, events=12)
    factories.play(150)
    world.read()
    factories.add(world.url)
    factories.require(world.url)
    factories.play(150)
    world.read()
    factories.require(world.url)
    for depth in (1, 3, 6):
        factories.fork(depth, 40)
        world.read()
        factories.require(world.url)
    with world.postgres.cloned(world.template) as url:
        with Indexing(url, world.anvil.url, until=world.head):
            factories.add(url)
            factories.require(url)
        assert digest(url) == digest(world.url)
    assert world.audit() == auditing.EXACT
    done = scan("rebuild", "contract_events", "--workers", "1", DATABASE_URL=world.url)
    assert done.returncode == 0, done.stderr
    factories.require(world.url)
