"""Events of further protocols, in whatever way the blocks are indexed: consecutive and multi-token
transfers, odd indexing, and exchanges."""

import pytest
from eth_utils import keccak

from scan.ethereum.events import MAX_CONSECUTIVE
from tests.extensions.world import world
from tests.support import expected
from tests.support.anvil import Contract
from tests.support.faulty_node import refuse
from tests.support.indexing import Indexing
from tests.support.lists import Listed, by_links
from tests.support.solidity import artifact

__all__ = ["world"]
pytestmark = pytest.mark.thorough
UNIT = 10**18
ZERO = "0x" + 40 * "0"


def items(world, contract):
    records = world.token(contract, "/items?limit=100")["items"]
    return {int(record["tokenId"]): record["owner"] for record in records}


def test_items_minted_in_one_event_have_owners(world):
    me, you = world.me, world.you
    series = world.deploy("Series", me, 20)
    world.do(series, "transferFrom", me, you, 7)
    world.read_in_every_way()
    record = world.token(series)
    assert (record["type"], record["itemCount"], record["holderCount"]) == ("BEP721", 20, 2)
    assert record["eventsConsistent"]
    assert world.holders(series) == {me: 19, you: 1}
    assert items(world, series) == {id_: you if id_ == 7 else me for id_ in range(20)}
    assert len(world.moved(series)) == 21


def test_a_huge_range_is_one_row_and_no_false_number_of_items(world):
    me, you = world.me, world.you
    ranges = world.deploy("Ranges")
    world.do(ranges, "claim", 5, 6, ZERO, me)
    world.do(ranges, "claim", 100, 100 + 2**255 - 1, ZERO, me)
    world.do(ranges, "claim", 9, 8, ZERO, me)  # none
    world.do(ranges, "claim", 0, 2**256 - 1, ZERO, me)  # more than any balance
    world.do(ranges, "pass", me, you, 2000)
    world.read_in_every_way()
    record = world.token(ranges)
    assert (record["itemCount"], record["holderCount"]) == (None, 2)
    assert world.holders(ranges) == {me: 2**255 + 1, you: 1}
    assert items(world, ranges) == {5: me, 6: me, 2000: you}
    assert (2**255, None, "BEP721") in world.moved(ranges)
    world.fork(5, mined=6)
    assert world.sql("SELECT count(*) FROM token_transfers") == [(0,)]


def test_ranges_of_a_block_have_one_bound(world):
    me = world.me
    ranges = world.deploy("Ranges")
    half = MAX_CONSECUTIVE // 2
    # The smallest first.
    for first, count in ((0, half), (half, half), (2 * half, half), (4 * half, 10)):
        world.queue(ranges, "claim", first, first + count - 1, ZERO, me)
    world.anvil.mine()
    world.read_in_every_way()
    assert world.holders(ranges) == {me: 3 * half + 10}
    assert world.token(ranges)["transferCount"] == half + 10 + 2


def test_amounts_of_ids_by_erc6909(world):
    me, you = world.me, world.you
    ids = world.deploy("Ids")
    world.do(ids, "mint", me, 7, 100)
    world.do(ids, "mint", me, 2**255, 5)
    world.do(ids, "transfer", you, 7, 30)
    world.do(ids, "burn", me, 7, 10)
    world.do(ids, "setOperator", you, True)
    world.read_in_every_way()
    record = world.token(ids)
    assert (record["type"], record["itemCount"]) == ("BEP6909", 2)
    assert world.holders(ids) == {me: 65, you: 30}
    assert world.moved(ids) == [
        (5, str(2**255), "BEP6909"),
        *((value, "7", "BEP6909") for value in (10, 30, 100)),
    ]
    item = world.token(ids, "/items/7")
    assert (item["tokenType"], item["owner"], item["ownerCount"]) == ("BEP6909", None, 2)
    [approval] = world.get(f"/api/v1/addresses/{me}/approvals")["approvals"]
    assert (approval["kind"], approval["spender"]) == ("operator", you)
    assert (approval["inForce"], approval["amountNow"], approval["atRisk"]) == (True, "1", "65")
    assert approval["revokeData"].startswith("0x558a7297")
    path = f"/api/v1/logs?address={ids.address}&topic0=Transfer"  # of its standard
    signatures = {log["event"]["signature"].count("address") for log in world.get(path)["logs"]}
    assert signatures == {3}


def test_a_transfer_whose_sender_alone_is_indexed_of_a_token_with_more_than_255_decimals(world):
    me, you = world.me, world.you
    odd, many = world.deploy("SenderIndexed"), world.deploy("ManyDecimals")
    world.do(odd, "mint", me, 3 * UNIT)
    world.do(odd, "transfer", you, UNIT)
    world.do(many, "mint", me, 5)
    world.read_in_every_way()
    assert world.token(odd)["type"] == "BEP20"
    assert world.holders(odd) == {me: 2 * UNIT, you: UNIT}
    [transfer] = world.token(many, "/transfers")["transfers"]
    assert (world.token(many)["decimals"], transfer["tokenDecimals"]) == (None, None)


@pytest.mark.parametrize("ids_first", [False, True])
def test_a_token_with_amounts_and_amounts_of_ids_has_both(world, ids_first):
    me, you = world.me, world.you
    both = world.deploy("CoinsAndIds")
    acts = [("mint", me, 3 * UNIT), ("mintId", me, 7, 100)]
    for act in acts[::-1] if ids_first else acts:
        world.do(both, *act)
    world.do(both, "mintId", you, 7, 5)
    world.read_in_every_way()
    record = world.token(both)
    assert (record["type"], record["itemCount"], record["eventsConsistent"]) == ("BEP20", 1, True)
    assert world.holders(both) == {me: 3 * UNIT}
    item = world.token(both, "/items/7")
    assert (item["tokenType"], item["ownerCount"]) == ("BEP1155", 2)
    expected = [(5, "7", "BEP1155"), (100, "7", "BEP1155"), (3 * UNIT, None, "BEP20")]
    assert world.moved(both) == expected
    sums = {(s["tokenType"], s["value"]) for s in world.token(both, "/transfers/sums")["sums"]}
    assert sums == {("BEP20", str(3 * UNIT)), ("BEP1155", "105")}


def test_a_disguised_symbol_or_name_is_that_of_another_token(world):
    """Which characters show nothing or alike: test_invisible_names.py."""
    me, *others = world.accounts
    real = world.deploy("Lookalike", "USD Coin", "USDC", others).address
    short = world.deploy("Lookalike", "Dai", "DAI", others).address
    texts = {
        ("x", "USD\u200bC"): real,
        ("x", "\u200fUSDC "): real,
        ("x", "\uff35\uff33\uff24\uff23"): real,
        ("x", "U\u0405D\u0421"): real,  # Cyrillic
        ("x", "USD\u03f9"): real,  # Greek
        ("x", "\U0001d414\U0001d412\U0001d403\U0001d402"): real,
        ("USD\u00a0C\u043ein", "OTHER"): real,
        ("x", "DAl"): short,
        ("USD Coin", "BRIDGED"): None,
        **{("n", symbol): None for symbol in ("USDT", "USD", "\u200b", "\u0421")},
    }
    made = {text: world.deploy("Lookalike", *text, [me]).address for text in texts}
    world.read_in_every_way()
    tokens = world.get("/api/v1/tokens?limit=100")["tokens"]
    namesakes = {token["address"]: token["largerNamesake"] for token in tokens}
    assert {text: namesakes[address] for text, address in made.items()} == texts
    assert (namesakes[real], namesakes[short]) == (None, None)


def test_transfers_that_others_put_into_a_list_are_marked_and_folded(world):
    victim, attacker, friend = world.accounts[:3]
    real = world.anvil.deploy(victim, "Lookalike", "USD Coin", "USDC", [victim, friend])
    world.do(real, "transfer", friend, 5)
    world.do(real, "transfer", friend, 0)  # one's own
    fake = world.anvil.deploy(attacker, "Lookalike", "USD Coin", "USDC\u200b", [])
    zero = world.anvil.transact(attacker, real, "transferFrom", victim, attacker, 0)
    imitation = world.anvil.transact(attacker, fake, "claim", victim, attacker, 5)
    world.anvil.mine()
    world.read_in_every_way()
    names = {"victim": victim, "attacker": attacker, "friend": friend, "zero": zero}
    names |= {"imitation": imitation, "real": real.address, "fake": fake.address}
    expected.compare(__file__, world.client, names, "suspicious_transfers")


def test_coin_that_a_contract_sends_wraps_where_no_state_is_kept(world, node):
    def asks_for_an_older_balance(call):
        target, block = [*call["params"], None, None][:2]
        is_balance = call["method"] == "eth_call" and target["data"].startswith("0x70a08231")
        return is_balance and block != "latest"

    me = world.me
    wrapper = world.deploy("BurntWrapper")
    world.do(world.deploy("Purser", value=1000), "wrap", wrapper.address, me, 300)
    vault = world.deploy("ShareVault")
    world.do(vault, "put", 100)  # without coin
    node.fault = refuse(asks_for_an_older_balance, -32000, "missing trie node")
    Indexing(world.url, node.url).run_until(world.head)
    rows = "SELECT '0x' || encode(token_address, 'hex'), balance::integer FROM token_holders"
    assert dict(world.sql(rows)) == {wrapper.address: 300, vault.address: 80}


def test_swaps_of_pools_that_are_named_by_whether_they_are_stable(world):
    me = world.me
    coins = [world.deploy("Lookalike", name, name, [me]).address for name in ("A", "B")]
    factory = world.deploy("StableFactory")
    for is_stable in (True, False):
        world.do(factory, "createPool", *coins, is_stable, gas=2_000_000)
        address = world.anvil.read(factory, "getPool", *coins, is_stable)
        pool = Contract(address, artifact("StablePool"))
        world.do(pool, "swap", 100, 0, 0, 90)
        world.do(pool, "swap", 0, 50, 40, 0)
        world.do(pool, "swap", 5, 5, 5, 5)  # nothing for nothing
    world.read_in_every_way()
    trades = world.get("/api/v1/dex-trades")["trades"]
    assert {trade["dex"] for trade in trades} == {f"velodrome-{factory.address}"}
    assert [(trade["tokenIn"], trade["amountIn"], trade["amountOut"]) for trade in trades] == 2 * [
        (coins[1], "50", "40"),
        (coins[0], "100", "90"),
    ]


def test_swaps_of_pools_by_id(world):
    me = world.me
    coin, other = (world.deploy("Lookalike", n, n, [me]).address for n in ("A", "B"))
    managers = [world.deploy("PoolManager") for _ in range(2)]
    ids = {}
    for fee, pair in ((500, (ZERO, coin)), (3000, (coin, other))):
        words = [bytes.fromhex(a[2:]).rjust(32, b"\0") for a in pair]
        key = [*words, fee.to_bytes(32), (60).to_bytes(32), bytes(32)]
        ids[fee] = keccak(b"".join(key))
        world.do(managers[0], "initialize", *pair, fee)
    world.do(managers[0], "claim", b"\x07" * 32, coin, other, 1)  # no hash of what it is
    world.do(managers[1], "swap", ids[500], -10, 9)  # of a pool of another manager
    world.do(managers[0], "swap", b"\x07" * 32, -10, 9)
    world.do(managers[0], "swap", ids[500], -100, 90)
    world.do(managers[0], "swap", ids[500], 40, -50)
    world.do(managers[0], "swap", ids[3000], 0, 0)
    world.do(managers[0], "swap", ids[3000], -(2**127), 2**127 - 1)
    world.read_in_every_way()
    manager = managers[0].address
    expected_trades = [
        (ids[3000], coin, other, 2**127, 2**127 - 1),
        (ids[500], coin, ZERO, 50, 40),
        (ids[500], ZERO, coin, 100, 90),
    ]
    trades = world.get("/api/v1/dex-trades")["trades"]
    assert {(t["dex"], t["pairAddress"]) for t in trades} == {(f"v4-{manager}", manager)}
    assert {t["backedByTransfers"] for t in trades} == {None}
    keys = ("tokenIn", "tokenOut", "amountIn", "amountOut")
    assert [(t["poolId"], *(t[key] for key in keys)) for t in trades] == [
        ("0x" + id_.hex(), token_in, token_out, str(amount_in), str(amount_out))
        for id_, token_in, token_out, amount_in, amount_out in expected_trades
    ]
    names = {"manager": manager, "me": me, "coin": coin, "other": other}
    names |= {f"of {fee}": id_.hex() for fee, id_ in ids.items()}
    expected.compare(__file__, world.client, names, "pools_by_id")
    assert len(by_links(world.client, Listed("/pools", "pools", is_counted=False), 1)) == 2
