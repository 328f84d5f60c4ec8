"""Candles and volumes of pools are what their trades give, whatever forks do."""

import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from scan.database.connection import Database
from scan.ethereum.events import Trade
from tests.support.database import execute
from tests.support.made_blocks import FIRST_TIMESTAMP_S, Chain, Move, address

POOLS = [address(f"pool {n}") for n in range(3)]
TOKEN0, TOKEN1 = address("token 0"), address("token 1")
HOUR_S = 3_600
HOUR_BEGINS_S = FIRST_TIMESTAMP_S // HOUR_S * HOUR_S
LARGEST = 2**256 - 1
Candle = tuple[Any, ...]


def add_pools(url: str) -> None:
    """Since the first block, so that no fork takes them back."""
    execute(url, "INSERT INTO dexes (name, trade_count) VALUES ('uniswap-v2', 0)")
    names = ", ".join(f"'\\x{pool.hex()}'::bytea" for pool in POOLS)
    tokens = f"'\\x{TOKEN0.hex()}'::bytea, '\\x{TOKEN1.hex()}'::bytea"
    rows = f"SELECT pool, 0, dex_id, {tokens} FROM dexes, unnest(ARRAY[{names}]) AS pool"  # noqa: S608
    execute(url, f"INSERT INTO pools {rows}")


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    add_pools(database_url)
    database = Database(database_url, statement_timeout_ms=0)
    yield database
    database.close()


@pytest.fixture
def chain(database: Database) -> Chain:
    chain = Chain(database)
    chain.append([trade(POOLS[0], 1, 1)], timestamp_s=HOUR_BEGINS_S)  # so that the exchange stays
    return chain


def trade(pool: bytes, amount0: int, amount1: int, *, is_token0_in: bool = True) -> Move:
    swap = Trade(TOKEN0, TOKEN1, amount0, amount1)
    if not is_token0_in:
        swap = Trade(TOKEN1, TOKEN0, amount1, amount0)
    return Move(sender=address("maker"), recipient=pool, pool=pool, trade=swap)


def trades(chance: random.Random) -> list[Move]:
    """Many of a price that others have, some of neighbouring prices, some of none."""
    moves = []
    for _ in range(chance.randrange(5)):
        amounts = chance.choice(
            (
                (chance.randrange(1, 4), chance.randrange(1, 4)),
                (LARGEST - chance.randrange(3), LARGEST - chance.randrange(3)),
                (chance.choice((1, LARGEST)), chance.choice((1, LARGEST))),
                (chance.randrange(2), chance.randrange(2)),
            )
        )
        pool = chance.choice(POOLS)
        moves.append(trade(pool, *amounts, is_token0_in=chance.random() < 0.5))
    return moves


def stored(url: str) -> dict[tuple[bytes, int], Candle]:
    rows = execute(
        url,
        "SELECT pool_address, extract(epoch FROM hour)::bigint, trade_count, first_ordinal,"
        " volume0, volume1, open_amount0, open_amount1, high_amount0, high_amount1, low_amount0,"
        " low_amount1, close_amount0, close_amount1 FROM pool_candles",
    )
    return {(bytes(pool), hour_s): tuple(values) for pool, hour_s, *values in rows}


def counted(url: str) -> dict[tuple[bytes, int], Candle]:
    """The same by a plain loop over the trades."""
    spans: dict[tuple[bytes, int], list[tuple[int, int, int]]] = defaultdict(list)
    for ordinal, pool, time_s, token_in, amount_in, amount_out in execute(
        url,
        "SELECT ordinal, pool_address, extract(epoch FROM timestamp)::bigint, token_in, amount_in,"
        " amount_out FROM dex_trades JOIN blocks ON number = block_number ORDER BY ordinal",
    ):
        amounts = (int(amount_in), int(amount_out))
        amount0, amount1 = amounts if bytes(token_in) == TOKEN0 else amounts[::-1]
        key = bytes(pool), time_s // HOUR_S * HOUR_S
        spans[key].append((ordinal, amount0, amount1))
    return {key: candle(rows) for key, rows in spans.items()}


def candle(rows: list[tuple[int, int, int]]) -> Candle:
    priced = [(a0, a1) for _, a0, a1 in rows if a0 > 0 and a1 > 0]
    ends: tuple[int | None, ...] = (None,) * 8
    if priced:
        high, low = priced[0], priced[0]
        for amounts in priced:
            price = Fraction(amounts[1], amounts[0])
            high = amounts if price > Fraction(high[1], high[0]) else high
            low = amounts if price < Fraction(low[1], low[0]) else low
        ends = (*priced[0], *high, *low, *priced[-1])
    volumes = sum(a0 for _, a0, _ in rows), sum(a1 for *_, a1 in rows)
    return (len(rows), rows[0][0], *volumes, *ends)


def require_exact(url: str) -> None:
    right = counted(url)
    assert stored(url) == right
    volumes: dict[bytes, tuple[int, int]] = {}
    for (pool, _), values in right.items():
        volume0, volume1 = volumes.get(pool, (0, 0))
        volumes[pool] = volume0 + values[2], volume1 + values[3]
    rows = execute(url, "SELECT pool_address, volume0, volume1 FROM pool_volumes")
    assert {bytes(pool): (v0, v1) for pool, v0, v1 in rows} == volumes


def test_of_equal_prices_the_first_trade_is_kept_whatever_the_batch(
    database_url: str, chain: Chain
) -> None:
    """Also where prices differ by less than any rounding would show."""
    chain.append([trade(POOLS[1], 2, 4)], timestamp_s=HOUR_BEGINS_S + 1)
    chain.append([trade(POOLS[1], 1, 2), trade(POOLS[1], 0, 9)], timestamp_s=HOUR_BEGINS_S + 2)
    near = [trade(POOLS[2], LARGEST - 1, LARGEST - 2), trade(POOLS[2], LARGEST, LARGEST - 1)]
    chain.append(near, timestamp_s=HOUR_BEGINS_S + 3)
    candles = stored(database_url)
    assert candles[POOLS[1], HOUR_BEGINS_S][4:] == (2, 4, 2, 4, 2, 4, 1, 2)
    assert candles[POOLS[2], HOUR_BEGINS_S][6:8] == (LARGEST, LARGEST - 1)
    assert candles[POOLS[2], HOUR_BEGINS_S][8:10] == (LARGEST - 1, LARGEST - 2)
    require_exact(database_url)


def test_times_beyond_every_calendar_are_hours_like_others(database_url: str, chain: Chain) -> None:
    for n in range(3):
        chain.append([trade(POOLS[1], 5, n + 1)], timestamp_s=8_000_000_000_000 + n)
    chain.unwind(2)
    assert (POOLS[1], 8_000_000_000_000 // HOUR_S * HOUR_S) in stored(database_url)
    require_exact(database_url)
