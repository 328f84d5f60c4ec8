"""Events of further protocols, in whatever way the blocks are indexed: consecutive and multi-token
transfers, odd indexing, and exchanges."""

import pytest
from eth_utils import keccak

from scan.ethereum.events import MAX_CONSECUTIVE
from tests.extensions import test_faces_of_tokens as faces
from tests.extensions.test_faces_of_tokens import UNIT, do, holders, values
from tests.support import authorizations, faulty_node
from tests.support.anvil import Contract
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing
from tests.support.solidity import artifact
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
index = faces.index
ZERO = "0x" + 40 * "0"


def items(get, contract):
    records = get(f"{contract.address}/items?limit=100")["items"]
    return {int(record["tokenId"]): record["owner"] for record in records}


def test_items_minted_in_one_event_have_owners(anvil, index):
    me, you = anvil.accounts[:2]
    series = anvil.deploy(me, "Series", me, 20)
    do(anvil, series, "transferFrom", me, you, 7)
    get = index()
    record = get(series.address)
    assert (record["type"], record["itemCount"], record["holderCount"]) == ("BEP721", 20, 2)
    assert record["eventsConsistent"]
    assert holders(get, series) == {me: 19, you: 1}
    assert items(get, series) == {id_: you if id_ == 7 else me for id_ in range(20)}
    assert len(values(get, series)) == 21


def test_a_huge_range_is_one_row_and_no_false_number_of_items(anvil, index):
    me, you = anvil.accounts[:2]
    ranges = anvil.deploy(me, "Ranges")
    do(anvil, ranges, "claim", 5, 6, ZERO, me)
    do(anvil, ranges, "claim", 100, 100 + 2**255 - 1, ZERO, me)
    do(anvil, ranges, "claim", 9, 8, ZERO, me)  # none
    do(anvil, ranges, "claim", 0, 2**256 - 1, ZERO, me)  # more than any balance
    do(anvil, ranges, "pass", me, you, 2000)
    get = index()
    record = get(ranges.address)
    assert (record["itemCount"], record["holderCount"]) == (None, 2)
    assert holders(get, ranges) == {me: 2**255 + 1, you: 1}
    assert items(get, ranges) == {5: me, 6: me, 2000: you}
    assert (2**255, None, "BEP721") in values(get, ranges)


def test_ranges_of_a_block_have_one_bound(anvil, index):
    me = anvil.accounts[0]
    ranges = anvil.deploy(me, "Ranges")
    half = MAX_CONSECUTIVE // 2
    for first in (0, half, 2 * half):
        anvil.transact(me, ranges, "claim", first, first + half - 1, ZERO, me)
    anvil.transact(me, ranges, "claim", 4 * half, 4 * half + 9, ZERO, me)  # the smallest first
    anvil.mine()
    get = index()
    assert holders(get, ranges) == {me: 3 * half + 10}
    assert get(ranges.address)["transferCount"] == half + 10 + 2


def test_amounts_of_ids_by_erc6909(anvil, index):
    me, you = anvil.accounts[:2]
    ids = anvil.deploy(me, "Ids")
    do(anvil, ids, "mint", me, 7, 100)
    do(anvil, ids, "mint", me, 2**255, 5)
    do(anvil, ids, "transfer", you, 7, 30)
    do(anvil, ids, "burn", me, 7, 10)
    do(anvil, ids, "setOperator", you, True)
    get = index()
    record = get(ids.address)
    assert (record["type"], record["itemCount"]) == ("BEP6909", 2)
    assert holders(get, ids) == {me: 65, you: 30}
    assert values(get, ids) == [
        (5, str(2**255), "BEP6909"),
        *((value, "7", "BEP6909") for value in (10, 30, 100)),
    ]
    item = get(f"{ids.address}/items/7")
    assert (item["tokenType"], item["owner"], item["ownerCount"]) == ("BEP6909", None, 2)
    [approval] = get(f"/api/v1/addresses/{me}/approvals")["approvals"]
    assert (approval["kind"], approval["spender"]) == ("operator", you)
    assert (approval["inForce"], approval["amountNow"], approval["atRisk"]) == (True, "1", "65")
    assert approval["revokeData"].startswith("0x558a7297")
    logs = get(f"/api/v1/logs?address={ids.address}&topic0=Transfer")["logs"]  # of its standard
    assert len(logs) == 4 and logs[0]["event"]["signature"].count("address") == 3


def test_a_transfer_whose_sender_alone_is_indexed(anvil, index):
    me, you = anvil.accounts[:2]
    odd = anvil.deploy(me, "SenderIndexed")
    do(anvil, odd, "mint", me, 3 * UNIT)
    do(anvil, odd, "transfer", you, UNIT)
    get = index()
    assert get(odd.address)["type"] == "BEP20"
    assert holders(get, odd) == {me: 2 * UNIT, you: UNIT}


@pytest.mark.parametrize("ids_first", [False, True])
def test_a_token_with_amounts_and_amounts_of_ids_has_both(anvil, index, ids_first):
    me, you = anvil.accounts[:2]
    both = anvil.deploy(me, "CoinsAndIds")
    acts = [("mint", me, 3 * UNIT), ("mintId", me, 7, 100)]
    for act in acts[::-1] if ids_first else acts:
        do(anvil, both, *act)
    do(anvil, both, "mintId", you, 7, 5)
    get = index()
    record = get(both.address)
    assert (record["type"], record["itemCount"], record["eventsConsistent"]) == ("BEP20", 1, True)
    assert holders(get, both) == {me: 3 * UNIT}
    item = get(f"{both.address}/items/7")
    assert (item["tokenType"], item["ownerCount"]) == ("BEP1155", 2)
    expected = [(5, "7", "BEP1155"), (100, "7", "BEP1155"), (3 * UNIT, None, "BEP20")]
    assert values(get, both) == expected
    [sums] = [{(s["tokenType"], s["value"]) for s in get(f"{both.address}/transfers/sums")["sums"]}]
    assert sums == {("BEP20", str(3 * UNIT)), ("BEP1155", "105")}


def test_more_decimals_than_255_are_unknown(anvil, index):
    me = anvil.accounts[0]
    many = anvil.deploy(me, "ManyDecimals")
    do(anvil, many, "mint", me, 5)
    get = index()
    assert get(many.address)["decimals"] is None
    [transfer] = get(f"{many.address}/transfers")["transfers"]
    assert transfer["tokenDecimals"] is None


def test_a_fork_takes_a_range_back(anvil, database_url, postgres, template):
    me = anvil.accounts[0]
    ranges = anvil.deploy(me, "Ranges")
    do(anvil, ranges, "claim", 1, 3, ZERO, me)
    do(anvil, ranges, "claim", 100, 2**255, ZERO, me)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        for count in (1, 4):
            anvil.reorganise(count)
            anvil.mine(count + 1)
            indexing.wait_for(anvil.head())
            assert digest(database_url) == fresh_digest(postgres, template, anvil)
        assert execute(database_url, "SELECT count(*) FROM token_transfers") == [(0,)]


DISGUISES = {
    "zero width space": "USD\u200bC",
    "soft hyphen": "US\u00adDC",
    "right-to-left mark": "\u200fUSDC",
    "trailing space": "USDC ",
    "full width": "\uff35\uff33\uff24\uff23",
    "Cyrillic": "U\u0405D\u0421",
    "Greek and digits": "USD\u03f9",
    "mathematical": "\U0001d414\U0001d412\U0001d403\U0001d402",
    "variation selector": "USDC\ufe0f",
}


def test_a_disguised_symbol_or_name_is_that_of_another_token(anvil, index):
    me, *others = anvil.accounts
    real = anvil.deploy(me, "Lookalike", "USD Coin", "USDC", others).address
    short = anvil.deploy(me, "Lookalike", "Dai", "DAI", others).address
    disguised = {
        kind: anvil.deploy(me, "Lookalike", kind, symbol, [me]).address
        for kind, symbol in DISGUISES.items()
    }
    named = anvil.deploy(me, "Lookalike", "USD\u00a0C\u043ein", "OTHER", [me]).address
    same_name = anvil.deploy(me, "Lookalike", "USD Coin", "BRIDGED", [me]).address
    small_l = anvil.deploy(me, "Lookalike", "x", "DAl", [me]).address
    differing = [
        anvil.deploy(me, "Lookalike", "n", symbol, [me]).address
        for symbol in ("USDT", "USD", "\u200b", "\u0421")
    ]
    get = index()
    for kind, address in disguised.items():
        assert get(address)["largerNamesake"] == real, kind
    assert get(named)["largerNamesake"] == real
    assert get(small_l)["largerNamesake"] == short
    for address in (real, short, same_name, *differing):
        assert get(address)["largerNamesake"] is None
    listed = {token["address"]: token["largerNamesake"] for token in get("?limit=100")["tokens"]}
    assert listed[disguised["Cyrillic"]] == real


def test_transfers_that_others_put_into_a_list_are_marked_and_folded(anvil, index):
    victim, attacker, friend = anvil.accounts[:3]
    real = anvil.deploy(victim, "Lookalike", "USD Coin", "USDC", [victim, friend])
    do(anvil, real, "transfer", friend, 5)
    do(anvil, real, "transfer", friend, 0)  # one's own
    fake = anvil.deploy(attacker, "Lookalike", "USD Coin", "USDC\u200b", [])
    zero = anvil.transact(attacker, real, "transferFrom", victim, attacker, 0)
    imitation = anvil.transact(attacker, fake, "claim", victim, attacker, 5)
    anvil.mine()
    get = index()
    transfers = get(f"/api/v1/addresses/{victim}/transfers")["transfers"]
    expected = {(victim, None), (attacker, "zero_amount"), (attacker, "imitation")}
    assert {(t["initiatedBy"], t["suspicious"]) for t in transfers} == expected
    history = get(f"/api/v1/addresses/{victim}/history?types=token_transfer")["history"]
    marks = {row["transactionHash"]: (row["initiatedBy"], row["suspicious"]) for row in history}
    assert marks[zero] == (attacker, "zero_amount")
    assert marks[imitation] == (attacker, "imitation")
    assert sorted(mark is None for _, mark in marks.values()) == [False, False, True, True, True]
    [header, *rows] = get(f"/api/v1/addresses/{victim}/transfers?format=csv").splitlines()
    assert {"initiated_by", "suspicious"} <= {*header.split(",")}
    assert sum(attacker in row and "zero_amount" in row for row in rows) == 1
    page = get(f"/address/{victim}?tab=transfers")
    assert page.count('class="folded"') == 2
    assert "Show 2 transfers" in page and "moves nothing, sent by another" in page
    assert "folded" not in get(f"/tx/{zero}")
    assert get(f"/address/{victim}?tab=history").count('class="folded"') == 2


def test_an_account_that_delegates_names_its_delegate(anvil, index):
    account, other = map(authorizations.new_account, (1, 2))
    authorizations.place_codes(anvil)
    signed = authorizations.authorize(account, authorizations.IDLE, 0)
    assert anvil.receipt_of(authorizations.send(anvil, [signed]))["status"] == "0x1"
    anvil.mine(2)
    get = index()
    path = "/api?module=contract&action=getsourcecode&address="
    shown = [get(path + a.address)["result"][0] for a in (account, other)]
    expected = [("1", authorizations.IDLE), ("0", "")]
    assert [(row["Proxy"], row["Implementation"]) for row in shown] == expected


def asks_for_an_older_balance(call):
    target, block = [*call["params"], None, None][:2]
    is_balance = call["method"] == "eth_call" and target["data"].startswith("0x70a08231")
    return is_balance and block != "latest"


# A node that has the balances of the newest state alone.
without_state = faulty_node.refuse(asks_for_an_older_balance, -32000, "missing trie node")


def test_coin_that_a_contract_sends_wraps_where_no_state_is_kept(anvil, database_url):
    me = anvil.accounts[0]
    wrapper = anvil.deploy(me, "BurntWrapper")
    do(anvil, anvil.deploy(me, "Purser", value=1000), "wrap", wrapper.address, me, 300)
    vault = anvil.deploy(me, "ShareVault")
    do(anvil, vault, "put", 100)  # without coin
    with FaultyNode(anvil.url, without_state) as node:
        Indexing(database_url, node.url).run_until(anvil.head())
    rows = "SELECT '0x' || encode(token_address, 'hex'), balance::integer FROM token_holders"
    assert dict(execute(database_url, rows)) == {wrapper.address: 300, vault.address: 80}


def test_swaps_of_pools_that_are_named_by_whether_they_are_stable(anvil, index):
    me = anvil.accounts[0]
    coins = [anvil.deploy(me, "Lookalike", name, name, [me]).address for name in ("A", "B")]
    factory = anvil.deploy(me, "StableFactory")
    for is_stable in (True, False):
        do(anvil, factory, "createPool", *coins, is_stable, gas=2_000_000)
        pool = Contract(anvil.read(factory, "getPool", *coins, is_stable), artifact("StablePool"))
        do(anvil, pool, "swap", 100, 0, 0, 90)
        do(anvil, pool, "swap", 0, 50, 40, 0)
        do(anvil, pool, "swap", 5, 5, 5, 5)  # nothing for nothing
    trades = index()("/api/v1/dex-trades")["trades"]
    assert {trade["dex"] for trade in trades} == {f"velodrome-{factory.address}"}
    assert [(trade["tokenIn"], trade["amountIn"], trade["amountOut"]) for trade in trades] == 2 * [
        (coins[1], "50", "40"),
        (coins[0], "100", "90"),
    ]


def test_swaps_of_pools_by_id(anvil, index):
    me = anvil.accounts[0]
    coin, other = (anvil.deploy(me, "Lookalike", n, n, [me]).address for n in ("A", "B"))
    managers = [anvil.deploy(me, "PoolManager") for _ in range(2)]
    ids = {}
    for fee, pair in ((500, (ZERO, coin)), (3000, (coin, other))):
        words = [bytes.fromhex(a[2:]).rjust(32, b"\0") for a in pair]
        key = [*words, fee.to_bytes(32), (60).to_bytes(32), bytes(32)]
        ids[fee] = keccak(b"".join(key))
        do(anvil, managers[0], "initialize", *pair, fee)
    do(anvil, managers[0], "claim", b"\x07" * 32, coin, other, 1)  # no hash of what it is
    do(anvil, managers[1], "swap", ids[500], -10, 9)  # of a pool of another manager
    do(anvil, managers[0], "swap", b"\x07" * 32, -10, 9)
    do(anvil, managers[0], "swap", ids[500], -100, 90)
    do(anvil, managers[0], "swap", ids[500], 40, -50)
    do(anvil, managers[0], "swap", ids[3000], 0, 0)
    do(anvil, managers[0], "swap", ids[3000], -(2**127), 2**127 - 1)
    get = index()
    manager = managers[0].address
    expected = [
        (ids[3000], coin, other, 2**127, 2**127 - 1),
        (ids[500], coin, ZERO, 50, 40),
        (ids[500], ZERO, coin, 100, 90),
    ]
    trades = get("/api/v1/dex-trades")["trades"]
    assert {(t["dex"], t["pairAddress"]) for t in trades} == {(f"v4-{manager}", manager)}
    assert {t["backedByTransfers"] for t in trades} == {None}
    keys = ("tokenIn", "tokenOut", "amountIn", "amountOut")
    assert [(t["poolId"], *(t[key] for key in keys)) for t in trades] == [
        ("0x" + id_.hex(), token_in, token_out, str(amount_in), str(amount_out))
        for id_, token_in, token_out, amount_in, amount_out in expected
    ]
    key = f"{manager}{ids[500].hex()}"
    assert len(get(f"/api/v1/dex-trades?pool={key}")["trades"]) == 2
    assert get(f"/api/v1/dex-trades?pool={manager}")["trades"] == []
    pools = [*get("/api/v1/pools?limit=1")["pools"]]
    following = get("/api/v1/pools?limit=1")["next"]
    pools += get(f"/api/v1/pools?limit=1&cursor={following}")["pools"]
    assert [(p["address"], p["poolId"], p["tradeCount"]) for p in pools] == [
        (manager, "0x" + ids[500].hex(), 2),
        (manager, "0x" + ids[3000].hex(), 1),
    ]
    assert get(f"/api/v1/pools/{key}")["poolId"] == "0x" + ids[500].hex()
    state = get(f"/api/v1/pools/{key}/state")
    assert (state["reserve0"], state["price"]) == (None, None)
    assert get(f"/api/v1/pools/{key}/volume")["volumes"][-1]["trades"] == 2
    assert get(f"/api/v1/pools/{key}/candles")["candles"][0]["trades"] == 2
    assert f'href="/pool/{key}"' in get("/dex")
    assert f"0x{ids[500].hex()}" in get(f"/pool/{key}")
    assert f'href="/pool/{key}"' in get(f"/address/{me}?tab=trades")
    header, row, *_ = get("/api/v1/dex-trades?format=csv").splitlines()
    assert ids[3000].hex() in row and "pool_id" in header
