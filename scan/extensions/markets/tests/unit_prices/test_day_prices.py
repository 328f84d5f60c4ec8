"""Prices of days: what hours of pools give, by which tokens, and what has none."""

from decimal import Decimal

import pytest

from scan.extensions.markets.tests.unit_prices.pricing import OneReader, add_pool
from scan.extensions.markets.unit_prices.day_prices import PoolDayPrices
from scan.hex import to_hex as in_hex
from scan.queries.holdings import COIN, PoolPrice, UnitPrices
from tests.support.database import insert

DAY, NEXT_DAY = "2026-01-31", "2026-02-01"
DOLLAR, WRAPPED, GOLD, SILVER, ITEM = (bytes([n] * 20) for n in range(1, 6))
COIN_POOL, GOLD_POOL, SILVER_POOL, LONE_POOL = (bytes([n] * 20) for n in range(11, 15))
# The tokens of each pool, and the hours of its closes with both amounts in their smallest units.
POOLS = {
    COIN_POOL: (
        (DOLLAR, WRAPPED),
        (f"{DAY} 00:00Z", 3_000 * 10**6, 10**18),
        (f"{DAY} 12:00Z", 9_000 * 10**6, 10**18),
        (f"{DAY} 23:00Z", 3_200 * 10**6, 10**18),
        (f"{NEXT_DAY} 00:00Z", 10_000 * 10**6, 4 * 10**18),
    ),
    GOLD_POOL: (
        (GOLD, WRAPPED),
        (f"{DAY} 07:00Z", 2 * 10**8, 10**18),
        (f"{NEXT_DAY} 07:00Z", None, None),
    ),
    SILVER_POOL: ((DOLLAR, SILVER), (f"{NEXT_DAY} 01:00Z", 5 * 10**5, 3)),
    LONE_POOL: ((GOLD, SILVER), (f"{DAY} 01:00Z", 10**8, 7)),
}


@pytest.fixture
def database(database_url, database):
    for token, decimals in ((DOLLAR, 6), (WRAPPED, 18), (GOLD, 8), (SILVER, 0), (ITEM, 18)):
        insert(database_url, "tokens", address=token, type="BEP20", decimals=decimals)
    for pool, (tokens, *closes) in POOLS.items():
        add_pool(database_url, pool, tokens, closes)
    return database


def prices_of(database, min_depth):
    by_pools = {
        in_hex(token): PoolPrice(Decimal(7), in_hex(pool), Decimal(10**6), f"{DAY}T00:00:00Z")
        for token, pool in ((GOLD, GOLD_POOL), (SILVER, SILVER_POOL), (ITEM, LONE_POOL))
    }
    given = UnitPrices("USD", "us", f"{DAY}T00:00:00Z", None, {}, min_depth, by_pools)
    reader = OneReader(database)
    return PoolDayPrices(reader, given, in_hex(COIN_POOL), in_hex(WRAPPED), in_hex(DOLLAR))


def test_a_price_of_a_day_is_the_median_of_its_hours(database):
    """Which a single trade does not change; days without trades have none."""
    prices = prices_of(database, Decimal("0.5"))
    priced = {
        (COIN, DAY): Decimal(3200),
        (in_hex(WRAPPED), DAY): Decimal(3200),
        (COIN, NEXT_DAY): Decimal(2500),
        (in_hex(DOLLAR), "2026-02-02"): Decimal(1),
        (in_hex(DOLLAR), "12000-01-31"): Decimal(1),  # a block may have any time
        (in_hex(GOLD), DAY): Decimal(1600),  # half a coin
        (in_hex(SILVER), NEXT_DAY): Decimal("0.16666666666666666667"),
    }
    priceless = {
        *((COIN, day) for day in ("2026-02-02", "12000-01-31")),
        (in_hex(GOLD), NEXT_DAY),
        (in_hex(SILVER), DAY),
        (in_hex(ITEM), DAY),  # its pool is with a token that is neither of both
        (in_hex(bytes(20)), DAY),
    }
    assert prices.read({*priced, *priceless}) == priced
    assert prices.read(set()) == {}


@pytest.mark.parametrize(
    ("token", "day", "traded"),
    [
        (GOLD, DAY, Decimal(3200)),  # one coin, at the price of the day
        (SILVER, NEXT_DAY, Decimal("0.5")),
    ],
)
def test_a_pool_with_few_trades_makes_no_price_of_the_day(database, token, day, traded):
    asset_days = {(in_hex(token), day), (COIN, day)}
    assert len(prices_of(database, traded).read(asset_days)) == 2
    thin = prices_of(database, traded + Decimal("0.01")).read(asset_days)
    assert thin.keys() == {(COIN, day)}  # the coin's pool is the operator's choice
