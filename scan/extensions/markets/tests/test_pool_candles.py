"""Candles and volumes of pools beside what the node's trades cannot show: ties, and odd times.

That they are what their trades give, through forks too, the oracle of derived tables tells.
"""

import pytest

from scan.ethereum.events import Trade
from tests.support.database import execute
from tests.support.made_blocks import FIRST_TIMESTAMP_S, Chain, Move, address

POOLS = [address(f"pool {n}") for n in range(3)]
TOKEN0, TOKEN1 = address("token 0"), address("token 1")
HOUR_S = 3_600
HOUR_BEGINS_S = FIRST_TIMESTAMP_S // HOUR_S * HOUR_S


@pytest.fixture
def chain(database_url, database):
    """Whose pools are there since the first block, so that no fork takes them back."""
    execute(database_url, "INSERT INTO dexes (name, trade_count) VALUES ('uniswap-v2', 0)")
    for pool in POOLS:
        row = "INSERT INTO pools SELECT %s, 0, dex_id, %s, %s FROM dexes"
        execute(database_url, row, pool, TOKEN0, TOKEN1)
    chain = Chain(database)
    chain.append([trade(POOLS[0], 1, 1)], timestamp_s=HOUR_BEGINS_S)  # so that the exchange stays
    return chain


def trade(pool, amount0, amount1):
    swap = Trade(TOKEN0, TOKEN1, amount0, amount1)
    return Move(sender=address("maker"), recipient=pool, pool=pool, trade=swap)


def candle(url, pool, hour_s):
    """Its trades, volumes, and amounts of its opening, highest, lowest and closing trade."""
    [values] = execute(
        url,
        "SELECT trade_count, volume0, volume1, open_amount0, open_amount1, high_amount0,"
        " high_amount1, low_amount0, low_amount1, close_amount0, close_amount1 FROM pool_candles"
        " WHERE pool_address = %s AND extract(epoch FROM hour) = %s",
        pool,
        hour_s,
    )
    return tuple(values)


def volumes_of(url):
    """Of each pool, the smallest first."""
    return execute(url, "SELECT volume0, volume1 FROM pool_volumes ORDER BY volume0")


def test_of_equal_prices_the_first_trade_is_kept_whatever_the_batch(database_url, chain):
    """Also where prices differ by less than any rounding would show."""
    largest = 2**256 - 1
    chain.append([trade(POOLS[1], 2, 4)], timestamp_s=HOUR_BEGINS_S + 1)
    chain.append([trade(POOLS[1], 1, 2), trade(POOLS[1], 0, 9)], timestamp_s=HOUR_BEGINS_S + 2)
    near = [trade(POOLS[2], largest - 1, largest - 2), trade(POOLS[2], largest, largest - 1)]
    chain.append(near, timestamp_s=HOUR_BEGINS_S + 3)
    row = candle(database_url, POOLS[1], HOUR_BEGINS_S)
    assert row == (3, 3, 15, 2, 4, 2, 4, 2, 4, 1, 2)
    low, high = (largest - 1, largest - 2), (largest, largest - 1)
    volumes = 2 * largest - 1, 2 * largest - 3
    row = candle(database_url, POOLS[2], HOUR_BEGINS_S)
    assert row == (2, *volumes, *low, *high, *low, *high)
    assert volumes_of(database_url) == [(1, 1), (3, 15), volumes]


def test_times_beyond_every_calendar_are_hours_like_others(database_url, chain):
    for n in range(3):
        chain.append([trade(POOLS[1], 5, n + 1)], timestamp_s=8_000_000_000_000 + n)
    chain.unwind(2)
    row = candle(database_url, POOLS[1], 8_000_000_000_000 // HOUR_S * HOUR_S)
    assert row == (2, 10, 3, 5, 1, 5, 2, 5, 1, 5, 2)
    assert volumes_of(database_url) == [(1, 1), (10, 3)]
