"""Where events do not add up to what a token answers, it is marked, and every door shows what the
node answers, in whatever way the blocks are indexed."""

from collections import namedtuple
from dataclasses import replace
from decimal import Decimal

import pytest

from app import create_app
from scan.queries import balances
from scan.queries.holdings import UnitPrices
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way, next_day
from tests.support import auditing, fixed_prices
from tests.support.database import execute
from tests.support.indexing import Indexing, sources
from tests.support.serving import NOWHERE
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
MARKS = "SELECT inconsistent_since FROM tokens WHERE address = %s"


class Chain(namedtuple("Chain", "anvil indexing url client")):
    """A chain, its index, and the requests that a test makes."""

    def get(self, path):
        return self.client.get(path).get_json()

    def text(self, path):
        return self.client.get(path).text

    def do(self, contract, function, *args, sender=0, **fields):
        sent = self.anvil.transact(self.anvil.accounts[sender], contract, function, *args, **fields)
        assert self.anvil.receipt_of(sent)["status"] == "0x1", function
        return self.anvil.head()

    def read(self):
        self.indexing.look()
        self.indexing.wait_for(self.anvil.head())

    def coin(self, *, logged=True, takes_fee=False):
        return self.anvil.deploy(self.anvil.accounts[0], "SilentCoin", 1000, logged, takes_fee)

    def since(self, contract):
        [(block,)] = execute(self.url, MARKS, bytes.fromhex(contract.address[2:]))
        return block

    def balance(self, contract, holder):
        return self.anvil.read(contract, "balanceOf", holder)

    def holders(self, contract):
        """What the holders of a token have by its list, which is checked with the node."""
        records = self.get(f"/api/v1/tokens/{contract.address}/holders")["holders"]
        for record in records:
            assert int(record["balance"]) == self.balance(contract, record["address"])
        return {record["address"]: int(record["balance"]) for record in records}


@pytest.fixture
def chain(anvil, database_url):
    with Indexing(database_url, anvil.url) as indexing:
        yield Chain(anvil, indexing, database_url, indexing.client())


def test_a_mint_a_fee_a_burn_and_a_rebase_without_events(chain, postgres, template, tmp_path):
    one, two = chain.anvil.accounts[:2]
    minted, fee, burnt, rebased = (
        chain.coin(logged=False),
        chain.coin(takes_fee=True),
        chain.coin(),
        chain.coin(),
    )
    honest, buried = chain.coin(), chain.coin()
    wrapper = chain.anvil.deploy(one, "WrappedEther")
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
    is_the_same_in_whatever_way(postgres, template, chain.anvil, chain.url, tmp_path)


@pytest.mark.parametrize("idle_days", [0, 2])
def test_a_rebase_inside_of_another_call_is_read_at_its_block(
    chain, postgres, template, tmp_path, idle_days
):
    coin, keeper = chain.coin(), chain.anvil.deploy(chain.anvil.accounts[0], "SilentKeeper")
    chain.do(coin, "transfer", chain.anvil.accounts[1], 100)
    for _ in range(idle_days):
        next_day(chain.anvil)
    chain.read()
    in_block = chain.do(keeper, "keep", coin.address, 3)
    chain.read()
    assert chain.since(coin) == in_block
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert (record["totalSupply"], record["supplyBlock"]) == ("3000", in_block)
    assert chain.holders(coin)[chain.anvil.accounts[1]] == 300
    is_the_same_in_whatever_way(postgres, template, chain.anvil, chain.url, tmp_path)
    chain.anvil.reorganise(1)
    chain.anvil.mine()
    chain.read()
    assert chain.since(coin) is None
    assert digest(chain.url) == fresh_digest(postgres, template, chain.anvil)


def test_without_traces_a_rebase_inside_of_another_call_is_read_on_the_next_day(
    anvil, database_url, capsys
):
    one, two = anvil.accounts[:2]
    coin, keeper = (
        anvil.deploy(one, "SilentCoin", 1000, True, False),
        anvil.deploy(one, "SilentKeeper"),
    )
    anvil.receipt_of(anvil.transact(one, coin, "transfer", two, 100))
    with Indexing(database_url, anvil.url, until=anvil.head(), traces="off") as indexing:
        of_block = anvil.head()
        anvil.receipt_of(anvil.transact(one, keeper, "keep", coin.address, 3))
        indexing.wait_for(anvil.head())
        client = indexing.client()
        record = client.get(f"/api/v1/tokens/{coin.address}").get_json()
        assert (record["totalSupply"], record["supplyBlock"]) == ("1000", of_block)
        assert (
            f'after block <a href="/block/{of_block}"' in client.get(f"/token/{coin.address}").text
        )
        assert auditing.run(indexing.settings, node=True) == auditing.DIFFERS
        message = f"has 2700 at block {anvil.head()}"
        assert "total_supply is 1000, the node has 3000" in (out := capsys.readouterr().out)
        assert message in out
        next_day(anvil)
        indexing.wait_for(anvil.head())
        record = client.get(f"/api/v1/tokens/{coin.address}").get_json()
        assert (record["totalSupply"], record["supplyBlock"]) == ("3000", anvil.head())
        assert auditing.run(indexing.settings, node=True) == auditing.EXACT


def test_what_grows_with_time_is_noticed_on_an_unused_token_s_first_day(
    chain, postgres, template, tmp_path
):
    coin = chain.anvil.deploy(chain.anvil.accounts[0], "SilentInterest", 1000)
    first = chain.anvil.head()
    chain.read()
    assert chain.since(coin) is None
    chain.anvil.mine(63)
    chain.read()
    assert chain.since(coin) is None
    chain.anvil.mine()
    chain.read()
    assert chain.since(coin) == first + 64
    assert chain.holders(coin)[chain.anvil.accounts[0]] > 1000
    is_the_same_in_whatever_way(postgres, template, chain.anvil, chain.url, tmp_path)


def test_a_fork_takes_a_mark_back(chain, postgres, template):
    coin = chain.coin()
    chain.do(coin, "transfer", chain.anvil.accounts[1], 100)
    chain.do(coin, "rebase", 3)
    chain.read()
    assert chain.since(coin) == chain.anvil.head()
    chain.anvil.reorganise(1)
    chain.anvil.mine(2)
    chain.read()
    assert chain.since(coin) is None
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert (record["totalSupply"], record["eventsConsistent"]) == ("1000", True)
    assert digest(chain.url) == fresh_digest(postgres, template, chain.anvil)


def units(value):
    return f"{Decimal(value).scaleb(-18).normalize():f}"


def by_door(get, text, token, holders):
    """What doors show of a token: its supplies, and its balances by holder, each by its door."""
    api, shapes = "/api/v1", f"/api?contractaddress={token}&module="
    supplies = {
        "token": get(f"{api}/tokens/{token}")["totalSupply"],
        "list": {t["address"]: t for t in get(f"{api}/tokens")["tokens"]}[token]["totalSupply"],
        "tokensupply": get(f"{shapes}stats&action=tokensupply")["result"],
        "tokeninfo": get(f"{shapes}token&action=tokeninfo")["result"][0]["totalSupply"],
        "getToken": get(f"{shapes}token&action=getToken")["result"]["totalSupply"],
        "blockscout": get(f"/api/v2/tokens/{token}")["total_supply"],
    }
    lists = {
        "holders": [
            (r["address"], r["balance"]) for r in get(f"{api}/tokens/{token}/holders")["holders"]
        ],
        "tokenholderlist": [
            (r["TokenHolderAddress"], r["TokenHolderQuantity"])
            for r in get(f"{shapes}token&action=tokenholderlist")["result"]
        ],
        "getTokenHolders": [
            (r["address"], r["value"])
            for r in get(f"{shapes}token&action=getTokenHolders")["result"]
        ],
        "blockscout": [
            (r["address"]["hash"].lower(), r["value"])
            for r in get(f"/api/v2/tokens/{token}/holders")["items"]
        ],
        "csv": [
            (line.split(",")[0], line.split(",")[3].removesuffix(" units"))
            for line in text(f"{api}/tokens/{token}/holders?format=csv").splitlines()[1:]
        ],
    }
    of_holders = {}
    for holder in holders:
        held = f"{api}/addresses/{holder}/tokens"
        v2 = f"/api/v2/addresses/{holder}"
        account = f"{shapes}account&address={holder}&action="
        of_holders[holder] = {
            "tokenbalance": get(f"{account}tokenbalance")["result"],
            **{
                f"held {query}": of_token(get(f"{held}{query}")["tokens"], "tokenAddress", token)
                for query in ("", "?sort=worth", "?block=latest")
            },
            "addresstokenbalance": of_token(
                get(f"{account}addresstokenbalance")["result"],
                "TokenAddress",
                token,
                "TokenQuantity",
            ),
            "tokenlist": of_token(get(f"{account}tokenlist")["result"], "contractAddress", token),
            "token-balances": get(f"{v2}/token-balances")[0]["value"],
            "tokens": get(f"{v2}/tokens")["items"][0]["value"],
        }
    return supplies, lists, of_holders


def of_token(records, key, token, value="balance"):
    """The balance of a token among records of what is held; "0" where none has it."""
    return next((r[value] for r in records if r[key].lower() == token), "0")


def test_every_door_shows_what_the_node_answers(chain):
    prices = UnitPrices("USD", "operator", "2026-01-01T00:00:00Z", None, {})
    one, two, three = chain.anvil.accounts[:3]
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
    supplies, lists, of_holders = by_door(chain.get, chain.text, token, expected)
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
    assert "Holders (4)" in chain.text(f"/token/{token}")
    [listed] = chain.get("/api/v2/tokens")["items"]  # which cannot say how many were asked
    assert listed["holders_count"] is None
    assert "not counted" in chain.text("/tokens")
    worth = chain.get(f"/api/v1/addresses/{two}/tokens?sort=worth")
    assert worth["tokens"][0]["worth"] == worth["worth"]["total"] == units(6300)
    for page in (f"/token/{token}?tab=holders", f"/address/{two}?tab=tokens"):
        assert 'value="3150"' in chain.text(page), page
    assert "are not the sums of its events" in chain.text(f"/token/{token}")
    for view in ("tokens", "token_holders"):
        rows = execute(chain.url, f"SELECT inconsistent_since FROM v1.{view}")  # noqa: S608
        assert set(rows) == {(chain.since(coin),)}


def test_without_a_node_every_door_says_that_it_shows_sums(chain):
    one, two = chain.anvil.accounts[:2]
    coin = chain.coin(logged=False)
    chain.do(coin, "transfer", two, 100)
    chain.read()
    since = chain.since(coin)
    client = create_app(replace(chain.indexing.settings, rpc_urls=(NOWHERE,))).test_client()
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
    for holder, value in zip(chain.anvil.accounts[1:6], (300, 150, 90, 50, 10), strict=True):
        chain.do(coin, "transfer", holder, value)
    chain.do(coin, "burn", 380)  # of 400 that the first has by events
    chain.read()
    records, path = [], f"/api/v1/tokens/{coin.address}/holders?limit=1"
    cursor = ""
    while cursor is not None:
        page = chain.get(f"{path}&cursor={cursor}" if cursor else path)
        records += page["holders"]
        cursor = page["next"]
    expected = [chain.anvil.accounts[number] for number in (1, 0, 2, 3, 4, 5)]
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
    one, two, three = chain.anvil.accounts[:3]
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
    one, two = chain.anvil.accounts[:2]
    coin = chain.coin()
    minted = chain.anvil.head()
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
    assert "only balances that it answers" in chain.text(
        f"/address/{one}?tab=chart&token={coin.address}"
    )
    client = create_app(replace(chain.indexing.settings, rpc_urls=(NOWHERE,))).test_client()
    assert balances_of(lambda path: client.get(path).get_json()) == ({}, None)


def test_items_that_are_minted_without_an_event(chain, postgres, template):
    me = chain.anvil.accounts[0]
    items = chain.anvil.deploy(me, "SilentItems")
    chain.do(items, "mint", me, 7, 5, 3)
    chain.read()
    assert chain.since(items) == chain.anvil.head()
    [held] = chain.get(f"/api/v1/addresses/{me}/items")["items"]
    [owner] = chain.get(f"/api/v1/tokens/{items.address}/items/7")["owners"]
    assert (held["balance"], owner["balance"]) == ("5", "5")
    [holder] = chain.get(f"/api/v1/tokens/{items.address}/holders")["holders"]
    assert (holder["balance"], "inconsistentSince" in holder) == ("3", True)
    token = chain.get(f"/api/v1/tokens/{items.address}")  # which has no totalSupply()
    assert (token["totalSupply"], token["supplyBlock"]) == ("3", None)
    supply = chain.get(f"/api?module=stats&action=tokensupply&contractaddress={items.address}")
    assert (supply["result"], "do not add up" in supply["message"]) == ("3", True)
    assert digest(chain.url) == fresh_digest(postgres, template, chain.anvil)


def test_nfts_that_move_without_an_event(chain):
    me, two, three = chain.anvil.accounts[:3]
    nfts = chain.anvil.deploy(me, "SilentNfts")
    for item, moves in {1: ((two, True), (three, False)), 2: ((two, True),)}.items():
        for to, is_logged in moves:
            chain.do(nfts, "move", to, item, is_logged)
    chain.do(nfts, "move", two, 3, True)
    chain.do(nfts, "move", f"0x{0:040x}", 3, False)
    chain.do(nfts, "move", three, 4, True)
    chain.read()
    since, head = chain.since(nfts), chain.anvil.head()
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
        assert "by events, which do not add up" in chain.text(page)
    inventory = f"/api?module=account&action=addresstokennftinventory&address={two}"
    listed = chain.get(f"{inventory}&contractaddress={nfts.address}")
    assert "do not add up" in listed["message"]
