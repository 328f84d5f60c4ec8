"""GET /pools/:address and its candles: exact from its trades, bounded, whatever a token says; and
their chart."""

import random
import re
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import groupby

import pytest

from scan import parameters
from scan.database.connection import Database
from scan.ethereum.events import Trade
from scan.extensions.markets import queries as pools
from scan.extensions.markets.views import candle_chart
from scan.hex import data as key
from tests.support import expected, explain, indexing
from tests.support.database import execute, insert
from tests.support.indexing import sources
from tests.support.made_blocks import Chain, Move
from tests.support.refusals import require_parameter

getcontext().prec = 700
POOL, EMPTY, HOSTILE = ("0x" + byte * 20 for byte in ("aa", "bb", "cc"))
TOKEN0, TOKEN1, WILD = ("0x" + byte * 20 for byte in ("01", "02", "03"))
BLOCKS, SPACING_S, START_S = 400, 100, 1_700_000_000
LARGEST = 2**256 - 1
PAIRS = {POOL: (TOKEN0, TOKEN1), EMPTY: (TOKEN0, TOKEN1), HOSTILE: (TOKEN0, WILD)}
TOKENS = {TOKEN0: ("A", 18), TOKEN1: ("B", 6), WILD: ("W", 255)}


def open_pools(url):
    """Since the first block, so that no fork takes them back."""
    execute(url, "INSERT INTO dexes (name) VALUES ('uniswap-v2')")
    for token, (name, decimals) in TOKENS.items():
        named = {"name": name, "symbol": name, "decimals": decimals}
        insert(url, "tokens", address=key(token), type="BEP20", **named)
    for pool, pair in PAIRS.items():
        row = "INSERT INTO pools SELECT %s, 0, dex_id, %s, %s FROM dexes"
        execute(url, row, *map(key, (pool, *pair)))


def trade(pool, sold, bought, amount_sold, amount_bought):
    swap = Trade(key(sold), key(bought), amount_sold, amount_bought)
    return Move(sender=b"\x0a" * 20, recipient=key(pool), pool=key(pool), trade=swap)


def fill(url, trades, per_block, spacing_s=SPACING_S):
    """`per_block` trades of a block, in their order."""
    open_pools(url)
    with closing(Database(url, statement_timeout_ms=0)) as database:
        chain = Chain(database)
        for number in range(BLOCKS):
            of_block = trades[number * per_block : (number + 1) * per_block]
            moves = [trade(*made) for made in of_block]
            chain.append(moves, timestamp_s=START_S + spacing_s * number)
    execute(url, "ANALYZE")


def made_trades():
    """Three a block: two of the pool, either way round, some of nothing; one of a hostile pool.
    Of each its pool, the tokens sold and bought, and their amounts."""
    chance = random.Random(26)
    for n in range(3 * BLOCKS):
        pool, other = (HOSTILE, WILD) if n % 3 == 2 else (POOL, TOKEN1)
        sold, bought = chance.sample((TOKEN0, other), 2)
        amounts = [chance.choice((0, 1, LARGEST, chance.randrange(10**24))) for _ in range(2)]
        if n // 3 % 40 == 39:
            amounts[chance.randrange(2)] = 0
        yield pool, sold, bought, *amounts


TRADES = [*made_trades()]


@pytest.fixture(scope="module")
def client(shared_database_url):
    fill(shared_database_url, TRADES, 3)
    return indexing.client_over(shared_database_url)


def price(trade, token1):
    _, sold, bought, *traded = trade
    if not all(traded):
        return None
    amounts = dict(zip((sold, bought), traded, strict=True))
    of_one, of_other = (
        Fraction(amounts[token], 10 ** TOKENS[token][1]) for token in (token1, TOKEN0)
    )
    return of_one / of_other


def candles_of(pool, span_s, first_s, last_s):
    """By a plain loop over the trades; candles that begin or end beyond the range are whole."""
    first_s, last_s = first_s // span_s * span_s, last_s // span_s * span_s + span_s - 1
    token1 = WILD if pool == HOSTILE else TOKEN1
    placed = [(START_S + SPACING_S * (n // 3), t) for n, t in enumerate(TRADES)]
    placed = [(s, t) for s, t in placed if t[0] == pool and first_s <= s <= last_s]
    candles = []
    for start_s, group in groupby(placed, lambda entry: entry[0] // span_s * span_s):
        trades = [trade for _, trade in group]
        prices = [p for t in trades if (p := price(t, token1)) is not None]
        volumes = {TOKEN0: 0, token1: 0}
        for _, sold, bought, amount_sold, amount_bought in trades:
            volumes[sold] += amount_sold
            volumes[bought] += amount_bought
        names = ("open", "high", "low", "close")
        values = (prices[0], max(prices), min(prices), prices[-1]) if prices else (None,) * 4
        sums = {"volume0": str(volumes[TOKEN0]), "volume1": str(volumes[token1])}
        sums |= {"start_s": start_s, "trades": len(trades)}
        candles.append(dict(zip(names, values, strict=True)) | sums)
    return candles


def require_equal(answered, right):
    assert len(answered) == len(right) > 0
    for candle, truth in zip(answered, right, strict=True):
        assert parameters.time_s(candle["time"], "time") == truth["start_s"]
        for name in ("volume0", "volume1", "trades"):
            assert candle[name] == truth[name]
        for name in ("open", "high", "low", "close"):
            if truth[name] is None:
                assert candle[name] is None
            else:
                assert "e" not in candle[name].lower()
                assert abs(Fraction(Decimal(candle[name])) - truth[name]) <= truth[name] / 10**15


@pytest.mark.parametrize("interval", pools.INTERVALS_S)
@pytest.mark.parametrize("pool", [POOL, HOSTILE])
@pytest.mark.parametrize("first_s", [0, START_S + 777])
def test_candles_are_what_the_trades_give(client, pool, interval, first_s):
    """However long the range is, and in whatever steps it is read."""
    steps = {
        # What a page has, and the time where reading ends: older candles are looked for in every
        # interval.
        "5m": (3, START_S),
        "1h": (3, 0),
        "4h": (3, 0),
        "1d": (1, 0),
    }
    limit, oldest_s = steps[interval]
    last_s = time_to = START_S + 35_555
    path = f"/api/v1/pools/{pool}/candles?interval={interval}&timeFrom={first_s}"
    candles = []
    while time_to is not None and time_to >= oldest_s:
        body = client.get(f"{path}&limit={limit}&timeTo={time_to}").json
        assert body["interval"] == interval and len(body["candles"]) <= limit
        candles = body["candles"] + candles
        next_s = body["nextTimeTo"] and parameters.time_s(body["nextTimeTo"], "nextTimeTo")
        assert next_s is None or next_s < time_to
        time_to = next_s
    require_equal(candles, candles_of(pool, pools.INTERVALS_S[interval], first_s, last_s))


def test_without_a_range_they_are_the_newest(client):
    last_s = START_S + SPACING_S * (BLOCKS - 1)
    body = client.get(f"/api/v1/pools/{POOL}/candles").json
    require_equal(body["candles"], candles_of(POOL, 3_600, last_s - 99 * 3_600, last_s))
    body = client.get(f"/api/v1/pools/{POOL}/candles?timeTo={last_s - 9_000}&interval=5m").json
    first_s = (last_s - 9_000) // 300 * 300 - 99 * 300
    require_equal(body["candles"], candles_of(POOL, 300, first_s, last_s - 9_000))


def test_a_volume_of_hours_leaves_out_what_is_older(database_url):
    trades = [(POOL, TOKEN0, TOKEN1, n + 1, 1) for n in range(BLOCKS)]
    fill(database_url, trades, 1, spacing_s=1_800)
    client = indexing.client_over(database_url)
    newest_s = START_S + 1_800 * (BLOCKS - 1)
    for span, hours in zip(
        client.get(f"/api/v1/pools/{POOL}/volume").json["volumes"], (24, 168, 9_999), strict=True
    ):
        first_s = (newest_s // 3_600 - hours + 1) * 3_600
        right = [n + 1 for n in range(BLOCKS) if START_S + 1_800 * n >= first_s]
        assert (span["volume0"], span["trades"]) == (str(sum(right)), len(right))
    body = client.get(f"/api/v1/pools/{EMPTY}/volume").json
    assert [span["volume0"] for span in body["volumes"]] == ["0", "0", "0"]


def test_too_many_trades_are_counted_and_not_read(client, shared_database_url):
    """The range gets shorter until it has few enough; an interval that has too many is refused."""
    sources(client).get(pools.CandleBounds).trades = 30
    path = f"/api/v1/pools/{POOL}/candles"
    body = client.get(f"{path}?interval=5m&timeFrom={START_S}&timeTo={START_S + 30_000}").json
    assert 0 < sum(candle["trades"] for candle in body["candles"]) <= 30
    assert START_S < parameters.time_s(body["nextTimeTo"], "timeTo") < START_S + 30_000
    assert sum(c["trades"] for c in client.get(f"{path}?interval=1d").json["candles"]) == 800
    sources(client).get(pools.CandleBounds).trades = 1
    response = client.get(f"{path}?interval=5m")
    require_parameter(response, "interval")
    assert " trades, more than 1;" in response.json["error"]
    database = explain.ExplainingDatabase(shared_database_url)
    database.row(
        "queries/pool_candles_list_by_block",
        address=key(POOL),
        span_s=300,
        block_from=0,
        block_to=BLOCKS,
        max_trades=30,
    )
    [plan] = database.plans
    database.close()
    trades = [n for n in plan.nodes if n["Table"] == "dex_trades"]
    assert {node["Actual Loops"] for node in trades} == {0}


@pytest.mark.thorough
def test_candles_of_hours_are_read_by_index_at_any_depth(database_url):
    """Of 10 pools with two years of hours, no more hours than the page needs."""
    open_pools(database_url)
    execute(
        database_url,
        "INSERT INTO pool_candles SELECT CASE WHEN p = 0 THEN address ELSE int4send(p) END,"
        " TIMESTAMPTZ '2024-01-01Z' + h * interval '1 hour', 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"
        " FROM generate_series(1, 17520) AS h, generate_series(0, 9) AS p, pools"
        " WHERE address = decode(repeat('aa', 20), 'hex')",
    )
    execute(database_url, "ANALYZE pool_candles")
    first_s = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())
    for span_s in (3_600, 86_400):
        database = explain.ExplainingDatabase(database_url)
        for last_s in (first_s + 30 * 86_400, pools.NEWEST_S):
            database.row(
                "queries/pool_candles_list_by_hour",
                **{"address": key(POOL), "span_s": span_s},
                **{"first_s": 0, "last_s": last_s, "limit": 20},
            )
        early, late = database.plans
        database.close()
        for plan in (early, late):
            assert "pool_candles" not in plan.sequential_scans()
            hours = [n for n in plan.nodes if n.get("Relation Name") == "pool_candles"]
            assert [node["Actual Rows"] for node in hours] == [21 * span_s // 3_600]
        assert late.buffers < 1.5 * early.buffers


def test_ties_and_odd_times(database_url, chain):
    """Of equal prices the first trade is kept, whatever the batch, also where prices differ by less
    than any rounding would show; times beyond every calendar are hours like others."""
    # Its trades, volumes, and amounts of its opening, highest, lowest and closing trade.
    candle = (
        "SELECT trade_count, volume0, volume1, open_amount0, open_amount1, high_amount0,"
        " high_amount1, low_amount0, low_amount1, close_amount0, close_amount1 FROM pool_candles"
        " WHERE pool_address = %s AND extract(epoch FROM hour) = %s"
    )
    volumes = "SELECT volume0, volume1 FROM pool_volumes ORDER BY volume0"
    open_pools(database_url)
    hour_s = START_S // 3_600 * 3_600
    # So that the exchange stays.
    chain.append([trade(EMPTY, TOKEN0, TOKEN1, 1, 1)], timestamp_s=hour_s)
    chain.append([trade(POOL, TOKEN0, TOKEN1, 2, 4)], timestamp_s=hour_s + 1)
    later = [trade(POOL, TOKEN0, TOKEN1, 1, 2), trade(POOL, TOKEN0, TOKEN1, 0, 9)]
    chain.append(later, timestamp_s=hour_s + 2)
    low, high = (LARGEST - 1, LARGEST - 2), (LARGEST, LARGEST - 1)
    near = [trade(HOSTILE, TOKEN0, WILD, *amounts) for amounts in (low, high)]
    chain.append(near, timestamp_s=hour_s + 3)
    of_pool = execute(database_url, candle, key(POOL), hour_s)
    assert of_pool == [(3, 3, 15, 2, 4, 2, 4, 2, 4, 1, 2)]
    of_hostile = execute(database_url, candle, key(HOSTILE), hour_s)
    sums = 2 * LARGEST - 1, 2 * LARGEST - 3
    assert of_hostile == [(2, *sums, *low, *high, *low, *high)]
    assert execute(database_url, volumes) == [(1, 1), (3, 15), sums]
    far_s = 8_000_000_000_000
    for n in range(3):
        chain.append([trade(EMPTY, TOKEN0, TOKEN1, 5, n + 1)], timestamp_s=far_s + n)
    chain.unwind(5)
    far = execute(database_url, candle, key(EMPTY), far_s // 3_600 * 3_600)
    assert far == [(2, 10, 3, 5, 1, 5, 2, 5, 1, 5, 2)]
    assert execute(database_url, volumes)[1] == (11, 4)


@pytest.mark.check
def test_candles_of_any_size_are_drawn():
    """Also of one price alone, and of tokens that say they have 255 decimals."""
    candles = [
        {"time": f"2026-01-0{n}T00:00:00Z"} | dict.fromkeys(("open", "high", "low", "close"), price)
        for n, price in enumerate(("1" + 332 * "0", "0." + 330 * "0" + "12", "5"), start=1)
    ]
    chart = candle_chart(candles, title="Price", span_s=86_400)
    assert chart is not None and chart.candles is not None
    bodies = re.findall(r"M\S+ (\S+?)h\S+?v(\S+?)h", chart.candles.rising)
    assert len(bodies) == 3 and not chart.candles.falling
    assert all(0 <= float(top) <= 160 and float(height) >= 1 for top, height in bodies)
    alone = candle_chart(candles[:1], title="Price", span_s=86_400)
    assert alone is not None and alone.candles is not None
    assert alone.candles.rising.startswith("M0 80h")
    beyond = [{**candles[0], "time": "12026-01-01T00:00:00Z"}]
    assert candle_chart(beyond, title="Price", span_s=86_400) is None


def test_refusals_are_as_expected(client):
    names = {"pool": POOL, "empty": EMPTY, "token0": TOKEN0, "token1": TOKEN1}
    expected.compare(__file__, client, names)
