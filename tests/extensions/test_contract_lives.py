"""A contract ends, and another is created at its address: every form shows what stands there now,
in whatever way the blocks are indexed."""

import pytest

from scan.hex import data
from tests.extensions.lives import Forms, Mortals, built, mortals, older_anvil
from tests.extensions.world import World, pruned_contracts, world
from tests.support import authorizations, serving
from tests.support.anvil import ZERO, Contract
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing, index_apart

__all__ = ["mortals", "older_anvil", "world"]
pytestmark = pytest.mark.thorough


def test_a_contract_stands_from_its_creation_to_its_end_in_each_life(mortals):
    first, forms = mortals.bear("MortalCoin"), Forms(mortals, mortals.address)

    def is_shown(standing, creation=None):
        mortals.read()
        assert forms.standing() == {standing}
        record = forms.get("/api/v1/addresses/:a")
        assert creation in (None, record["creation"]["transactionHash"])

    is_shown(True)
    mortals.do(first, "end")
    is_shown(False)
    sent = mortals.queue(mortals.cradle, "bear", built("SecondCoin").runtime)
    mortals.anvil.mine()
    is_shown(True, sent)
    mortals.do(mortals.mortal("SecondCoin"), "end")
    mortals.bear("SecondCoin")
    is_shown(True)
    mortals.is_the_same_in_whatever_way()
    mortals.fork(2)  # the end, and the creation after it
    is_shown(True, sent)


def test_an_end_without_traces_is_noticed_by_a_request(older_anvil, places):
    with Mortals(older_anvil, places, traces="off") as mortals:
        first = mortals.bear("MortalCoin")
        mortals.do(first, "mint", mortals.me, 7)
        mortals.read()
        forms = Forms(mortals, mortals.address)
        serving.wait_until(lambda: forms.standing() == {True})
        mortals.do(first, "end")
        mortals.anvil.mine()
        mortals.read()
        serving.wait_until(lambda: forms.standing() == {False})


def test_after_a_restart_the_next_life_of_a_wrapper_is_none_yet(mortals):
    first = mortals.bear("MortalCoin")
    mortals.do(first, "mint", mortals.accounts[0], 7)
    mortals.do(first, "end")
    mortals.read()
    mortals.sql("UPDATE tokens SET wraps_since = 1")
    row = mortals.database.row("indexer/emitters_list_known", addresses=[data(mortals.address)])
    assert row[1:4] == (None, None, None)
    assert mortals.client.get(f"/token/{mortals.address}").status_code == 302


def test_a_token_has_the_name_type_and_holders_of_its_present_life(mortals):
    me, *others = mortals.accounts[:4]
    you, first, forms = others[0], mortals.bear("MortalCoin"), Forms(mortals, mortals.address)
    for holder in others:
        mortals.do(first, "mint", holder, 5)

    def is_shown(token, held, holder=you):
        mortals.read()
        assert forms.token() == token
        assert forms.held_by(holder) == forms.listed() == held

    is_shown(("First", 18, "BEP20", 3, {(other, "5") for other in others}), {"FIRST"})
    ended_in = mortals.do(first, "end")
    is_shown(None, set())
    second = mortals.bear("SecondCoin")
    is_shown(None, set())
    mortals.do(second, "mint", you, 7)
    is_shown(("Second", 6, "BEP20", 1, {(you, "7")}), {"SECOND"})
    assert forms.transfers() == [("7", "SECOND", "BEP20"), *[("5", "FIRST", "BEP20")] * 3]
    lives = forms.get("/api/v1/addresses/:a")["lives"]
    ends = [(life["tokenSymbol"], life["endedIn"]) for life in lives]
    assert ends == [("SECOND", None), ("FIRST", ended_in)]
    blocks = (ended_in - 1, ended_in, mortals.head)
    held = [forms.held_by(you, block) for block in blocks]
    assert held == [{"FIRST"}, set(), {"SECOND"}]
    assert "Earlier contract" in forms.get("/address/:a")
    last, of_item = second, ("Items", 0, "BEP721", 1, {(me, "1")})
    for name, token in (
        ("MortalItems", of_item),
        ("MortalItems", of_item),
        ("MortalGoods", ("Items", 0, "BEP1155", 1, {(me, "3")})),
        ("MortalItems", of_item),
    ):
        mortals.do(last, "end")
        last = mortals.bear(name)
        mortals.do(last, "mint", me, 6)
        is_shown(token, {"ITEMS"}, me)
        assert forms.get("/api/v1/tokens/:a/items/6")["ownerCount"] == 1
    mortals.is_the_same_in_whatever_way()
    for depth, token, held in ((1, None, set()), (7, of_item, {"ITEMS"})):
        mortals.fork(depth)
        is_shown(token, held, me)


@pytest.mark.parametrize("traces", ["auto", "off"])
def test_what_ends_in_the_block_of_its_first_event_is_no_token(older_anvil, places, traces):
    with Mortals(older_anvil, places, traces=traces) as mortals:
        you, forms = mortals.you, Forms(mortals, mortals.address)
        mortals.anvil.mine()
        mortals.live_for_a_block("MortalCoin", 5, 6)

        def is_shown(token, held, *transfers):
            mortals.read()
            assert (forms.token(), forms.transfers()) == (token, [*transfers])
            assert forms.held_by(you) == forms.listed() == held
            assert forms.get("/api/v1/stats")["totalTokens"] == len(held)

        ended = [("6", "", "BEP20"), ("5", "", "BEP20")]
        is_shown(None, set(), *ended)
        mortals.live_for_a_block("MortalItems", 7)
        is_shown(None, set(), ("1", "", "BEP721"), *ended)
        coin = mortals.bear("SecondCoin")
        mortals.do(coin, "mint", you, 8)
        second = ("Second", 6, "BEP20", 1, {(you, "8")})
        is_shown(second, {"SECOND"}, ("8", "SECOND", "BEP20"), ("1", "", "BEP721"), *ended)
        mortals.do(coin, "wrap", you, 9)  # which alone would begin a life, too
        mortals.anvil.mine(2)  # which a bulk backfill leaves to the indexer
        mortals.read()
        mortals.is_the_same_in_whatever_way()
        mortals.fork(6)
        is_shown(None, set(), *ended)


def test_an_address_without_code_has_no_end(mortals):
    """In another of the ranges of a bulk backfill, after the end of a token that moved before."""
    coin = mortals.bear("MortalCoin")
    mortals.do(coin, "mint", mortals.accounts[1], 5)
    mortals.do(coin, "end")
    mortals.anvil.mine(16)
    mortals.live_for_a_block("MortalCoin")
    mortals.anvil.mine(2)
    mortals.read()
    mortals.is_the_same_in_whatever_way()
    ends = "SELECT count(*) FROM contracts WHERE code_hash IS NULL"
    assert mortals.sql(ends) == [(1,)]


def test_of_a_pruned_state_no_end_is_concluded(mortals):
    coin = mortals.bear("MortalCoin")
    mortals.do(coin, "mint", mortals.you, 5)
    ended_in = mortals.do(coin, "end")
    with (
        FaultyNode(mortals.anvil.url, pruned_contracts) as node,
        Indexing(mortals.url, node.url, until=ended_in),
    ):
        forms = Forms(mortals, mortals.address)
        assert forms.token() is None
        assert forms.held_by(mortals.you, ended_in - 1) == {""}


def test_a_token_of_another_type_begins_anew_and_keeps_its_old_transfers(world):
    me, you = world.me, world.you
    coin, items = map(world.deploy, ("MortalCoin", "MortalItems"))
    proxy = world.deploy("Replaceable", coin.address)
    world.do(Contract(proxy.address, coin.artifact), "mint", you, 5)
    world.read()
    forms, first = Forms(world, proxy.address), ("First", 18, "BEP20", 1, {(you, "5")})
    assert forms.token() == first
    world.do(proxy, "replace", items.address)
    world.do(Contract(proxy.address, items.artifact), "mint", me, 8)
    world.read()
    assert forms.token() == ("Items", 0, "BEP721", 1, {(me, "1")})
    assert forms.transfers() == [("1", "ITEMS", "BEP721"), ("5", "FIRST", "BEP20")]
    world.fork(2)
    assert forms.token() == first


@pytest.mark.parametrize("is_within_a_block", [False, True])
def test_an_account_is_a_token_no_longer_than_its_delegation(anvil, places, is_within_a_block):
    """The one transfer of a token that has ended names it as it was before its end."""
    account = authorizations.new_account(7)

    def authorize(delegate, **fields):
        signed = authorizations.authorize(
            account, delegate, authorizations.nonce_of(anvil, account)
        )
        sent = authorizations.send(anvil, [signed], **fields)
        assert anvil.receipt_of(sent)["status"] == "0x1"

    with World(anvil, places) as world:
        coin, forms = world.deploy("MortalCoin"), Forms(world, account.address.lower())
        mint = {"to": account.address, "data": coin.data("mint", world.you, 5)}
        authorize(coin.address, **({} if is_within_a_block else mint))
        world.read()
        assert forms.listed() == (set() if is_within_a_block else {"FIRST"})
        nonce = authorizations.nonce_of(anvil, authorizations.SPONSOR)
        for number in range(is_within_a_block):
            authorizations.send(anvil, [], **mint, nonce=nonce + number)
        authorize(ZERO, nonce=nonce + is_within_a_block)
        world.read()
        assert forms.token() is None and forms.listed() == set()
        assert forms.transfers() == [("5", "FIRST", "BEP20")]
        [item] = forms.get(f"/api/v2/addresses/{world.you}/token-transfers")["items"]
        assert (item["token_type"], item["token"]["symbol"]) == ("ERC-20", "FIRST")
        world.is_the_same_in_whatever_way()
        with world.postgres.cloned(world.template) as without_extensions:
            index_apart(without_extensions, anvil, "none")
            lives = "SELECT address, ended_in, earlier_lives FROM tokens ORDER BY address"
            assert execute(without_extensions, lives) == world.sql(lives)
