"""Contracts that burn all gas of every call cost a block a bounded amount of the node's work, and
hold up neither the head nor the readings of others."""

from collections import Counter, defaultdict
from types import SimpleNamespace

import pytest

from scan.indexer import contract_state, stale_state
from tests.extensions.world import World
from tests.support.faulty_node import altering

pytestmark = pytest.mark.long


def test_a_block_of_burners_costs_the_node_a_bounded_amount(anvil, node, places, monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    gas_s = 1e-9  # that a node takes to burn a unit of gas, whatever else this machine does
    monkeypatch.setattr(stale_state, "time", clock)
    monkeypatch.setattr(stale_state, "SLOW_RESTS", 0)
    most_codes = 40
    monkeypatch.setattr(contract_state, "MOST_CODES", most_codes)
    # While each block was the head: the gas and the addresses of eth_calls, in their order.
    gas, called = defaultdict(int), defaultdict(dict)
    methods = Counter()

    def note(call, _answer):
        methods[call["method"]] += 1
        if call["method"] == "eth_call":
            [(head,)] = world.sql("SELECT max(number) FROM blocks")
            to, given = call["params"][0]["to"], int(call["params"][0].get("gas", "0x0"), 16)
            gas[head] += given
            called[head].setdefault(to)
            clock.now += gas_s * given * (to != coin.address)

    with World(anvil, places, node.url) as world:
        count = 150  # more than are read before their block is written
        burners = anvil.deploy(world.me, "GasSinks")
        for _ in range(3):
            world.do(burners, "make", count // 3, gas=25_000_000)
        coin = world.deploy("SilentCoin", 1000, True, False)
        world.do(coin, "transfer", world.you, 1)
        world.read()
        read = "SELECT supply_block FROM tokens WHERE address = %s"
        transfer, upgraded, deposit, swap, item = range(5)
        kinds = (transfer, upgraded, upgraded, deposit, swap, item)
        # Of all burners at first.
        for kind, codes in zip(kinds, (count, *[most_codes] * 5), strict=True):
            before = world.head
            for noted in (gas, called, methods):
                noted.clear()
            node.fault = altering(note)
            sent = [
                world.queue(burners, "emitAll", kind, gas=10_000_000),
                world.queue(coin, "transfer", world.you, 1),
            ]
            anvil.mine()
            assert {anvil.receipt_of(hash_)["status"] for hash_ in sent} == {"0x1"}
            world.read()
            node.fault = None
            assert gas[before] <= contract_state.BLOCK_GAS
            assert methods["eth_getCode"] <= 2 * codes
            assert [*called[world.head]].index(coin.address) < 2 * stale_state.FIRST_TOGETHER
            assert world.sql(read, bytes.fromhex(coin.address[2:])) == [(world.head,)]
        unread = "SELECT count(*) FROM rejected_emitters WHERE claim = 'unread'"
        assert world.sql(unread)[0][0] > 0
        world.is_the_same_in_whatever_way()
        world.fork(4, mined=4)
