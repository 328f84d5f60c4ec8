"""The child contracts of a factory: those that its logs name."""

import json

import pytest

from tests.support import auditing
from tests.support.anvil import Contract
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scan_command import scan
from tests.support.solidity import artifact
from tests.support.table_digest import digest
from tests.support.world import World

PAIR_CREATED = "PairCreated(address indexed token0, address indexed token1, address pair, uint256)"
APPROVALS = "SELECT contract, value::integer FROM events.pair_approval ORDER BY block_number"


class Factory:
    """Uniswap's factory of pairs, made of tokens that are addresses alone."""

    def __init__(self, world):
        self.world = world
        self.contract = world.deploy("UniswapV2Factory", world.me)
        self.pairs = []
        self.abi = world.folder / "Pair.json"
        self.abi.write_text(json.dumps(artifact("UniswapV2Pair").abi))

    def create(self):
        tokens = (f"0x{number:040x}" for number in (1, 100 + self.world.head))
        self.world.do(self.contract, "createPair", *tokens)
        count = self.world.anvil.read(self.contract, "allPairsLength")
        pair = self.world.anvil.read(self.contract, "allPairs", count - 1)
        return Contract(pair, artifact("UniswapV2Pair"))

    def approve(self, pair, value):
        self.world.do(pair, "approve", self.world.you, value)
        return pair.address, value

    def add(self, url=None):
        chosen = ("--children", PAIR_CREATED, "--argument", "pair", "--abi", str(self.abi))
        settings = {"DATABASE_URL": url or self.world.url, "RPC_URL": self.world.anvil.url}
        done = scan("events", "add", self.contract.address, *chosen, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def factory(world):
    return Factory(world)


def test_children_of_before_and_of_later_are_rows_of_one_view(world, factory):
    before = factory.create()
    rows = [factory.approve(before, 1)]
    world.read()
    assert "address pair, uint256): 1" in factory.add()
    rows.append(factory.approve(before, 2))
    later = factory.create()
    rows.append(factory.approve(later, 3))
    world.read()
    assert world.sql(APPROVALS) == rows
    named = world.sql("SELECT pair FROM events.pair_factory_pair_created ORDER BY block_number")
    assert named == [(before.address,), (later.address,)]


def test_a_fork_takes_back_who_was_named_and_a_fresh_index_has_the_same(world, factory):
    kept = factory.create()
    world.read()
    factory.add()
    rows = [factory.approve(kept, 1)]
    orphaned = factory.create()
    factory.approve(orphaned, 2)
    world.read()
    world.anvil.reorganise(2)
    rows += [factory.approve(kept, 3), factory.approve(factory.create(), 4)]
    world.read()
    assert world.sql(APPROVALS) == rows
    with world.postgres.cloned(world.template) as url:
        with Indexing(url, world.anvil.url, until=world.head):
            factory.add(url)
        assert execute(url, APPROVALS) == rows
        assert digest(url) == digest(world.url)
    assert world.audit() == auditing.EXACT
    done = scan("rebuild", "contract_events", "--workers", "1", DATABASE_URL=world.url)
    assert done.returncode == 0, done.stderr
    assert world.sql(APPROVALS) == rows


@pytest.mark.parametrize(
    "settings", [{"logs": "all"}, {"logs": "standard"}, {"stores_bodies": False, "logs": "none"}]
)
def test_children_whatever_is_stored(anvil, places, settings):
    with World(anvil, places, **settings) as world:
        factory = Factory(world)
        before = factory.create()
        rows = [factory.approve(before, number) for number in range(3)]
        world.read()
        factory.add()
        rows.append(factory.approve(before, 4))
        world.read()
        assert world.sql(APPROVALS) == rows
