"""What a contract answers is of a block: it is read again when something speaks for a change, in
whatever way the blocks are indexed."""

import pytest

from scan.commands import main
from scan.ethereum.token_metadata import balance_of
from tests.extensions.world import World, world
from tests.support import auditing
from tests.support.anvil import Contract, encoded_call
from tests.support.faulty_node import altering

__all__ = ["world"]
pytestmark = pytest.mark.thorough


def label(world, coin, name):
    world.do(coin, "label", name, name.upper())


def unnamed(world, wide):
    """A coin without a name yet, which is read after its first event, and once more."""
    coin = Contract(world.deploy("Replaceable", wide.address).address, wide.artifact)
    world.do(coin, "mint", world.me, 10)
    return coin


def is_everywhere(world, contract, name, decimals):
    """The record, and search, which has a table of its own, have the name and decimals."""
    record = world.token(contract)
    assert (record["name"], record["symbol"], record["decimals"]) == (name, name.upper(), decimals)
    assert contract.address in str(world.get(f"/api/v1/search?q={name.upper()}"))


def test_an_upgrade_changes_decimals_from_its_block_on(world):
    wide, narrow = world.deploy("WideCoin"), world.deploy("NarrowCoin")
    proxy = world.deploy("Replaceable", wide.address)
    coin = Contract(proxy.address, wide.artifact)
    label(world, coin, "six")
    world.do(coin, "mint", world.me, 1_000_000)
    world.read()
    is_everywhere(world, coin, "six", 18)
    world.do(proxy, "replace", narrow.address)
    world.do(coin, "transfer", world.you, 500_000)
    world.read()
    is_everywhere(world, coin, "six", 6)
    moved = world.token(coin, "/transfers")["transfers"]
    assert [(t["value"], t["tokenDecimals"]) for t in moved] == [("500000", 6), ("1000000", 18)]
    world.fork(2, mined=2)
    is_everywhere(world, coin, "six", 18)


def test_an_upgrade_by_another_contract_is_noticed_by_its_event(anvil, places):
    """Where no trace names the proxy as called."""
    with World(anvil, places, traces="off") as world:
        wide, narrow = world.deploy("WideCoin"), world.deploy("NarrowCoin")
        proxy, caller = world.deploy("Replaceable", wide.address), world.deploy("InnerBundler")
        coin = Contract(proxy.address, wide.artifact)
        label(world, coin, "six")
        for _ in range(3):
            world.do(coin, "mint", world.me, 10)
            world.read()
        replacement = encoded_call("replace(address)", narrow.address)
        world.do(caller, "forward", proxy.address, [replacement])
        world.read()
        assert world.token(coin)["decimals"] == 6


@pytest.mark.parametrize("contract", ["WideCoin", "NamedCoin"])
@pytest.mark.parametrize("is_direct", [True, False], ids=["directly", "through another"])
def test_a_token_in_use_is_named_anew_in_the_block_of_the_call(world, contract, is_direct):
    named, renamer = world.deploy(contract), world.deploy("Renamer")
    renames = {True: (named, "label"), False: (renamer, "rename", named.address)}
    label(world, named, "old")
    world.read()
    for _ in range(11):  # later than 8 blocks after its first event
        world.do(named, "mint", world.me, 1)
    world.read()
    world.do(*renames[is_direct], "anew", "ANEW")
    world.read()
    is_everywhere(world, named, "anew", 18)
    world.do(named, "transfer", world.you, 1)
    world.read()
    is_everywhere(world, named, "anew", 18)
    world.is_the_same_in_whatever_way()
    assert world.audit(node=True) == auditing.EXACT
    world.fork(2, mined=2)
    is_everywhere(world, named, "old", 18)


def test_labels_are_of_the_same_block_however_often_the_index_reads(world):
    labelled = unnamed(world, world.deploy("WideCoin"))

    def name_and_move(*names):
        for name in names:
            label(world, labelled, name)
            world.read()
            world.do(labelled, "transfer", world.you, 1)
            world.read()

    world.read()
    assert world.token(labelled)["name"] == ""
    name_and_move("late")
    is_everywhere(world, labelled, "late", 18)
    name_and_move(*(f"first day {n}" for n in range(5)))
    world.begin_day()
    name_and_move("second day", "same day")
    world.begin_day()
    label(world, labelled, "silent")  # without an event
    world.read()
    world.next_day()
    world.read()
    is_everywhere(world, labelled, "silent", 18)
    world.is_the_same_in_whatever_way()
    name_and_move("fourth day", "same day")
    world.is_the_same_in_whatever_way()
    assert world.audit(node=True) == auditing.EXACT
    world.fork(2)


def test_a_token_is_read_whole_once_a_day_at_most(world):
    wide = world.deploy("WideCoin")
    unnamed(world, wide)
    world.do(wide, "mint", world.me, 100)
    world.read()
    read_blocks = set()
    for _ in range(20):
        world.do(wide, "transfer", world.you, 1)
        world.read()
        read_blocks.update(world.sql("SELECT read_block, address FROM tokens"))
    assert len(read_blocks) <= 2 + 2  # two tokens, of which one was read 1 and 8 blocks after


def test_a_refused_contract_is_tried_again_at_later_events(world):
    wide = world.deploy("WideCoin")
    labelled = unnamed(world, wide)
    wrapper = world.deploy("LateWrapper")
    pair = world.deploy("LatePair", wide.address, labelled.address)
    world.read()

    def emit(times):
        for _ in range(times):
            world.do(wrapper, "deposit", value=5)
            world.do(pair, "swap", 7)
            world.read()

    emit(4)
    assert world.token(wrapper)["code"] == "not_found"
    world.do(wrapper, "wake")
    world.do(pair, "wake")
    emit(20)
    assert world.token(wrapper)["symbol"] == "LATE"
    assert world.token(wrapper, "/transfers")["transfers"][0]["value"] == "5"
    assert world.sql("SELECT count(*) FROM dex_trades")[0][0] > 5
    tries = world.sql("SELECT claim, count(*) FROM rejected_emitters GROUP BY claim ORDER BY 1")
    assert all(count <= 3 for _, count in tries) and len(tries) == 2
    world.is_the_same_in_whatever_way()


def test_what_changed_without_a_sign_is_noticed_by_the_audit_and_read_again(
    world, monkeypatch, capsys
):
    wide = world.deploy("WideCoin")
    world.do(wide, "label", "Old", "OLD")
    world.do(wide, "mint", world.me, 5)
    world.read()
    assert world.token(wide)["readBlock"] == world.head
    world.sql("UPDATE tokens SET name = 'Other', decimals = 7")
    assert world.audit(node=True) == auditing.DIFFERS
    assert "name is Other, the node has Old; decimals is 7" in capsys.readouterr().out
    monkeypatch.setenv("DATABASE_URL", world.url)
    assert main(["tokens", "refresh", wide.address]) == auditing.EXACT
    world.read()
    assert world.audit(node=True) == auditing.EXACT
    assert main(["tokens", "refresh", world.me]) == auditing.DIFFERS


def test_one_false_balance_marks_no_token(anvil, node, places, monkeypatch):
    of_two, false = balance_of(bytes.fromhex(anvil.accounts[1][2:])), []

    def alter(call, answer):
        if call["method"] == "eth_call" and call["params"][0]["data"] == of_two and false:
            answer["result"] = f"0x{false.pop():064x}"

    with World(anvil, places, node.url) as world:
        coin = world.deploy("SilentCoin", 1000, True, False)
        world.read()
        node.fault = altering(alter)
        for answers, expected in ([12345], (False, [])), ([12345] * 9, (True, [12345] * 6)):
            false += answers
            world.do(coin, "transfer", world.you, 100)
            world.read()
            [(since,)] = world.sql("SELECT inconsistent_since FROM tokens")
            assert (since is not None, false) == expected
        false.clear()
        monkeypatch.setenv("DATABASE_URL", world.url)
        assert main(["tokens", "refresh", coin.address]) == auditing.EXACT
        world.read()
        assert world.sql("SELECT inconsistent_since FROM tokens") == [(None,)]
