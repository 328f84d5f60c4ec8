"""Pools on pages, what they are called, and their trades; what a pool holds, its price and fee,
against Uniswap's own contracts."""

import itertools
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest

from scan.pages.formatting import pair_name
from scan.queries import tokens
from tests.support.explorer import behind
from tests.support.faulty_node import replacing
from tests.support.indexing import sources
from tests.support.serving import NOWHERE


def test_a_pair_of_hostile_symbols_keeps_both_in_sight():
    """A token's contract chooses its symbol; a blank one is shown by its address."""
    pool = {
        "token0": "0x" + "ab" * 20,
        "token0Symbol": "W" * 5_000,
        "token1": "0x" + "cd" * 20,
        "token1Symbol": "\u202eDSU",
    }
    shown = pair_name(pool)
    assert len(shown) <= 60 and shown.startswith("WWW") and "\u202e" not in shown
    assert shown.endswith("DSU")
    assert pair_name(pool | {"token1Symbol": " \u200b"}).endswith(" / 0xCdCDCd…CDcD")
    assert pair_name(pool | {"token1Symbol": None}).endswith(" / 0xCdCDCd…CDcD")


def test_exchanges_are_a_choice_and_another_one_is_unknown(client):
    names = {pool["dex"] for pool in client.get("/api/v1/pools").json["pools"]}
    for path in ("/trades", "/dex"):
        page = client.get(path).text
        select = page.partition('<select name="dex">')[2].partition("</select>")[0]
        options = dict(re.findall(r'<option value="([^"]+)">([^<\n]+)', select))
        options |= {name: name for name in re.findall(r"<option>([^<\n]+)", select)}
        assert options.keys() == names and options["uniswap-v2"] == "Uniswap V2", path
        name = min(names)
        assert f'<option value="{name}" selected>' in client.get(f"{path}?dex={name}").text
        unknown = client.get(path, query_string={"dex": "<b>uniswap-v5"}).text
        assert "DEX &lt;b&gt;uniswap-v5 is unknown; there are: " in unknown, path
    assert client.get("/api/v1/dex-trades?dex=uniswap-v5").json["total"] == 0


def test_many_exchanges_are_suggestions(indexed):
    """Whoever deploys a factory adds an exchange: the form has a few of them, and any is taken."""
    client = indexed.client()
    sources(client).get(tokens.ExchangeBounds).shown = 1
    page = client.get("/trades").text
    assert '<input name="dex" list="of-dex">' in page and '<select name="dex">' not in page
    options = page.partition('<datalist id="of-dex">')[2].partition("</datalist>")[0]
    most = client.get("/api/v1/pools?limit=100").json["pools"]
    counts = Counter()
    for pool in most:
        counts[pool["dex"]] += pool["tradeCount"]
    [first] = re.findall(r'value="([^"]+)"', options)
    assert counts[first] == max(counts.values())
    unlisted = client.get("/trades?dex=uniswap-v5").text
    assert "DEX uniswap-v5 is none of the usual ones" in unlisted


def test_a_search_for_two_symbols_lists_their_pools(client):
    listed = client.get("/api/v1/pools?limit=100").json["pools"]
    one, other = listed[0]["token0Symbol"], listed[0]["token1Symbol"]
    of_pair = [
        p["address"] for p in listed if {p["token0Symbol"], p["token1Symbol"]} == {one, other}
    ]
    for text in (f"{one}/{other}", f"{other} / {one}", f" {one.lower()}  {other.upper()}"):
        page = client.get("/search", query_string={"q": text}).text
        assert re.findall(r'class="main" href="/pool/(0x\w+)"', page) == of_pair, text
    for text in (f"{one}/{one}x", f"{one} {other} {one}", f"{one}/", "/ /", "a/" * 50, "%' OR/1"):
        page = client.get("/search", query_string={"q": text})
        assert page.status_code == 200 and 'href="/pool/' not in page.text, text


FEES = {"uniswap-v2": 3000, "uniswap-v3": 3000, "pancakeswap-v2": 2500, "pancakeswap-v3": 500}


def price_of_reserves(anvil, contract):
    held0, held1, _ = anvil.read(contract, "getReserves")
    return Decimal(held1) / Decimal(held0)


def price_of_root(anvil, contract):
    root, *_ = anvil.read(contract, "slot0")
    return (Decimal(root) / 2**96) ** 2


# By the contracts of a pool: its price in smallest units, and the fee of an unknown factory's pool.
@pytest.mark.parametrize(
    ("version", "price_by_contract", "fee"),
    [("v2", price_of_reserves, None), ("v3", price_of_root, 3000)],
)
def test_the_price_and_fee_of_a_pool_are_those_of_its_contract(
    client, scenario, version, price_by_contract, fee
):
    pools = {k: pool for k, pool in scenario.stage.pools.items() if k.startswith(version)}
    dexes = set()
    for key, contract in pools.items():
        pool = client.get(f"/api/v1/pools/{contract.address}").json
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        units = Decimal(10) ** (pool["token0Decimals"] - pool["token1Decimals"])
        price = price_by_contract(scenario.anvil, contract) * units
        assert abs(Decimal(state["price"]) / price - 1) < Decimal("1e-20"), key
        assert state["fee"] == FEES.get(pool["dex"], fee), key
        assert "<dt>Price</dt>" in client.get(f"/pool/{contract.address}").text
        dexes.add(pool["dex"].partition("-0x")[0])
    assert {f"uniswap-{version}", version} <= dexes


def test_prices_of_other_pools_and_of_pools_by_events_alone_are_not_known(client, scenario):
    pools, contracts = scenario.stage.pools, scenario.stage.contracts
    others = [(c, FEES) for key, c in pools.items() if not key.startswith(("v2", "v3"))]
    by_events = ("impostor of v2", "impostor of v3", "pool without factory")
    for contract, fees in [*others, *((contracts[key], {}) for key in by_events)]:
        dex = client.get(f"/api/v1/pools/{contract.address}").json["dex"]
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        assert (state["price"], state["fee"]) == (None, fees.get(dex))
        assert client.get(f"/pool/{contract.address}").status_code == 200
    assert others


def test_the_reserves_of_a_pool_are_its_balances(client, scenario):
    anvil = scenario.anvil
    coins = {contract.address: contract for contract in scenario.stage.contracts.values()}
    for key, contract in scenario.stage.pools.items():
        pool = client.get(f"/api/v1/pools/{contract.address}").json
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        reserves = [
            anvil.read(coins[pool[side]], "balanceOf", contract.address)
            for side in ("token0", "token1")
        ]
        assert [state["reserve0"], state["reserve1"]] == [str(r) for r in reserves], key
        assert state["blockNumber"] == anvil.head()
        assert "<dt>Reserves</dt>" in client.get(f"/pool/{contract.address}").text


def test_without_the_node_a_pool_has_its_reserves(indexed, client, scenario):
    away = indexed.client(rpc_urls=(NOWHERE,))
    for contract in scenario.stage.pools.values():
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        alone = away.get(f"/api/v1/pools/{contract.address}/state").json
        assert alone["price"] is None and alone["reserve0"] == state["reserve0"]
        assert away.get(f"/pool/{contract.address}").status_code == 200


@pytest.fixture(scope="module")
def with_words(indexed):
    """The price of a pool where the node answers every call with something else."""
    numbers = itertools.count()
    with behind(indexed.settings) as (client, node):

        def price(contract, returned):
            node.fault = replacing("eth_call", returned)
            path = f"/api/v1/pools/{contract.address}/state?={next(numbers)}"
            return client.get(path).json["price"]

        yield price


def words(*numbers):
    return "0x" + b"".join(number.to_bytes(32) for number in numbers).hex()


LARGEST = 2**256 - 1


@pytest.mark.parametrize(
    ("key", "returned"),
    [
        *(("v2 harbor/weth", bad) for bad in (None, "0x", "0x12", "0xzz", {"a": 1})),
        *(("v2 harbor/weth", words(*bad)) for bad in ([1], [LARGEST], [0, 1], [1, 0])),
        *(("v3 dollar/weth", bad) for bad in (None, "0x", "0xzz")),
        *(("v3 dollar/weth", words(bad)) for bad in (0, 2**160, LARGEST)),
    ],
)
def test_what_a_contract_returns_is_checked(scenario, with_words, key, returned):
    assert with_words(scenario.stage.pools[key], returned) is None


@pytest.mark.parametrize(
    ("key", "returned", "price"),
    [
        ("v2 harbor/weth", words(1, LARGEST), Fraction(LARGEST)),
        ("v2 harbor/weth", words(LARGEST, 1), Fraction(1, LARGEST)),
        ("v2 harbor/weth", words(1, LARGEST, LARGEST), Fraction(LARGEST)),
        ("v3 dollar/weth", words(1), Fraction(1, 2**192)),
        ("v3 dollar/weth", words(2**160 - 1), Fraction(2**160 - 1, 2**96) ** 2),
    ],
)
def test_prices_of_the_largest_and_least_values_are_finite(
    client, scenario, with_words, key, returned, price
):
    contract = scenario.stage.pools[key]
    pool = client.get(f"/api/v1/pools/{contract.address}").json
    price *= Fraction(10) ** (pool["token0Decimals"] - pool["token1Decimals"])
    shown = with_words(contract, returned)
    assert "e" not in shown.lower()
    assert abs(Fraction(shown) / price - 1) < Fraction(1, 10**20)
