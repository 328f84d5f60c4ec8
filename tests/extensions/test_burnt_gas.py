"""Contracts that burn all gas of every call cost a block a bounded amount of the node's work, and
hold up neither the head nor the readings of others."""

from collections import defaultdict
from types import SimpleNamespace

import pytest

from scan.indexer import contract_state, stale_state
from tests.extensions.world import World
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, altering

pytestmark = pytest.mark.long
BURNERS = 150  # more than are read before their block is written
TRANSFER, UPGRADED, DEPOSIT, SWAP, ITEM = range(5)
GAS_S = 1e-9  # that a node takes to burn a unit of gas, whatever else this machine does


@pytest.fixture
def burning(anvil):
    """Makes burners emit an event of a kind, in a block with other transactions."""
    me = anvil.accounts[0]
    burners = anvil.deploy(me, "GasSinks")
    for _ in range(3):
        made = anvil.receipt_of(anvil.transact(me, burners, "make", BURNERS // 3, gas=25_000_000))
        assert made["status"] == "0x1"

    def burn(kind, *others):
        sent = [anvil.transact(me, burners, "emitAll", kind, gas=10_000_000)]
        sent += [anvil.transact(me, *call) for call in others]
        anvil.mine()
        for hash_ in sent:
            assert anvil.call("eth_getTransactionReceipt", hash_)["status"] == "0x1"
        return anvil.head()

    return burn


class Work:
    """What eth_calls there were while each block was the head, how many codes were read, and by a
    clock how long contracts other than the coin took."""

    def __init__(self, url, clock, coin):
        self._url, self._clock, self._coin = url, clock, coin
        self.gas = defaultdict(int)
        self.called = defaultdict(dict)  # addresses, in their order
        self.codes = 0

    def note(self, call, _answer):
        self.codes += call["method"] == "eth_getCode"
        if call["method"] == "eth_call":
            [(head,)] = execute(self._url, "SELECT max(number) FROM blocks")
            called = call["params"][0]
            gas = int(called.get("gas", "0x0"), 16)
            self.gas[head] += gas
            self.called[head].setdefault(called["to"])
            self._clock.now += GAS_S * gas * (called["to"] != self._coin)


def test_a_block_of_burners_costs_the_node_a_bounded_amount(anvil, places, burning, monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(stale_state, "time", clock)
    monkeypatch.setattr(stale_state, "SLOW_RESTS", 0)
    most_codes = 40
    monkeypatch.setattr(contract_state, "MOST_CODES", most_codes)
    with FaultyNode(anvil.url) as node, World(anvil, places, node.url) as world:
        coin = world.deploy("SilentCoin", 1000, True, False)
        world.do(coin, "transfer", world.you, 1)
        world.read()
        read = "SELECT supply_block FROM tokens WHERE address = %s"
        for kind in (TRANSFER, UPGRADED, UPGRADED, DEPOSIT, SWAP, ITEM):
            before, work = world.head, Work(world.url, clock, coin.address)
            node.fault = altering(work.note)
            head = burning(kind, (coin, "transfer", world.you, 1))
            world.read()
            node.fault = None
            assert work.gas[before] <= contract_state.BLOCK_GAS
            # Of all burners at first.
            assert work.codes <= (2 * BURNERS if kind == TRANSFER else 2 * most_codes)
            assert [*work.called[head]].index(coin.address) < 2 * stale_state.FIRST_TOGETHER
            assert world.sql(read, bytes.fromhex(coin.address[2:])) == [(head,)]
        unread = "SELECT count(*) FROM rejected_emitters WHERE claim = 'unread'"
        assert world.sql(unread)[0][0] > 0
        world.is_the_same_in_whatever_way()
        world.fork(4, mined=4)
