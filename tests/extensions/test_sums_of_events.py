"""Where events do not add up to what a token answers, it is marked, and every door shows what the
node answers, in whatever way the blocks are indexed."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from app import create_app
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way, next_day
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.long
UNIT = 10**18
MARKS = "SELECT inconsistent_since FROM tokens WHERE address = %s"


class Chain(NamedTuple):
    """A chain, its index, and the requests that a test makes."""

    anvil: Anvil
    indexing: Indexing
    url: str
    get: Callable[..., object]

    def do(self, contract, function, *args, sender=0, **fields):
        sent = self.anvil.transact(
            self.anvil.accounts[sender], contract, function, *args, **fields
        )
        assert self.anvil.receipt_of(sent)["status"] == "0x1", function
        return self.anvil.head()

    def read(self):
        self.indexing.look()
        self.indexing.wait_for(self.anvil.head())

    def coin(self, *, logged=True, takes_fee=False):
        return self.anvil.deploy(self.anvil.accounts[0], "SilentCoin", 1000, logged, takes_fee)

    def since(self, contract):
        [(block,)] = execute(self.url, MARKS, bytes.fromhex(contract.address[2:]))
        return block

    def balance(self, contract, holder):
        return self.anvil.read(contract, "balanceOf", holder)

    def holders(self, contract):
        """What the holders of a token have by its list, which is checked with the node."""
        records = self.get(f"/api/v1/tokens/{contract.address}/holders")["holders"]
        balances = {record["address"]: int(record["balance"]) for record in records}
        for record in records:
            assert int(record["balance"]) == self.balance(contract, record["address"])
        return balances


@pytest.fixture
def chain(anvil, database_url):
    with Indexing(database_url, anvil.url) as indexing:
        client = create_app(indexing.settings).test_client()
        yield Chain(anvil, indexing, database_url, lambda path: client.get(path).get_json())


def test_a_mint_a_fee_a_burn_and_a_rebase_without_events(chain, postgres, template, tmp_path):
    one, two = chain.anvil.accounts[:2]
    minted, fee, burnt, rebased = (
        chain.coin(logged=False),
        chain.coin(takes_fee=True),
        chain.coin(),
        chain.coin(),
    )
    honest, buried = chain.coin(), chain.coin()
    for coin in (minted, fee, burnt, rebased, honest):
        chain.do(coin, "transfer", two, 100)
    chain.do(buried, "bury", 100)  # the zero address keeps it
    chain.read()
    marks = {coin.address: chain.since(coin) for coin in (burnt, rebased, honest, buried)}
    assert set(marks.values()) == {None}
    assert None not in (chain.since(minted), chain.since(fee))
    in_block = chain.do(burnt, "burn", 400)
    chain.read()
    assert chain.since(burnt) == in_block
    in_block = chain.do(rebased, "rebase", 3)
    chain.read()
    assert chain.since(rebased) == in_block
    assert chain.holders(minted) == {one: 900, two: 100}
    assert chain.holders(fee) == {one: 900, two: 90}
    assert chain.holders(burnt) == {one: 500, two: 100}
    assert chain.holders(rebased) == {one: 2700, two: 300}
    assert chain.holders(honest) == {one: 900, two: 100}
    for coin, is_consistent in ((honest, True), (buried, True), (minted, False), (fee, False)):
        record = chain.get(f"/api/v1/tokens/{coin.address}")
        assert record["eventsConsistent"] is is_consistent
        assert ("inconsistentSince" in record) is not is_consistent
    is_the_same_in_whatever_way(postgres, template, chain.anvil, chain.url, tmp_path)


def test_a_rebase_inside_of_another_call_is_read_on_the_next_day(chain):
    coin, keeper = chain.coin(), chain.anvil.deploy(chain.anvil.accounts[0], "SilentKeeper")
    chain.do(coin, "transfer", chain.anvil.accounts[1], 100)
    chain.do(keeper, "keep", coin.address, 3)
    chain.read()
    next_day(chain.anvil)
    chain.read()
    assert chain.since(coin) == chain.anvil.head()
    assert chain.get(f"/api/v1/tokens/{coin.address}")["totalSupply"] == "3000"
    assert chain.holders(coin)[chain.anvil.accounts[1]] == 300


def test_a_fork_takes_a_mark_back(chain, postgres, template):
    coin = chain.coin()
    chain.do(coin, "transfer", chain.anvil.accounts[1], 100)
    chain.do(coin, "rebase", 3)
    chain.read()
    assert chain.since(coin) == chain.anvil.head()
    chain.anvil.reorganise(1)
    chain.anvil.mine(2)
    chain.read()
    assert chain.since(coin) is None
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert (record["totalSupply"], record["eventsConsistent"]) == ("1000", True)
    assert digest(chain.url) == fresh_digest(postgres, template, chain.anvil)
