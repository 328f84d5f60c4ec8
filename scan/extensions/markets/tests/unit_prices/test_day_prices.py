"""Prices of days: what hours of pools give, by which tokens, and what has none."""

from collections import namedtuple
from decimal import Decimal

import pytest

from scan.extensions.markets.unit_prices.day_prices import PoolDayPrices
from scan.queries.holdings import COIN, PoolPrice, UnitPrices
from tests.support.database import execute, insert

DAY, NEXT_DAY = "2026-01-31", "2026-02-01"
DOLLAR, WRAPPED, GOLD, SILVER, ITEM = (bytes([n] * 20) for n in range(1, 6))
COIN_POOL, GOLD_POOL, SILVER_POOL, LONE_POOL = (bytes([n] * 20) for n in range(11, 15))
TOKENS = ((DOLLAR, 6), (WRAPPED, 18), (GOLD, 8), (SILVER, 0), (ITEM, 18))
POOLS = (
    (COIN_POOL, DOLLAR, WRAPPED),
    (GOLD_POOL, GOLD, WRAPPED),
    (SILVER_POOL, DOLLAR, SILVER),
    (LONE_POOL, GOLD, SILVER),
)
# The pool, the hour of its close, and both amounts of it in their smallest units.
CLOSES = (
    (COIN_POOL, f"{DAY} 00:00Z", 3_000 * 10**6, 10**18),
    (COIN_POOL, f"{DAY} 12:00Z", 9_000 * 10**6, 10**18),
    (COIN_POOL, f"{DAY} 23:00Z", 3_200 * 10**6, 10**18),
    (COIN_POOL, f"{NEXT_DAY} 00:00Z", 10_000 * 10**6, 4 * 10**18),
    (GOLD_POOL, f"{DAY} 07:00Z", 2 * 10**8, 10**18),
    (GOLD_POOL, f"{NEXT_DAY} 07:00Z", None, None),
    (SILVER_POOL, f"{NEXT_DAY} 01:00Z", 5 * 10**5, 3),
    (LONE_POOL, f"{DAY} 01:00Z", 10**8, 7),
)


class OneReader(namedtuple("OneReader", "database")):
    def row(self, statement, **params):
        [row] = self.database.rows(statement, **params)
        return tuple(row[1:])


def in_hex(address):
    return f"0x{address.hex()}"


@pytest.fixture
def database(database_url, database):
    execute(database_url, "INSERT INTO dexes (name, trade_count) VALUES ('uniswap-v2', 0)")
    for token, decimals in TOKENS:
        insert(database_url, "tokens", address=token, type="BEP20", decimals=decimals)
    for pool, token0, token1 in POOLS:
        statement = "INSERT INTO pools SELECT %s, 0, dex_id, %s, %s FROM dexes"
        execute(database_url, statement, pool, token0, token1)
    for pool, hour, amount0, amount1 in CLOSES:
        close = {"pool_address": pool, "close_amount0": amount0, "close_amount1": amount1}
        volumes = {"volume0": amount0 or 0, "volume1": amount1 or 0}
        insert(database_url, "pool_candles", hour=hour, **close, **volumes)
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


FEW_TRADES = [
    (GOLD, DAY, Decimal(3200)),  # one coin, at the price of the day
    (SILVER, NEXT_DAY, Decimal("0.5")),
]


@pytest.mark.parametrize(("token", "day", "traded"), FEW_TRADES)
def test_a_pool_with_few_trades_makes_no_price_of_the_day(database, token, day, traded):
    asset_days = {(in_hex(token), day), (COIN, day)}
    assert len(prices_of(database, traded).read(asset_days)) == 2
    thin = prices_of(database, traded + Decimal("0.01")).read(asset_days)
    assert thin.keys() == {(COIN, day)}  # the coin's pool is the operator's choice
