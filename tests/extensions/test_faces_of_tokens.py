"""The shape of an event says what moved, and a contract's functions which faces it has, in whatever
way the blocks are indexed."""

import pytest

from scan.ethereum.events import ERC20_TRANSFER, ERC721_TRANSFER, TRANSFER, TRANSFER_BATCH
from tests.extensions.world import world
from tests.support.anvil import ZERO
from tests.support.scenario.stage import data, topic

__all__ = ["world"]
pytestmark = pytest.mark.thorough
UNIT = 10**18


def test_each_unit_is_counted_once_whatever_events_tell_of_it(world):
    me, parties = world.me, [topic(world.me), topic(world.you)]
    vault, staked = world.deploy("ShareVault"), world.deploy("StakedCoin", 1000 * UNIT)
    twice, indexed, wrapper = map(world.deploy, ("TwiceLogged", "IndexedValue", "BurntWrapper"))
    raw, empty, coin = (world.deploy("RawLogs") for _ in range(3))
    world.do(vault, "put", 100 * UNIT)
    world.do(vault, "put", 100, value=100)  # that much coin moved, and shares were minted for it
    world.do(staked, "stake", 400 * UNIT)
    world.do(twice, "mint", me, 7, 100)  # an ERC-1155 that logs amounts too
    world.do(indexed, "mint", me, 5 * UNIT)
    world.do(wrapper, "nothing")  # it is known as a token before it wraps
    world.do(wrapper, "depositTo", me, value=500)
    world.do(wrapper, "burnAndWithdraw", 100)
    for _ in range(2):
        world.do(raw, "log", [ERC20_TRANSFER, *parties], data(5))
        world.do(raw, "log", [ERC721_TRANSFER, *parties, data(5)], b"")
    for contract in (empty, coin):  # a batch of no ids says nothing of its contract
        of_nothing = data(64, 96, 0, 0)
        world.do(contract, "log", [TRANSFER_BATCH, *map(topic, (me, ZERO, me))], of_nothing)
    world.do(coin, "log", [TRANSFER, topic(ZERO), topic(me)], data(100))
    world.read_in_every_way()
    shown = {
        contract.artifact.name: (world.token(contract)["type"], world.holders(contract))
        for contract in (vault, staked, twice, indexed, wrapper, coin)
    }
    assert shown == {
        "ShareVault": ("BEP20", {me: 80 * UNIT + 80}),
        "StakedCoin": ("BEP20", {me: 600 * UNIT, staked.address: 400 * UNIT}),
        "TwiceLogged": ("BEP1155", {me: 100}),
        "IndexedValue": ("BEP20", {me: 5 * UNIT}),
        "BurntWrapper": ("BEP20", {me: 300}),
        "RawLogs": ("BEP20", {}),  # it has no function that says so
    }
    assert world.moved(vault) == [(80, None, "BEP20"), (80 * UNIT, None, "BEP20")]
    assert world.moved(twice) == [(100, "7", "BEP1155")]
    of_staked, *values = ([of[0] for of in world.moved(c)] for c in (staked, wrapper, coin))
    assert (len(of_staked), values) == (2, [[0, 100, 100, 500], [100]])
    assert "error" in world.token(raw) and "error" in world.token(empty)
    assert world.get("/api/v1/tokens")["total"] == 5
    wraps = "SELECT count(wraps_since) FROM tokens WHERE address = %s"
    address = bytes.fromhex(wrapper.address[2:])
    assert world.sql(wraps, address) == [(1,)]
    world.fork(9)  # back to before it wrapped
    assert world.sql(wraps, address) == [(0,)]


@pytest.mark.parametrize(("items_first", "names"), [(False, 0), (True, 1), (False, 2), (True, 3)])
def test_a_token_with_two_faces_has_amounts_and_items(world, items_first, names):
    me, you = world.me, world.you
    hybrid = world.deploy("WholeUnits", 3, items_first, names)
    world.do(hybrid, "pass", you, 2)
    world.read_in_every_way()
    record = world.token(hybrid)
    assert (record["type"], record["itemCount"], record["eventsConsistent"]) == ("BEP20", 3, True)
    assert world.holders(hybrid) == {me: 2 * UNIT, you: UNIT}
    items = world.token(hybrid, "/items")["items"]
    assert {item["tokenId"]: item["owner"] for item in items} == {"1": me, "2": you, "3": me}
    assert world.moved(hybrid) == [
        *((1, str(id_), "BEP721") for id_ in (1, 2, 2, 3)),
        *((count * UNIT, None, "BEP20") for count in (1, 3)),
    ]
    for type_, count in (("BEP20", 2), ("BEP721", 4), ("BEP1155", 0)):
        rows = world.token(hybrid, f"/transfers?tokenType={type_}")["transfers"]
        assert [row["tokenType"] for row in rows] == count * [type_]
    item = world.token(hybrid, "/items/2")
    assert (item["owner"], item["tokenType"]) == (you, "BEP721")


@pytest.mark.parametrize("names", [1, 2])
def test_an_amount_of_a_face_that_did_not_move_is_marked(world, names):
    me, you = world.me, world.you
    hybrid = world.deploy("WholeUnits", 3, False, names)
    world.do(hybrid, "claim", you, UNIT)
    world.read_in_every_way()
    record = world.token(hybrid)
    assert record["eventsConsistent"] is False
    assert record["inconsistentSince"] == world.head
    assert world.holders(hybrid) == {me: 3 * UNIT}


AMOUNT, ITEM = (100 * UNIT, None, "BEP20"), (1, "7", "BEP721")
MULTI, OF_ID = (5, "7", "BEP1155"), (5, "7", "BEP6909")
ERC721, ERC1155 = "80ac58cd", "d9b67a26"


def test_an_event_says_what_moved_whichever_functions_a_contract_has(world):
    me = world.me
    contracts = []
    # What a contract has (decimals, supply, balances, of ids, approval of all; an EIP-165
    # interface), and its events (amount, item, consecutive, multi, 6909): its type, and transfers.
    some_functions = [
        ("sbi", "", "a", "BEP20", [AMOUNT]),
        ("sbi", "", "i", "BEP721", [ITEM]),
        ("sbia", "", "i", "BEP721", [ITEM]),
        ("sbia", "", "am", "BEP20", [MULTI, AMOUNT]),
        ("bia", "", "am", "BEP20", [MULTI, AMOUNT]),
        ("b", "", "ma", "BEP20", [AMOUNT]),
        ("dsb", "", "ma", "BEP20", [AMOUNT]),
        ("dsb", "", "6a", "BEP20", [AMOUNT]),
        ("dsb", "", "c", "BEP20", []),
        ("sb", "", "c", "BEP721", [ITEM]),
        ("i", "", "6", "BEP6909", [OF_ID]),
        ("bi", ERC1155, "m", "BEP1155", [MULTI]),
        ("i", ERC1155, "m", "BEP1155", [MULTI]),
        ("i", ERC1155, "a", "BEP1155", []),
        ("i", ERC1155, "i", "BEP1155", []),
        ("ia", "", "a", "BEP1155", []),
        ("sb", ERC721, "m", "BEP721", []),
    ]
    for functions, interface, standards, *_ in some_functions:
        interface_ = bytes.fromhex(interface).ljust(4, b"\0")
        contract = world.deploy("SomeFunctions", functions.encode(), interface_)
        contracts.append(contract)
        for standard in standards:
            value = {"a": 100 * UNIT, "i": 1, "c": 1}.get(standard, 5)
            world.do(contract, "mint", standard.encode(), 7, value)
    world.read_in_every_way()
    for contract, (*case, type_, moved) in zip(contracts, some_functions, strict=True):
        record = world.token(contract)
        assert (record["type"], world.moved(contract)) == (type_, moved), case
        count = sum(id_ is not None for _, id_, _ in moved)
        assert record["itemCount"] == (None if type_ == "BEP20" and not count else count), case
        held = sum(value for value, _, of in moved if of == type_)
        assert world.holders(contract) == ({me: held} if moved else {}), case
        page = world.get(f"/api/v1/addresses/{me}/history?token={contract.address}")
        assert (record["eventsConsistent"] and page["complete"]) or not moved, case
