"""Which of a token's pools gives its price, where they disagree or have not been traded lately."""

from collections import namedtuple
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from scan.extensions.markets.tests.unit_prices.pricing import OneReader, add_pool
from scan.extensions.markets.unit_prices.pool_prices import MAX_AGE_DAYS, PoolPrices
from scan.queries.holdings import UnitPrices
from tests.support.database import execute, insert
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

HEAD = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
DOLLAR, TOKEN = bytes([1] * 20), bytes([2] * 20)
GIVEN = UnitPrices(
    "USD", "us", "2026-01-31T00:00:00Z", None, {f"0x{DOLLAR.hex()}": Decimal(1)}, Decimal(1000)
)


class Traded(namedtuple("Traded", "dex depth price hours", defaults=((0,),))):
    """A pool by its place, with trades at one price in some hours, by their age."""


@pytest.fixture
def database(database_url, database):
    for token, decimals in ((DOLLAR, 6), (TOKEN, 3)):
        insert(database_url, "tokens", address=token, type="BEP20", decimals=decimals)
    insert(database_url, "blocks", number=9, timestamp=HEAD)
    return database


def prices_of(url, database, pools):
    """Return the prices that follow by pools; the first of these has the address 0x10…."""
    for index, pool in enumerate(pools):
        address, price = bytes([16 + index] * 20), Decimal(pool.price) * 10**6
        step = (1, -1)[index % 2]  # the token is the first of every other pool
        closes = [
            (HEAD.replace(minute=0) - timedelta(hours=age), *(1000, price)[::step])
            for age in pool.hours
        ]
        add_pool(url, address, (TOKEN, DOLLAR)[::step], closes, pool.dex)
        for token, balance in ((DOLLAR, pool.depth * 10**6), (TOKEN, 1)):
            insert(url, "token_holders", holder=address, token_address=token, balance=balance)
    return read_prices(database)


def read_prices(database, given=GIVEN):
    prices, reader = PoolPrices(), OneReader(database)
    wait_until(lambda: prices.add_to(given, reader).pool_problem is None)
    return prices.add_to(given, reader)


V2, UNNAMED = "uniswap-v2", "v2-0x99"
WEEK_H = MAX_AGE_DAYS * 24


@pytest.mark.parametrize(
    ("pools", "index", "price"),
    [
        ([Traded(V2, 5000, "1"), Traded(V2, 6000, "1.5")], 1, "1.5"),
        ([Traded(V2, 1100, "1"), Traded(UNNAMED, 10**9, "1.9")], 0, "1"),
        ([Traded(V2, 1100, "2"), Traded(UNNAMED, 10**9, "1")], 0, "2"),
        ([Traded(V2, 5000, "1"), Traded(UNNAMED, 4000, "900")], 0, "1"),
        ([Traded(UNNAMED, 4000, "900"), Traded(UNNAMED, 5000, "1")], 1, "1"),
        ([Traded(V2, 5000, "1"), Traded("v2-unconfirmed", 10**9, "900")], 0, "1"),
        ([Traded(V2, 9000, "1", ()), Traded(V2, 5000, "3")], 1, "3"),
        ([Traded(V2, 5000, "1", (WEEK_H - 1,))], 0, "1"),
        ([Traded(V2, 5000, "1"), Traded(UNNAMED, 9000, "1", (WEEK_H * 9,))], 0, "1"),
        ([Traded(V2, 5000, "1", (WEEK_H * 9,)), Traded(UNNAMED, 4000, "1.1")], 1, "1.1"),
    ],
)
def test_the_deepest_pool_of_an_exchange_with_a_name_gives_the_price(
    database_url, database, pools, index, price
):
    prices = prices_of(database_url, database, pools)
    by = prices.pools[f"0x{TOKEN.hex()}"]
    expected = (Decimal(price), f"0x{bytes([16 + index] * 20).hex()}", pools[index].depth)
    assert (by.price, by.pool, by.depth) == expected
    hour = HEAD.replace(minute=0) - timedelta(hours=pools[index].hours[0])
    assert by.at == f"{hour:%Y-%m-%dT%H:%M:%SZ}"
    assert prices.unused == {}


@pytest.mark.parametrize(
    ("pools", "reason"),
    [
        ([Traded(V2, 1100, "1103410"), Traded(UNNAMED, 10**9, "1")], "disagreement"),
        ([Traded(V2, 1100, "0.49"), Traded(UNNAMED, 10**9, "1")], "disagreement"),
        ([Traded(V2, 1100, "2.001"), Traded(UNNAMED, 1101, "1")], "disagreement"),
        ([Traded(V2, 1100, "9"), Traded(UNNAMED, 9000, "1", (WEEK_H * 9,))], "disagreement"),
        (
            [Traded(V2, 1100, "9"), Traded(UNNAMED, 9000, "9"), Traded(UNNAMED, 10**4, "1")],
            "disagreement",
        ),
        ([Traded(V2, 5000, "1", (WEEK_H + 1,))], "age"),
        ([Traded(V2, 5000, "9", (WEEK_H * 9,)), Traded(V2, 4000, "1", (WEEK_H * 8,))], "age"),
    ],
)
def test_a_token_has_no_price_where_pools_disagree_or_had_no_trades_lately(
    database_url, database, pools, reason
):
    prices = prices_of(database_url, database, pools)
    token = f"0x{TOKEN.hex()}"
    assert (prices.unused[token].reason, prices.unused[token].pool) == (reason, f"0x{'10' * 20}")
    assert prices.pools == {} and prices.token_worth(token, 5, 0) is None


def test_a_price_is_the_median_of_the_week_before_the_newest_trade_at_the_price_of_the_other_token(
    database_url, database
):
    """Older ones may be of another time altogether, as in a pool with few trades."""
    prices_of(database_url, database, [Traded(V2, 5000, "1", range(WEEK_H + 1, WEEK_H + 20))])
    newest = "INSERT INTO pool_candles SELECT pool_address, %s, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, %s"
    for age, amount in ((0, 9), (1, 3), (2, 4)):
        hour = HEAD.replace(minute=0) - timedelta(hours=age)
        execute(database_url, f"{newest} FROM pool_candles LIMIT 1", hour, amount)
    half = GIVEN._replace(tokens={f"0x{DOLLAR.hex()}": Decimal("0.5")})
    by = read_prices(database, half).pools[f"0x{TOKEN.hex()}"]
    assert (by.price, by.depth) == (Decimal("0.002"), 2500)
