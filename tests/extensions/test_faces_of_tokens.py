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


def test_a_deposit_of_a_vault_and_of_a_staking_token_moves_nothing_itself(world):
    me = world.me
    vault = world.deploy("ShareVault")
    staked = world.deploy("StakedCoin", 1000 * UNIT)
    world.do(vault, "put", 100 * UNIT)
    world.do(vault, "put", 100, value=100)  # that much coin moved, and shares were minted for it
    world.do(staked, "stake", 400 * UNIT)
    world.read_in_every_way()
    assert world.holders(vault) == {me: 80 * UNIT + 80}
    assert world.moved(vault) == [(80, None, "BEP20"), (80 * UNIT, None, "BEP20")]
    assert world.holders(staked) == {me: 600 * UNIT, staked.address: 400 * UNIT}
    assert len(world.moved(staked)) == 2


@pytest.mark.parametrize(
    ("items_first", "names"), [(False, 0), (True, 0), (True, 1), (False, 2), (True, 3)]
)
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


def test_events_of_faces_are_no_token_where_the_contract_answers_as_none(world):
    me, you = world.me, world.you
    parties = [topic(me), topic(you)]
    raw = world.deploy("RawLogs")
    for _ in range(2):
        world.do(raw, "log", [ERC20_TRANSFER, *parties], data(5))
        world.do(raw, "log", [ERC721_TRANSFER, *parties, data(5)], b"")
    coin = world.deploy("SilentCoin", 1000, True, False)
    world.do(coin, "transfer", you, 100)
    world.read_in_every_way()
    assert "error" in world.token(raw)
    assert world.get("/api/v1/tokens")["total"] == 1


def test_an_erc1155_that_logs_amounts_too_counts_once(world):
    me = world.me
    twice = world.deploy("TwiceLogged")
    world.do(twice, "mint", me, 7, 100)
    world.read_in_every_way()
    assert world.token(twice)["type"] == "BEP1155"
    assert world.holders(twice) == {me: 100}
    assert world.moved(twice) == [(100, "7", "BEP1155")]


AMOUNT, ITEM = (100 * UNIT, None, "BEP20"), (1, "7", "BEP721")
MULTI, OF_ID = (5, "7", "BEP1155"), (5, "7", "BEP6909")
ERC721, ERC1155 = "80ac58cd", "d9b67a26"
# What a contract has (decimals, supply, balances, of ids, approval of all; an EIP-165 interface),
# and its events (amount, item, consecutive, multi, 6909): its type, and transfers.
SOME_FUNCTIONS = [
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


def test_an_event_says_what_moved_whichever_functions_a_contract_has(world):
    me = world.me
    contracts = []
    for functions, interface, standards, *_ in SOME_FUNCTIONS:
        interface_ = bytes.fromhex(interface).ljust(4, b"\0")
        contract = world.deploy("SomeFunctions", functions.encode(), interface_)
        contracts.append(contract)
        for standard in standards:
            value = {"a": 100 * UNIT, "i": 1, "c": 1}.get(standard, 5)
            world.do(contract, "mint", standard.encode(), 7, value)
    world.read_in_every_way()
    for contract, (*case, type_, moved) in zip(contracts, SOME_FUNCTIONS, strict=True):
        record = world.token(contract)
        assert (record["type"], world.moved(contract)) == (type_, moved), case
        count = sum(id_ is not None for _, id_, _ in moved)
        assert record["itemCount"] == (None if type_ == "BEP20" and not count else count), case
        held = sum(value for value, _, of in moved if of == type_)
        assert world.holders(contract) == ({me: held} if moved else {}), case
        page = world.get(f"/api/v1/addresses/{me}/history?token={contract.address}")
        assert (record["eventsConsistent"] and page["complete"]) or not moved, case


def test_a_batch_of_no_ids_says_nothing_of_what_its_contract_is(world):
    me = world.me
    empty, coin = (world.deploy("RawLogs") for _ in range(2))
    for raw in (empty, coin):
        world.do(raw, "log", [TRANSFER_BATCH, *map(topic, (me, ZERO, me))], data(64, 96, 0, 0))
    world.do(coin, "log", [TRANSFER, topic(ZERO), topic(me)], data(100))
    world.read_in_every_way()
    assert "error" in world.token(empty)
    assert world.token(coin)["type"] == "BEP20"
    assert world.moved(coin) == [(100, None, "BEP20")]
    assert world.holders(coin) == {}  # it has no function that says so


def test_an_indexed_value_of_a_token_with_decimals_is_an_amount(world):
    me = world.me
    indexed = world.deploy("IndexedValue")
    world.do(indexed, "mint", me, 5 * UNIT)
    world.read_in_every_way()
    assert world.token(indexed)["type"] == "BEP20"
    assert world.holders(indexed) == {me: 5 * UNIT}


def test_a_burn_and_a_withdrawal_of_one_amount_are_both_counted(world):
    me = world.me
    wrapper = world.deploy("BurntWrapper")
    world.do(wrapper, "nothing")  # it is known as a token before it wraps
    world.do(wrapper, "depositTo", me, value=500)
    world.do(wrapper, "burnAndWithdraw", 100)
    world.read_in_every_way()
    assert world.holders(wrapper) == {me: 300}
    assert [value for value, *_ in world.moved(wrapper)] == [0, 100, 100, 500]


def test_a_fork_takes_back_that_a_token_wraps(world):
    me = world.me
    wrapper = world.deploy("BurntWrapper")
    world.do(wrapper, "nothing")
    world.do(wrapper, "depositTo", me, value=500)
    world.read()
    wraps = "SELECT wraps_since IS NOT NULL FROM tokens"
    assert world.sql(wraps) == [(True,)]
    world.fork(1, mined=2)
    assert world.sql(wraps) == [(False,)]
