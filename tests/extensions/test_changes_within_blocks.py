"""What a contract is changes within a block."""

import pytest

from tests.extensions.lives import Forms, mortals, older_anvil
from tests.extensions.world import world
from tests.support import auditing
from tests.support.anvil import Contract

__all__ = ["mortals", "older_anvil", "world"]
pytestmark = pytest.mark.thorough


def test_an_implementation_may_change_between_the_transfers_of_a_block(world):
    you = world.you
    coin, second, items = map(world.deploy, ("MortalCoin", "SecondCoin", "MortalItems"))
    proxies = first, middle, last = [world.deploy("Replaceable", coin.address) for _ in range(3)]

    def mint(proxy, implementation, value):
        return Contract(proxy.address, implementation.artifact), "mint", you, value

    for proxy in proxies:
        world.in_one_block(mint(proxy, coin, 5))
    world.read()
    forms = [Forms(world, proxy.address) for proxy in proxies]
    world.in_one_block(
        mint(first, coin, 7),
        (first, "replace", second.address),
        mint(first, second, 8),
        (middle, "replace", items.address),
        mint(middle, items, 9),
        mint(last, coin, 6),
        (last, "replace", items.address),
        mint(last, items, 9),
    )
    world.anvil.mine(2)  # which a bulk backfill leaves to the indexer
    world.read()
    world.is_the_same_in_whatever_way()
    of_item = ("Items", 0, "BEP721", 1, {(you, "1")})
    coins = ("Second", 6, "BEP20", 1, {(you, "20")})
    assert [form.token() for form in forms] == [coins, of_item, of_item]
    assert forms[1].transfers() == [("1", "ITEMS", "BEP721"), ("5", "FIRST", "BEP20")]
    assert world.audit(node=True) == auditing.EXACT
    world.fork(3, mined=2)
    assert [form.token() for form in forms] == [("First", 18, "BEP20", 1, {(you, "5")})] * 3


def test_another_contract_may_begin_in_the_block_in_which_one_ends(mortals):
    you = mortals.you
    mortal = mortals.bear("MortalCoin")
    mortals.do(mortal, "mint", you, 5)
    items = mortals.mortal("MortalItems")
    mortals.read()
    forms = Forms(mortals, mortals.address)
    mortals.in_one_block(
        (mortal, "mint", you, 4),
        (mortal, "end"),
        (mortals.cradle, "bear", items.artifact.runtime),
        (items, "mint", you, 3),
    )
    mortals.anvil.mine(2)
    mortals.read()
    mortals.is_the_same_in_whatever_way()
    assert forms.token() == ("Items", 0, "BEP721", 1, {(you, "1")})
    mortals.fork(3, mined=2)
    assert forms.token() == ("First", 18, "BEP20", 1, {(you, "5")})
