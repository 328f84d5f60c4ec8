"""Where events do not add up to what a token answers, it is marked, and every door shows what the
node answers, in whatever way the blocks are indexed."""

from decimal import Decimal

import pytest
from eth_utils import to_checksum_address

from scan.queries import balances
from scan.queries.holdings import UnitPrices
from tests.extensions.world import Chain
from tests.support import expected, fixed_prices
from tests.support.indexing import sources
from tests.support.lists import Listed, by_links
from tests.support.serving import NOWHERE

pytestmark = pytest.mark.thorough


@pytest.fixture
def chain(anvil, places):
    with Chain(anvil, places) as chain:
        yield chain


def test_a_mint_a_fee_a_burn_and_a_rebase_without_events(chain):
    one, two = chain.accounts[:2]
    coins = {name: chain.coin() for name in ("burnt", "rebased", "honest")}
    coins |= {"minted": chain.coin(logged=False), "fee": chain.coin(takes_fee=True)}
    for coin in coins.values():
        chain.do(coin, "transfer", two, 100)
    coins |= {"buried": chain.coin(), "wrapper": chain.deploy("WrappedEther")}
    chain.do(coins["buried"], "bury", 100)  # the zero address keeps it
    chain.do(coins["wrapper"], "deposit", value=100)
    # As what ends sends it.
    chain.anvil.call("anvil_setBalance", coins["wrapper"].address, "0xffff")
    chain.do(coins["wrapper"], "deposit", value=100)
    coins["from itself"] = chain.deploy("Presold", "cTHG", 0)
    chain.do(coins["from itself"], "mint", 1000)
    chain.do(coins["from itself"], "transfer", two, 10)
    chain.read()
    marked = {name: since for name, coin in coins.items() if (since := chain.since(coin))}
    assert marked.keys() == {"minted", "fee"}
    acts = (("burnt", "burn", 400), ("rebased", "rebase", 3), ("from itself", "issue", 1))
    for name, *act in acts:
        marked[name] = chain.do(coins[name], *act)
        chain.read()
    assert {name: chain.since(coin) for name, coin in coins.items()} == {
        name: marked.get(name) for name in coins
    }
    assert {name: chain.holders(coins[name]) for name in ("minted", "burnt", "rebased", "fee")} == {
        "minted": {one: 900, two: 100},
        "burnt": {one: 500, two: 100},
        "rebased": {one: 2700, two: 300},
        "fee": {one: 900, two: 90, coins["fee"].address: 10},
    }
    for name, coin in coins.items():
        record = chain.token(coin)
        flags = record["eventsConsistent"], "inconsistentSince" in record
        assert flags == (name not in marked, name in marked), name
    chain.is_the_same_in_whatever_way()


@pytest.mark.parametrize("idle_days", [0, 2])
def test_a_rebase_inside_of_another_call_is_read_at_its_block(chain, idle_days):
    coin, keeper = chain.coin(), chain.deploy("SilentKeeper")
    chain.do(coin, "transfer", chain.accounts[1], 100)
    for _ in range(idle_days):
        chain.next_day()
    chain.read()
    in_block = chain.do(keeper, "keep", coin.address, 3)
    chain.read()
    assert chain.since(coin) == in_block
    record = chain.token(coin)
    assert (record["totalSupply"], record["supplyBlock"]) == ("3000", in_block)
    assert chain.holders(coin)[chain.accounts[1]] == 300
    chain.is_the_same_in_whatever_way()
    chain.fork(1, mined=2)
    assert (chain.since(coin), chain.token(coin)["totalSupply"]) == (None, "1000")


def test_what_grows_with_time_is_noticed_on_an_unused_token_s_first_day(chain):
    coin = chain.deploy("SilentInterest", 1000)
    first = chain.head
    chain.read()
    assert chain.since(coin) is None
    chain.anvil.mine(63)
    chain.read()
    assert chain.since(coin) is None
    chain.anvil.mine()
    chain.read()
    assert chain.since(coin) == first + 64
    assert chain.holders(coin)[chain.accounts[0]] > 1000
    chain.is_the_same_in_whatever_way()


def test_every_door_shows_what_the_node_answers_or_that_it_shows_sums(chain):
    one, two, three = chain.accounts[:3]
    coin = chain.coin(logged=False, takes_fee=True)
    for holder, value in ((two, 500), (three, 200)):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "rebase", 7)
    chain.read()
    balances = {holder: chain.balance(coin, holder) for holder in (one, two, three, coin.address)}
    assert [*balances.values()] == [2100, 3150, 1260, 490]
    prices = UnitPrices("USD", "operator", "2026-01-01T00:00:00Z", None, {})
    fixed_prices.price(chain.client, prices._replace(tokens={coin.address: Decimal(2)}))
    names = {"one": one, "two": two, "three": three, "coin": coin.address}
    names |= {name.title(): to_checksum_address(address) for name, address in names.items()}
    expected.compare(__file__, chain.client, names)
    without_node = chain.indexing.client(rpc_urls=(NOWHERE,))
    expected.compare(__file__, without_node, names, "sums_without_a_node")
    answer = without_node.get(f"/api/v1/tokens/{coin.address}/holders")
    assert answer.headers["X-Scan-Inconsistent-Since"] == str(chain.since(coin))
    for view in ("tokens", "token_holders"):
        rows = chain.sql(f"SELECT inconsistent_since FROM v1.{view}")  # noqa: S608
        assert set(rows) == {(chain.since(coin),)}


def test_holders_beyond_the_ranking_follow_it(chain):
    bounds = sources(chain.client).get(balances.RankingBounds)
    bounds.largest, bounds.smallest = 2, 1
    coin = chain.coin(takes_fee=True)
    for holder, value in zip(chain.accounts[1:6], (300, 150, 90, 50, 10), strict=True):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "burn", 380)  # of 400 that the first has by events
    chain.read()
    whole = Listed(f"/tokens/{coin.address}/holders", "holders")
    records = by_links(chain.client, whole, 1)
    expected_order = [chain.accounts[number] for number in (1, 0, 2, 3, 4, 5)]
    expected_order.insert(1, coin.address)  # 60 of fees
    assert {r["address"]: int(r["balance"]) for r in records} == chain.holders(coin)
    assert [record["address"] for record in records] == expected_order
    deep = chain.token(coin, "/holders?limit=3&page=2")
    assert (deep["holders"], deep["total"]) == (records[3:6], len(records))
    zero = f"address_hash=0x{0:040x}&value={2**256 - 1}"
    assert chain.get(f"/api/v2/tokens/{coin.address}/holders?{zero}")["items"] == []


def test_a_holder_without_an_answer_follows_those_that_have_one(chain):
    one, two, three = chain.accounts[:3]
    coin = chain.coin(takes_fee=True)
    for holder, value in ((two, 100), (three, 200)):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "rebase", 2**248)  # what the first has is more than a word
    chain.read()
    *ranked, last = chain.token(coin, "/holders")["holders"]
    assert [record["address"] for record in ranked] == [three, two, coin.address]
    for record in ranked:
        assert int(record["balance"]) == chain.balance(coin, record["address"])
    assert last == {"address": one, "balance": "700", "inconsistentSince": chain.since(coin)}
    assert chain.token(coin, "/holders?limit=3&page=2")["holders"] == [last]
    reply = chain.get(f"/api?module=token&action=topholders&contractaddress={coin.address}")
    shown = [row["TokenHolderAddress"] for row in reply["result"]]
    assert shown == [three, two, coin.address, one]
    assert "do not add up" in reply["message"]


def test_balances_over_time_are_what_the_node_answers(chain):
    one, two = chain.accounts[:2]
    coin = chain.coin()
    minted = chain.head
    chain.do(coin, "rebase", 3)
    chain.do(coin, "transfer", two, 1500)  # of 1000 by events
    chain.anvil.mine(2)
    chain.read()
    path = f"/addresses/{one}/balances?token={coin.address}&points=4&blockTo={minted + 3}"
    shown = chain.get(f"/api/v1{path}")
    assert (shown["complete"], shown["reason"]) == (False, "inconsistent_events")
    after = {p["blockNumber"] - minted: p["balance"] for p in shown["balances"]}
    assert after == {0: "1000", 1: "3000", 2: "1500", 3: "1500"}
    assert (shown["at"]["blockNumber"], shown["at"]["balance"]) == (minted + 3, "1500")
    page = chain.get(f"/address/{one}?tab=chart&token={coin.address}")
    assert "only balances that it answers" in page
    without = chain.indexing.client(rpc_urls=(NOWHERE,)).get(f"/api/v1{path}").json
    assert (without["balances"], without["complete"], "at" in without) == ([], False, False)


def test_items_that_are_minted_or_move_without_an_event(chain):
    me, two, three = chain.accounts[:3]
    items, nfts = chain.deploy("SilentItems"), chain.deploy("SilentNfts")
    chain.do(items, "mint", me, 7, 5, 3)
    moves = ((two, 1, True), (three, 1, False), (two, 2, True), (two, 3, True), (three, 4, True))
    for move in (*moves, (f"0x{0:040x}", 3, False)):  # of which ownerOf() reverts then
        chain.do(nfts, "move", *move)
    chain.read()
    assert None not in (chain.since(items), chain.since(nfts))
    owners = {item: chain.anvil.read(nfts, "ownerOf", item) for item in (1, 2, 4)}
    assert owners == {1: three, 2: two, 4: three}
    names = {"me": me, "two": two, "three": three, "items": items.address, "nfts": nfts.address}
    names |= {name.title(): to_checksum_address(address) for name, address in names.items()}
    expected.compare(__file__, chain.client, names, "silent_items")
    chain.is_as_fresh()
