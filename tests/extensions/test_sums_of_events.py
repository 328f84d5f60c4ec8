"""Where events do not add up to what a token answers, it is marked, and every door shows what the
node answers, in whatever way the blocks are indexed."""

from decimal import Decimal

import pytest

from scan.queries import balances
from scan.queries.holdings import UnitPrices
from tests.extensions.token_doors import by_door
from tests.extensions.world import Chain, chain
from tests.support import auditing, fixed_prices
from tests.support.indexing import sources
from tests.support.serving import NOWHERE

__all__ = ["chain"]
pytestmark = pytest.mark.thorough


def test_a_mint_a_fee_a_burn_and_a_rebase_without_events(chain):
    one, two = chain.accounts[:2]
    minted, fee, burnt, rebased = (
        chain.coin(logged=False),
        chain.coin(takes_fee=True),
        chain.coin(),
        chain.coin(),
    )
    honest, buried = chain.coin(), chain.coin()
    wrapper = chain.deploy("WrappedEther")
    chain.do(wrapper, "deposit", value=100)
    chain.anvil.call("anvil_setBalance", wrapper.address, "0xffff")  # as what ends sends it
    chain.do(wrapper, "deposit", value=100)
    for coin in (minted, fee, burnt, rebased, honest):
        chain.do(coin, "transfer", two, 100)
    chain.do(buried, "bury", 100)  # the zero address keeps it
    chain.read()
    marks = {coin.address: chain.since(coin) for coin in (burnt, rebased, honest, buried, wrapper)}
    assert set(marks.values()) == {None}
    assert None not in (chain.since(minted), chain.since(fee))
    in_block = chain.do(burnt, "burn", 400)
    chain.read()
    assert chain.since(burnt) == in_block
    in_block = chain.do(rebased, "rebase", 3)
    chain.read()
    assert chain.since(rebased) == in_block
    assert chain.holders(minted) == {one: 900, two: 100}
    assert chain.holders(fee) == {one: 900, two: 90, fee.address: 10}
    assert chain.holders(burnt) == {one: 500, two: 100}
    assert chain.holders(rebased) == {one: 2700, two: 300}
    assert chain.holders(honest) == {one: 900, two: 100}
    for coin, is_consistent in ((honest, True), (buried, True), (minted, False), (fee, False)):
        record = chain.get(f"/api/v1/tokens/{coin.address}")
        assert record["eventsConsistent"] is is_consistent
        assert ("inconsistentSince" in record) is not is_consistent
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
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert (record["totalSupply"], record["supplyBlock"]) == ("3000", in_block)
    assert chain.holders(coin)[chain.accounts[1]] == 300
    chain.is_the_same_in_whatever_way()
    chain.fork(1)
    assert chain.since(coin) is None


def test_without_traces_a_rebase_inside_of_another_call_is_read_on_the_next_day(
    anvil, places, capsys
):
    with Chain(anvil, places, traces="off") as chain:
        coin, keeper = chain.coin(), chain.deploy("SilentKeeper")
        of_block = chain.do(coin, "transfer", chain.you, 100)
        chain.read()
        in_block = chain.do(keeper, "keep", coin.address, 3)
        chain.read()
        record = chain.token(coin)
        assert (record["totalSupply"], record["supplyBlock"]) == ("1000", of_block)
        page = chain.get(f"/token/{coin.address}")
        assert f'after block <a href="/block/{of_block}"' in page
        assert chain.audit(node=True) == auditing.DIFFERS
        assert "total_supply is 1000, the node has 3000" in (out := capsys.readouterr().out)
        assert f"has 2700 at block {in_block}" in out
        chain.next_day()
        chain.read()
        record = chain.token(coin)
        assert (record["totalSupply"], record["supplyBlock"]) == ("3000", chain.head)
        assert chain.audit(node=True) == auditing.EXACT


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


def test_a_fork_takes_a_mark_back(chain):
    coin = chain.coin()
    chain.do(coin, "transfer", chain.accounts[1], 100)
    chain.do(coin, "rebase", 3)
    chain.read()
    assert chain.since(coin) == chain.head
    chain.fork(1, mined=2)
    assert chain.since(coin) is None
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert (record["totalSupply"], record["eventsConsistent"]) == ("1000", True)


def units(value):
    return f"{Decimal(value).scaleb(-18).normalize():f}"


def test_every_door_shows_what_the_node_answers(chain):
    prices = UnitPrices("USD", "operator", "2026-01-01T00:00:00Z", None, {})
    one, two, three = chain.accounts[:3]
    coin = chain.coin(logged=False, takes_fee=True)
    token = coin.address
    for holder, value in ((two, 500), (three, 200)):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "rebase", 7)
    chain.read()
    given = prices._replace(tokens={token: Decimal(2)})
    fixed_prices.price(chain.client, given)
    expected = {a: chain.balance(coin, a) for a in (one, two, three, token)}
    assert expected == {one: 2100, two: 3150, three: 1260, token: 490}
    supplies, lists, of_holders = by_door(chain.get, token, expected)
    assert set(supplies.values()) == {"7000"}, supplies
    ranked = sorted(expected.items(), key=lambda held: -held[1])
    for door, records in lists.items():
        assert [(a.lower(), int(n)) for a, n in records] == ranked, door
    for holder, doors in of_holders.items():
        assert set(doors.values()) == {str(expected[holder])}, (holder, doors)
    [top] = chain.get(f"/api?module=token&action=topholders&contractaddress={token}&offset=1")[
        "result"
    ]
    assert (top["TokenHolderAddress"], top["TokenHolderQuantity"]) == (two, units(3150))
    count = f"/api?module=token&action=tokenholdercount&contractaddress={token}"
    assert chain.get(count)["result"] == "4"
    assert chain.get(f"/api/v2/tokens/{token}/counters")["token_holders_count"] == "4"
    assert chain.get(f"/api/v2/tokens/{token}")["holders_count"] == "4"
    assert chain.get(f"/api/v1/tokens/{token}")["holderCount"] == 4
    assert "Holders (4)" in chain.get(f"/token/{token}")
    [listed] = chain.get("/api/v2/tokens")["items"]  # which cannot say how many were asked
    assert listed["holders_count"] is None
    assert "not counted" in chain.get("/tokens")
    worth = chain.get(f"/api/v1/addresses/{two}/tokens?sort=worth")
    assert worth["tokens"][0]["worth"] == worth["worth"]["total"] == units(6300)
    for page in (f"/token/{token}?tab=holders", f"/address/{two}?tab=tokens"):
        assert 'value="3150"' in chain.get(page), page
    assert "are not the sums of its events" in chain.get(f"/token/{token}")
    for view in ("tokens", "token_holders"):
        rows = chain.sql(f"SELECT inconsistent_since FROM v1.{view}")  # noqa: S608
        assert set(rows) == {(chain.since(coin),)}


def test_without_a_node_every_door_says_that_it_shows_sums(chain):
    one, two = chain.accounts[:2]
    coin = chain.coin(logged=False)
    chain.do(coin, "transfer", two, 100)
    chain.read()
    since = chain.since(coin)
    client = chain.indexing.client(rpc_urls=(NOWHERE,))
    holders = client.get(f"/api/v1/tokens/{coin.address}/holders")
    assert holders.headers["X-Scan-Inconsistent-Since"] == str(since)
    record = {"address": two, "balance": "100", "inconsistentSince": since}
    assert holders.get_json()["holders"] == [record]
    assert client.get(f"/api/v1/tokens/{coin.address}").get_json()["holderCount"] == 1
    [held] = client.get(f"/api/v1/addresses/{two}/tokens").get_json()["tokens"]
    assert (held["balance"], held["inconsistentSince"]) == ("100", since)
    assert client.get(f"/api/v1/addresses/{one}/tokens").get_json()["tokens"] == []
    path = f"/api?module=account&action=addresstokenbalance&address={two}"
    assert "do not add up" in client.get(path).get_json()["message"]
    for page in (f"/token/{coin.address}?tab=holders", f"/address/{two}?tab=tokens"):
        assert "by events, which do not add up" in client.get(page).text


def test_holders_beyond_the_ranking_follow_it(chain):
    bounds = sources(chain.client).get(balances.RankingBounds)
    bounds.largest, bounds.smallest = 2, 1
    coin = chain.coin(takes_fee=True)
    for holder, value in zip(chain.accounts[1:6], (300, 150, 90, 50, 10), strict=True):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "burn", 380)  # of 400 that the first has by events
    chain.read()
    records, path = [], f"/api/v1/tokens/{coin.address}/holders?limit=1"
    cursor = ""
    while cursor is not None:
        page = chain.get(f"{path}&cursor={cursor}" if cursor else path)
        records += page["holders"]
        cursor = page["next"]
    expected = [chain.accounts[number] for number in (1, 0, 2, 3, 4, 5)]
    expected.insert(1, coin.address)  # 60 of fees
    assert [record["address"] for record in records] == expected
    for record in records:
        assert int(record["balance"]) == chain.balance(coin, record["address"])
    assert page["total"] == len(records)
    deep = chain.get(f"{path.replace('limit=1', 'limit=3')}&page=2")["holders"]
    assert [record["address"] for record in deep] == expected[3:6]
    zero = f"address_hash=0x{0:040x}&value={2**256 - 1}"
    assert chain.get(f"/api/v2/tokens/{coin.address}/holders?{zero}")["items"] == []


def test_a_holder_without_an_answer_follows_those_that_have_one(chain):
    one, two, three = chain.accounts[:3]
    coin = chain.coin(takes_fee=True)
    for holder, value in ((two, 100), (three, 200)):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "rebase", 2**248)  # what the first has is more than a word
    chain.read()
    path = f"/api/v1/tokens/{coin.address}/holders"
    *ranked, last = chain.get(path)["holders"]
    assert [record["address"] for record in ranked] == [three, two, coin.address]
    for record in ranked:
        assert int(record["balance"]) == chain.balance(coin, record["address"])
    assert last == {"address": one, "balance": "700", "inconsistentSince": chain.since(coin)}
    assert chain.get(f"{path}?limit=3&page=2")["holders"] == [last]
    reply = chain.get(f"/api?module=token&action=topholders&contractaddress={coin.address}")
    assert [row["TokenHolderAddress"] for row in reply["result"]] == [
        *(record["address"] for record in ranked),
        one,
    ]
    assert "do not add up" in reply["message"]


def test_balances_over_time_are_what_the_node_answers(chain):
    one, two = chain.accounts[:2]
    coin = chain.coin()
    minted = chain.head
    chain.do(coin, "rebase", 3)
    chain.do(coin, "transfer", two, 1500)  # of 1000 by events
    chain.anvil.mine(2)
    chain.read()
    path = f"/addresses/{one}/balances?token={coin.address}"

    def balances_of(client_get):
        page = client_get(f"/api/v1{path}&points=4&blockTo={minted + 3}")
        assert (page["complete"], page["reason"]) == (False, "inconsistent_events")
        return {p["blockNumber"] - minted: p["balance"] for p in page["balances"]}, page.get("at")

    after, at = balances_of(chain.get)
    assert after == {0: "1000", 1: "3000", 2: "1500", 3: "1500"}
    assert (at["blockNumber"], at["balance"]) == (minted + 3, "1500")
    assert "only balances that it answers" in chain.get(
        f"/address/{one}?tab=chart&token={coin.address}"
    )
    client = chain.indexing.client(rpc_urls=(NOWHERE,))
    assert balances_of(lambda path: client.get(path).get_json()) == ({}, None)


def test_items_that_are_minted_without_an_event(chain):
    me = chain.accounts[0]
    items = chain.deploy("SilentItems")
    chain.do(items, "mint", me, 7, 5, 3)
    chain.read()
    assert chain.since(items) == chain.head
    [held] = chain.get(f"/api/v1/addresses/{me}/items")["items"]
    [owner] = chain.get(f"/api/v1/tokens/{items.address}/items/7")["owners"]
    assert (held["balance"], owner["balance"]) == ("5", "5")
    [holder] = chain.get(f"/api/v1/tokens/{items.address}/holders")["holders"]
    assert (holder["balance"], "inconsistentSince" in holder) == ("3", True)
    token = chain.get(f"/api/v1/tokens/{items.address}")  # which has no totalSupply()
    assert (token["totalSupply"], token["supplyBlock"]) == ("3", None)
    supply = chain.get(f"/api?module=stats&action=tokensupply&contractaddress={items.address}")
    assert (supply["result"], "do not add up" in supply["message"]) == ("3", True)
    chain.is_as_fresh()


def test_nfts_that_move_without_an_event(chain):
    two, three = chain.accounts[1:3]
    nfts = chain.deploy("SilentNfts")
    for item, moves in {1: ((two, True), (three, False)), 2: ((two, True),)}.items():
        for to, is_logged in moves:
            chain.do(nfts, "move", to, item, is_logged)
    chain.do(nfts, "move", two, 3, True)
    chain.do(nfts, "move", f"0x{0:040x}", 3, False)
    chain.do(nfts, "move", three, 4, True)
    chain.read()
    since, head = chain.since(nfts), chain.head
    assert since is not None
    api = f"/api/v1/tokens/{nfts.address}"
    owners = {1: three, 2: two, 4: three}  # ownerOf(3) reverts
    for record in [
        *chain.get(f"{api}/items")["items"],
        *(chain.get(f"{api}/items/{n}") for n in range(1, 5)),
    ]:
        item = int(record["tokenId"])
        mark = {"ownerBlock": head} if item in owners else {"inconsistentSince": since}
        assert record.items() >= {"owner": owners.get(item, two), "ownerCount": 1, **mark}.items()
        renamed = {"balanceBlock": head} if item in owners else mark
        owner = {"address": record["owner"], "balance": "1", **renamed}
        assert record.get("owners", [owner]) == [owner]
    held = chain.get(f"/api/v1/addresses/{two}/items")["items"]
    assert {r["tokenId"]: r["balance"] for r in held} == {"3": "1", "2": "1", "1": "0"}
    assert [r["inconsistentSince"] for r in held if r["tokenId"] == "3"] == [since]
    instances = chain.get(f"/api/v2/tokens/{nfts.address}/instances")["items"]
    shown = {int(i["id"]): i["owner"]["hash"].lower() for i in instances}
    assert shown == {**owners, 3: two}
    for page in (f"/nft/{nfts.address}/3", f"/token/{nfts.address}?tab=items"):
        assert "by events, which do not add up" in chain.get(page)
    inventory = f"/api?module=account&action=addresstokennftinventory&address={two}"
    listed = chain.get(f"{inventory}&contractaddress={nfts.address}")
    assert "do not add up" in listed["message"]
