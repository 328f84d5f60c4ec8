"""Items are told from amounts by what contracts answer, whatever the form of their events, in
whatever way the blocks are indexed."""

import pytest

from scan.ethereum.events import TRANSFER, TRANSFER_SINGLE
from tests.extensions.world import pruned_contracts, world
from tests.support import auditing
from tests.support.faulty_node import refuse
from tests.support.indexing import Indexing
from tests.support.scenario.stage import data, topic

__all__ = ["world"]
pytestmark = pytest.mark.thorough


def test_who_owns_an_id_says_that_events_are_of_items(world):
    me, you = world.me, world.you
    amounts = "sbd sbdA sbDA sbcdA sbcDA sbA1 sbD4A".split()
    # The letters of AnyForms whose events are of items, with v vote-escrowed ones, and of amounts.
    items = "sbod4 sbo sbod sbod1 sbo1 sbo2 bod sboD4 sboD vboD47 sbd4".split()
    contracts = {name: world.deploy("AnyForm", name.encode()) for name in (*items, *amounts)}
    large = 2**200 + 7
    for contract in contracts.values():
        world.do(contract, "mint", me, 500)
        world.do(contract, "mint", me, large)
        world.do(contract, "transfer", you, 500)
    world.read()
    moved = sorted((1, id_, "BEP721") for id_ in ("500", "500", str(large)))
    for letters in items:
        contract = contracts[letters]
        assert world.token(contract)["type"] == "BEP721", letters
        assert world.token(contract, "/items/500")["owner"] == you, letters
        assert world.holders(contract) == {me: 1, you: 1}, letters
        assert world.moved(contract) == moved, letters
    for letters in amounts:
        contract = contracts[letters]
        assert world.token(contract)["type"] == "BEP20", letters
        assert "owner" not in world.token(contract, "/items/500"), letters
        assert letters == "sbd" or world.holders(contract) == {me: large, you: 500}, letters
    world.is_the_same_in_whatever_way()
    assert world.audit(node=True) == auditing.EXACT


def test_a_recipient_in_data_is_read_where_owners_say_so(world):
    me, you = world.me, world.you
    names = (b"sboR", b"bodR", b"sbo7R", b"sboDR")
    contracts = [world.deploy("AnyForm", letters) for letters in names]
    hashed, chosen = world.deploy("AnyForm", b"sboR"), world.deploy("AnyForm", b"sbo")
    coins = [world.deploy("AnyForm", letters) for letters in (b"sbDA", b"sbdA", b"sbcDA")]
    dead, low, zero = (f"0x{number:040x}" for number in (0xDEAD, 1, 0))
    large, mine = 2**100, int(me, 16)
    for contract in contracts:
        world.do(contract, "mint", me, 0)
        world.in_one_block((contract, "mint", me, 500), (contract, "burn", 0))
        world.do(contract, "mint", me, 501)
        world.do(contract, "transfer", you, 500)
        world.do(contract, "burn", 501)
    for coin in coins:
        world.in_one_block((coin, "mint", me, 9 * large), (coin, "transfer", dead, large))
        world.do(coin, "transfer", dead, large)
        world.do(coin, "transfer", low, large)
        world.do(coin, "burn", large)
    for owner, id_ in ((me, 1), (low, mine), (you, 11)):  # ids that anyone may choose
        world.do(chosen, "mint", owner, id_)
    world.do(hashed, "mint", me, 7)
    world.do(hashed, "mint", you, 2**159 + 7)
    late = [world.deploy("AnyForm", letters) for letters in (b"sboR", b"sbo7R", b"sboR")]
    for contract in late[:2]:
        world.do(contract, "mintAndBurn", 5)
    for contract in late:
        world.do(contract, "mint", me, 9)
        world.do(contract, "transfer", you, 9)
    world.read()
    moved = sorted([(me, "500"), (you, "500"), (zero, "501"), (me, "501")])
    for contract in contracts:
        records = world.token(contract, "/transfers")["transfers"]
        ids = [(r["toAddress"], r["tokenId"]) for r in records if r["tokenId"] in ("500", "501")]
        owner = world.token(contract, "/items/500")["owner"]
        assert (world.token(contract)["type"], owner, sorted(ids)) == ("BEP721", you, moved)
        assert world.holders(contract) == {you: 1}
    for coin in coins:
        assert world.token(coin)["type"] == "BEP20"
        assert world.holders(coin) == {me: 5 * large, dead: 2 * large, low: large}
    items = [(hashed, 2**159 + 7, you), (chosen, mine, low), *((one, 9, you) for one in late)]
    owners = [world.token(contract, f"/items/{id_}")["owner"] for contract, id_, _ in items]
    assert owners == [owner for *_, owner in items]
    assert world.holders(chosen) == {me: 1, low: 1, you: 1}
    world.is_the_same_in_whatever_way()
    assert world.audit(node=True) == auditing.EXACT
    world.fork(2)
    assert world.token(late[2])["code"] == "not_found"
    world.do(late[2], "mint", you, 7)
    world.read()
    assert world.token(late[2], "/items/7")["owner"] == you
    world.is_as_fresh()
    call = {"from": you, "to": late[2].address, "data": late[2].data("transfer", me, 7)}
    answer = world.client.post("/api/v1/simulate", json={"calls": [call]}).get_json()
    [moved] = answer["calls"][0]["transfers"]
    assert (moved["toAddress"], moved["tokenId"], moved["value"]) == (me, "7", "1")


def test_items_of_a_range_too_large_to_be_read_are_there(world):
    me, you = world.me, world.you
    contract = world.deploy("AnyForm", b"sbo47")
    world.do(contract, "mintRange", me, 1, 60_000)
    world.do(contract, "transfer", you, 7)
    world.read()
    for id_, owner, transfers in ((60_000, me, 0), (7, you, 1)):
        item = world.token(contract, f"/items/{id_}")
        assert [one["address"] for one in item["owners"]] == [item["owner"]] == [owner]
        assert world.token(contract, f"/items/{id_}/transfers")["total"] == transfers
        assert item["transferCount"] == transfers
        assert owner in world.get(f"/nft/{contract.address}/{id_}")
    assert world.token(contract, "/items/60000")["ownerBlock"] == world.head
    assert world.token(contract, "/items/60001")["code"] == "not_found"
    assert world.client.get(f"/nft/{contract.address}/60001").status_code == 404


def test_a_type_that_changes_without_an_event_is_read_at_one_of_another_type(world):
    me, you = world.me, world.you
    contract, open_, packed = (
        world.deploy("AnyForm", letters) for letters in (b"sbDA", b"sbo", b"sbA1")
    )
    world.do(contract, "mint", me, 900)
    world.do(open_, "mintAndBurn", 500)
    world.do(packed, "mint", me, 900)
    world.read()
    types = [world.token(c)["type"] for c in (contract, open_, packed)]
    assert types == ["BEP20", "BEP20", "BEP20"]
    world.do(contract, "change", b"sbo47")
    world.do(packed, "change", b"sbo1")
    for changed in (contract, open_, packed):
        world.do(changed, "mintAndPass", you, 501)
    world.read()
    for changed in (contract, open_, packed):
        assert world.token(changed)["type"] == "BEP721"
        assert world.token(changed, "/items/501")["owner"] == you
    moved = world.token(contract, "/transfers")["transfers"]
    assert [(t["value"], t["tokenType"]) for t in moved] == [
        ("1", "BEP721"),
        ("1", "BEP721"),
        ("900", "BEP20"),
    ]
    world.do(contract, "change", b"sbDA")
    for count in range(9):  # once more at 8 times the distance
        world.do(contract, "mint", you, 10 + count)
    world.read()
    assert world.token(contract)["type"] == "BEP20"
    world.is_the_same_in_whatever_way()
    world.fork(12, mined=2)


def test_nobody_holds_what_a_contract_without_functions_says(world):
    me, you = world.me, world.you
    bare = [world.deploy("RawLogs") for _ in range(3)]
    late = world.deploy("AnyForm", b"A")
    parties = [topic(me), topic(you)]
    logs = (
        ([TRANSFER, *parties], data(1_000_000)),
        ([TRANSFER, *parties, data(500)], b""),
        ([TRANSFER_SINGLE, topic(me), *parties], data(7, 1_000_000)),
    )
    for contract, log in zip(bare, logs, strict=True):
        world.do(contract, "log", *log)
        world.do(contract, "log", *log)
    world.do(late, "mint", you, 900)
    world.read()
    for contract in (*bare, late):
        assert world.token(contract)["holderCount"] == 0
        assert world.holders(contract) == {}
        assert world.token(contract, "/transfers")["total"] > 0
    listed = world.get("/api/v1/tokens")
    assert (listed["tokens"], listed["total"]) == ([], 0)
    assert world.get("/api/v1/stats")["totalTokens"] == 0
    held = f"/api/v1/addresses/{you}"
    for path in ("tokens", f"tokens?block={world.head}", "items"):
        assert world.get(f"{held}/{path}")[path.partition("?")[0]] == [], path
    world.do(late, "change", b"sbDA")
    world.do(late, "mint", you, 100)
    world.read()
    assert {*world.holders(late)} == {you}
    world.is_the_same_in_whatever_way()
    world.fork(2)
    assert world.token(late)["holderCount"] == 0


def test_an_item_without_an_owner_in_its_first_block_is_decided_by_the_next(world):
    me, you = world.me, world.you
    items, hybrid = world.deploy("AnyForm", b"sb"), world.deploy("LateItems")
    for contract in (items, hybrid):
        world.do(contract, "mint", me, 500)
    world.do(items, "change", b"sbo")
    world.do(hybrid, "open")
    for contract in (items, hybrid):
        world.do(contract, "mint", me, 501)
    world.do(items, "transfer", you, 500)
    world.read()
    assert world.token(items)["type"] == "BEP721"
    assert world.token(items, "/items/500")["owner"] == you
    assert world.token(hybrid)["type"] == "BEP20"
    assert world.token(hybrid, "/items/501")["owner"] == me
    world.is_the_same_in_whatever_way()


def test_an_item_that_is_burnt_at_first_had_an_owner_before(world):
    me, you = world.me, world.you
    contract = world.deploy("AnyForm", b"sbo")
    world.do(contract, "mint", me, 500)
    world.do(contract, "mint", me, 501)
    start = world.head + 1
    world.do(contract, "burn", 500)
    world.do(contract, "transfer", you, 501)
    with Indexing(world.url, world.anvil.url, until=world.head, start_block=start):
        assert world.token(contract)["type"] == "BEP721"
        assert world.token(contract, "/items/501")["owner"] == you


def test_of_a_pruned_state_a_later_owner_confirms_items(world, node):
    me, you = world.me, world.you
    items, coin = (world.deploy("AnyForm", letters) for letters in (b"sbo", b"sbcA"))
    for contract in (items, coin):
        world.do(contract, "mint", me, 500)
        world.do(contract, "transfer", you, 500)
    node.fault = pruned_contracts
    with Indexing(world.url, node.url, until=world.head):
        types = [world.token(contract)["type"] for contract in (items, coin)]
        assert types == ["BEP721", "BEP20"]


# Which begin as what clients say where the EVM ends a call.
@pytest.mark.parametrize(
    "words", ["insufficient balance, please top up your account", "revert to block 5 failed"]
)
def test_a_failure_in_the_words_of_a_refusal_takes_nothing_away(world, node, words):
    items = world.deploy("Items", "Goods", "GDS")
    world.do(items, "mint", world.you, 7, 5)
    left = iter(range(6))

    def fails(call):
        return call["method"] == "eth_call" and next(left, None) is not None

    node.fault = refuse(fails, -32000, words)
    with Indexing(world.url, node.url, until=world.head):
        token = world.token(items)
        assert (token["type"], token["symbol"], token["totalSupply"]) == ("BEP1155", "GDS", "5")
        assert world.holders(items) == {world.you: 5}
    assert next(left, None) is None
