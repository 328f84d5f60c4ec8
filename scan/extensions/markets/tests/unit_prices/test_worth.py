"""The worth of holdings, against balances of the node, with Uniswap's own contracts; and what can
want to be worth something."""

import csv
from collections import namedtuple
from decimal import Context, Decimal, localcontext

import pytest

from scan.extensions.markets.tests.unit_prices.pricing import priced_by_file
from scan.extensions.markets.unit_prices import pool_prices
from scan.pages.formatting import worth
from scan.queries import holdings
from tests.support.anvil import ZERO
from tests.support.indexing import Indexing, sources
from tests.support.page_checks import all_violations, show_at
from tests.support.scenario.exchanges import (
    CREATE_POOL_GAS,
    UNISWAP_V2_DEPLOYER,
    open_factory,
    pool,
)
from tests.support.scenario.stage import ETHER, MOST, Stage
from tests.support.serving import serving

PRICE, MIN_DEPTH = Decimal("1.0002"), Decimal(500)
LONG = "L" * 10_000
TOKENS = (
    ("dollar", "Meridian Dollar", "MUSD", 6),
    ("gold", "Ridge Gold", "RGLD", 18),
    ("silver", "Silver", "SLV", 18),
    ("whole", "Whole", "WHL", 0),
    ("fine", "Fine", "FINE", 77),
    ("long", "Long", LONG, 18),
    ("poor", "Poor", "POOR", 18),
    ("copy", "Meridian Dollar", "musd", 18),
    ("gift", "Gift", "GIFT", 18),
    ("lone", "Lone", "LONE", 18),
    ("hidden", "Dollar", "$ M\u200bU\uff33D", 18),  # with a letter of full width
    ("coin", "Coin", "ETH", 18),
)
# What a pool of the token has of it and of dollars, in their smallest units.
POOLS = {
    "gold": (40 * ETHER, 80_000 * 10**6),
    "silver": (10 * ETHER, 5_000 * 10**6),
    "whole": (5_000, 9_000 * 10**6),
    "fine": (10**33, 7_000 * 10**6),  # at a price of 47 digits
    "long": (3 * ETHER, 2_000 * 10**6),
    "poor": (1_001, 1_001),  # the least that Uniswap takes
    "copy": (1_000 * ETHER, 30_000 * 10**6),
    "gift": (10 * ETHER, 60_000 * 10**6),
}


class Market(namedtuple("Market", "stage indexing holder")):
    def address(self, key):
        return self.stage.contracts[key].address

    def client(self, folder):
        prices = {
            "currency": "USD",
            "time": "2026-01-31T23:59:59Z",
            "tokens": {self.address("dollar"): str(PRICE)},
            "minDepth": str(MIN_DEPTH),
        }
        return priced_by_file(self.indexing, folder, prices)


@pytest.fixture(scope="module")
def market(shared_anvil, shared_database_url):
    stage = Stage(shared_anvil)
    holder = stage.people[5]
    stage.deploy("router", "Router")
    open_factory(stage, "uniswap-v2", UNISWAP_V2_DEPLOYER, "UniswapV2Factory", ZERO)
    for key, name, symbol, decimals in TOKENS:
        stage.deploy(key, "Coin", name, symbol, decimals)
        stage.do(0, key, "mint", stage.people[0], 10**77, gas=200_000)
        for who in (0, 5):
            stage.do(who, key, "approve", stage.contracts["router"].address, MOST, gas=100_000)
        stage.mine()
    dollar = stage.contracts["dollar"].address

    def is_first(key):
        return int(stage.contracts[key].address, 16) < int(dollar, 16)

    for key, (amount, dollars) in POOLS.items():
        own = stage.contracts[key].address
        stage.do(0, "uniswap-v2", "createPair", own, dollar, gas=CREATE_POOL_GAS)
        stage.mine()
        pair = stage.anvil.read(stage.contracts["uniswap-v2"], "getPair", own, dollar)
        stage.pools[key] = pool(pair, "UniswapV2Pair")
        amounts = (amount, dollars) if is_first(key) else (dollars, amount)
        stage.do(0, "router", "addLiquidityV2", pair, *amounts, gas=600_000)
        stage.mine()
    stage.anvil.call("anvil_setBlockTimestampInterval", 3_700)
    for round_ in range(3):
        for key, (_, dollars) in POOLS.items():
            paid = max(1, dollars // (50 + 20 * round_))
            args = (stage.pools[key].address, not is_first(key), paid, stage.people[0])
            stage.do(0, "router", "swapV2", *args, gas=600_000)
        stage.mine()
    held = {"dollar": 1_000 * 10**6, "silver": 10**14, "whole": 11, "fine": 10**32, "poor": 10**70}
    held |= dict.fromkeys(("long", "gift", "lone", "hidden", "coin"), ETHER)
    for key, amount in held.items():
        stage.do(0, key, "transfer", holder, amount)
    stage.mine()
    for key in ("gold", "copy"):  # bought
        args = (stage.pools[key].address, not is_first(key), 100 * 10**6, holder)
        stage.do(5, "router", "swapV2", *args, gas=600_000)
    for key in "silver whole fine long poor lone hidden coin".split():  # used, by sending some
        stage.do(5, key, "transfer", stage.people[6], 1)
    stage.mine()
    indexing = Indexing(shared_database_url, shared_anvil.url).run_until(shared_anvil.head())
    return Market(stage, indexing, holder)


def expected_worths(market, holder, prices):
    """What a holder's balances of the node are worth at the prices of the API."""
    worths = {}
    with localcontext(Context(prec=300)):
        for key, _, _, decimals in TOKENS:
            contract = market.stage.contracts[key]
            balance = market.stage.anvil.read(contract, "balanceOf", holder)
            by = prices["pools"].get(contract.address)
            price = PRICE if key == "dollar" else by and Decimal(by["price"])
            worth = None if price is None else Decimal(balance).scaleb(-decimals) * price
            if worth is not None and by and worth > Decimal(by["depth"]):
                worth = None
            worths[contract.address] = worth
    return worths


def test_holdings_by_worth_are_exact_and_suspicious_ones_last(market, tmp_path):
    client = market.client(tmp_path)
    body = client.get(f"/api/v1/addresses/{market.holder}/tokens?sort=worth&limit=100").json
    prices = client.get("/api/v1/prices").json
    expected = expected_worths(market, market.holder, prices)
    shown = {t["tokenAddress"]: t["worth"] and Decimal(t["worth"]) for t in body["tokens"]}
    assert shown == expected
    suspicions = {market.address(key): "imitation" for key in ("copy", "hidden", "coin")}
    suspicions[market.address("gift")] = "unsolicited"
    assert {t["tokenAddress"]: t["suspicious"] for t in body["tokens"] if t["suspicious"]} == (
        suspicions
    )
    counted = {t: w for t, w in expected.items() if w is not None and t not in suspicions}
    others = [t for t, w in expected.items() if w is None and t not in suspicions]
    assert [t["tokenAddress"] for t in body["tokens"]] == [
        *sorted(counted, key=lambda token: (-counted[token], token)),
        *sorted(others),
        *sorted(suspicions),
    ]
    with localcontext(Context(prec=300)):
        total = sum(counted.values())
    worth = body["worth"]
    assert Decimal(worth.pop("total")) == total > 1000
    counts = {"counted": len(counted), "others": len(others), "suspicious": 4}
    assert worth == {"currency": "USD", **counts}
    assert expected[market.address("poor")] is None and body["total"] == len(TOKENS)


def test_an_amount_of_more_than_a_pool_holds_has_no_worth(market, tmp_path):
    """Nobody could get it for it."""
    client, owner = market.client(tmp_path), market.stage.people[0]
    worths = expected_worths(market, owner, client.get("/api/v1/prices").json)
    assert {worths[market.address(key)] for key in ("gold", "whole", "gift")} == {None}
    body = client.get(f"/api/v1/addresses/{owner}/tokens?sort=worth&limit=100").json
    shown = {t["tokenAddress"]: t["worth"] and Decimal(t["worth"]) for t in body["tokens"]}
    assert shown == {token: worths.get(token) for token in shown}
    for path in (f"/address/{owner}?tab=tokens", "/token-transfers?limit=100"):
        assert "e+" not in client.get(path).text


def test_pages_by_worth_make_the_whole_list(market, tmp_path):
    client = market.client(tmp_path)
    path = f"/api/v1/addresses/{market.holder}/tokens?sort=worth"
    whole = client.get(f"{path}&limit=100").json
    first = body = client.get(f"{path}&limit=3").json
    pages = first["tokens"]
    for number in range(2, len(TOKENS) // 3 + 1):
        of_page = client.get(f"{path}&limit=3&page={number}").json
        body = client.get(f"{path}&limit=3&cursor={body['next']}").json
        assert body == of_page
        assert (body["total"], body["worth"]) == (whole["total"], whole["worth"])
        pages = pages + body["tokens"]
    assert pages == whole["tokens"] and body["next"] is None
    file = [*csv.DictReader(client.get(f"{path}&format=csv").text.lstrip("\ufeff").splitlines())]
    assert [row["worth"] for row in file] == [t["worth"] or "" for t in pages]


def test_the_order_is_refused_where_it_is_not_known_or_of_too_many_tokens(market, tmp_path):
    path = f"/api/v1/addresses/{market.holder}/tokens?sort="
    client, bounded = (market.client(tmp_path) for _ in range(2))
    unpriced = market.indexing.client()
    bounds = sources(bounded).get(holdings.HoldingBounds)
    bounds.tokens, bounds.in_head = len(TOKENS) - 1, len(TOKENS) - 2
    for service, query, field in (
        (client, "price", "sort"),
        (client, "worth&block=1", "block"),
        (unpriced, "worth", "sort"),
        (bounded, "worth", "sort"),
    ):
        answer = service.get(path + query)
        assert (answer.status_code, answer.json["field"]) == (400, field)
    assert unpriced.get(f"/address/{market.holder}?tab=tokens").status_code == 200
    page = bounded.get(f"/address/{market.holder}?tab=tokens")
    assert page.status_code == 200 and "Total worth" not in page.text
    assert page.text.count('data-label="Token"') == len(TOKENS)


def test_the_page_folds_suspicious_tokens_and_says_what_the_total_is_of(market, tmp_path):
    client = market.client(tmp_path)
    path = f"/address/{market.holder}?tab=tokens"
    html = client.get(path).text
    body = client.get(f"/api/v1/addresses/{market.holder}/tokens?sort=worth").json
    total = worth(body["worth"]["total"])
    assert f"Total value of {body['worth']['counted']} tokens:" in html and total in html
    assert "4 suspicious tokens" in html
    shown, _, folded = html.partition("<details><summary>4 suspicious tokens</summary>")
    for key in ("copy", "gift", "hidden", "coin"):
        assert f'href="/token/{market.address(key)}"' not in shown.partition("Total value")[2]
        assert f'href="/token/{market.address(key)}"' in folded
    assert "symbol of a known token" in folded and "unsolicited" in folded
    gold = client.get(f"/token/{market.address('gold')}").text
    assert "by a <a href" in gold
    # The page opens with the price, in the other token of the pool that makes it.
    assert gold.index("<figcaption><span>Price, ") < gold.index('<dl class="numbers">')
    assert "<figure" not in client.get(f"/token/{market.address('gold')}?tab=holders").text
    poor = client.get(f"/token/{market.address('poor')}").text
    assert "<dt>Price</dt>" not in poor and "<figcaption><span>Price" not in poor


@pytest.mark.parametrize(("tab", "times"), [("", 1), ("?tab=tokens", 2)])
def test_a_total_says_that_the_prices_of_pools_are_not_read(
    market, tmp_path, monkeypatch, tab, times
):
    path = f"/address/{market.holder}{tab}"
    assert pool_prices.FAILED not in market.client(tmp_path).get(path).text
    monkeypatch.setattr(pool_prices, "MAX_FACTOR", "no number")
    assert market.client(tmp_path).get(path).text.count(pool_prices.FAILED) == times


@pytest.mark.thorough
@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_tokens_fit_into_the_page(market, tmp_path, page, width):
    client = market.client(tmp_path)
    show_at(page, width)
    with serving(client.application) as url:
        paths = [f"/address/{market.holder}?tab=tokens", "/token-transfers"]
        paths += [f"/token/{market.address(key)}" for key in ("long", "fine")]
        paths += [f"/pool/{market.stage.pools[key].address}" for key in ("long", "fine")]
        for path in paths:
            page.open(url + path)
            page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert all_violations(page) == [], path
