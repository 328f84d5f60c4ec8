"""GET /pools/:address and its candles: exact from its trades, bounded, whatever a token says; and
their chart."""

import random
import re
from datetime import UTC, datetime
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import groupby

import pytest

from scan import parameters
from scan.database.connection import Database
from scan.extensions.markets import queries as pools
from scan.extensions.markets.views import candle_chart
from scan.indexer.derivation import derive, read_block_range
from tests.support import expected, explain, indexing
from tests.support.database import execute
from tests.support.indexing import sources
from tests.support.refusals import require_parameter

getcontext().prec = 700
POOL, EMPTY, HOSTILE = ("0x" + byte * 20 for byte in ("aa", "bb", "cc"))
TOKEN0, TOKEN1, WILD = ("0x" + byte * 20 for byte in ("01", "02", "03"))
BLOCKS, SPACING_S, START_S = 400, 100, 1_700_000_000
LARGEST = 2**256 - 1
FILL = """
INSERT INTO chain (chain_id, genesis_hash, start_block) VALUES (1, sha256('0'), 0);
INSERT INTO dexes (name) VALUES ('uniswap-v2');
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, item_type)
VALUES ('{token0}', 0, 'BEP20', 'A', 'A', 18, 0, NULL), ('{token1}', 0, 'BEP20', 'B', 'B', 6, 0,
    NULL), ('{wild}', 0, 'BEP20', 'W', 'W', 255, 0, NULL);
INSERT INTO pools (address, block_number, dex_id, token0, token1)
VALUES ('{pool}', 0, 1, '{token0}', '{token1}'), ('{empty}', 0, 1, '{token0}', '{token1}'),
    ('{hostile}', 0, 1, '{token0}', '{wild}');
INSERT INTO blocks (number, timestamp, transactions_before, token_transfers_before,
    dex_trades_before, transaction_count, token_transfer_count, dex_trade_count, hash, parent_hash,
    miner, gas_used, gas_limit, gas_price_sum, internal_transfers_before, internal_transfer_count,
    traced_before, untraced_before, logs_before, log_count)
SELECT n, to_timestamp({start} + {spacing} * n), n, 0, {per_block} * n, 1, 0, {per_block},
    sha256(n::text::bytea), sha256((n - 1)::text::bytea), '\\x00', 1, 2, 1, 0, 0, 0, 0, 0, 0
FROM generate_series(0, {blocks} - 1) AS n;
SELECT add_partition(name, 0, 1000000) FROM unnest(ARRAY['transactions', 'dex_trades']) AS name;
INSERT INTO transactions (ordinal, block_number, transaction_index, status, hash, from_address,
    to_address, value, gas_price, gas_used, fee, type)
SELECT n, n, 0, true, sha256(('t' || n)::bytea), '\\x0a', '\\x0b', 0, 1, 1, 1, ''
FROM generate_series(0, {blocks} - 1) AS n;
"""
TRADE = (
    "INSERT INTO dex_trades (ordinal, block_number, log_index, transaction_index, dex_id,"
    " pool_address, maker, token_in, token_out, amount_in, amount_out) VALUES "
)


def bytea(address):
    return "\\x" + address[2:]


def fill(url, trades, per_block, spacing_s=SPACING_S):
    """`per_block` trades of a block, in their order, derived by the indexer's own statements."""
    names = {"pool": POOL, "empty": EMPTY, "hostile": HOSTILE}
    names |= {"token0": TOKEN0, "token1": TOKEN1, "wild": WILD}
    numbers = {"start": START_S, "spacing": spacing_s, "blocks": BLOCKS, "per_block": per_block}
    database = Database(url, statement_timeout_ms=0)
    filled = {name: bytea(address) for name, address in names.items()}
    database.execute_script(FILL.format(**filled, **numbers))
    rows = [
        f"({n}, {n // per_block}, {n % per_block}, 0, 1,"
        f" '{bytea(t['pool'])}', '\\x0a', '{bytea(t['in'])}',"
        f" '{bytea(t['out'])}', {t['amount_in']}, {t['amount_out']})"
        for n, t in enumerate(trades)
    ]
    if rows:
        database.execute_script(TRADE + ", ".join(rows))
    with database.transaction() as tx:
        derive(tx, read_block_range(tx, 0, BLOCKS - 1))
    database.execute_script("ANALYZE")
    database.close()


def made_trades():
    """Three a block: two of the pool, either way round, some of nothing; one of a hostile pool."""
    chance = random.Random(26)
    trades = []
    for n in range(3 * BLOCKS):
        pool, other = (HOSTILE, WILD) if n % 3 == 2 else (POOL, TOKEN1)
        sold, bought = chance.sample((TOKEN0, other), 2)
        amounts = [chance.choice((0, 1, LARGEST, chance.randrange(10**24))) for _ in range(2)]
        if n // 3 % 40 == 39:
            amounts[chance.randrange(2)] = 0
        trades.append(
            {"pool": pool, "in": sold, "out": bought}
            | dict(zip(("amount_in", "amount_out"), amounts, strict=True))
        )
    return trades


TRADES = made_trades()
UNITS = {TOKEN0: 10**18, TOKEN1: 10**6, WILD: 10**255}


@pytest.fixture(scope="module")
def traded(postgres, template):
    with postgres.cloned(template) as url:
        fill(url, TRADES, 3)
        yield url


@pytest.fixture(scope="module")
def client(traded):
    return indexing.client_over(traded)


def price(trade, token1):
    amounts = {trade["in"]: trade["amount_in"], trade["out"]: trade["amount_out"]}
    if not all(amounts.values()):
        return None
    return Fraction(amounts[token1], UNITS[token1]) / Fraction(amounts[TOKEN0], UNITS[TOKEN0])


def candles_of(pool, span_s, first_s, last_s):
    """By a plain loop over the trades; candles that begin or end beyond the range are whole."""
    first_s, last_s = first_s // span_s * span_s, last_s // span_s * span_s + span_s - 1
    token1 = WILD if pool == HOSTILE else TOKEN1
    placed = [(START_S + SPACING_S * (n // 3), t) for n, t in enumerate(TRADES)]
    placed = [(s, t) for s, t in placed if t["pool"] == pool and first_s <= s <= last_s]
    candles = []
    for start_s, group in groupby(placed, lambda entry: entry[0] // span_s * span_s):
        trades = [trade for _, trade in group]
        prices = [p for t in trades if (p := price(t, token1)) is not None]
        volumes = {TOKEN0: 0, token1: 0}
        for trade in trades:
            volumes[trade["in"]] += trade["amount_in"]
            volumes[trade["out"]] += trade["amount_out"]
        names = ("open", "high", "low", "close")
        values = (prices[0], max(prices), min(prices), prices[-1]) if prices else (None,) * 4
        candles.append(
            dict(zip(names, values, strict=True))
            | {
                "start_s": start_s,
                "trades": len(trades),
                "volume0": str(volumes[TOKEN0]),
                "volume1": str(volumes[token1]),
            }
        )
    return candles


def require_equal(answered, right):
    assert len(answered) == len(right) > 0
    for candle, truth in zip(answered, right, strict=True):
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


def test_volumes_are_sums_of_the_trades(client):
    newest_s = START_S + SPACING_S * (BLOCKS - 1)
    body = client.get(f"/api/v1/pools/{POOL}/volume").json
    assert [span["period"] for span in body["volumes"]] == ["24h", "7d", "all"]
    firsts = [newest_s // 3_600 * 3_600 - (hours - 1) * 3_600 for hours in (24, 168)]
    assert [span["timeFrom"] for span in body["volumes"]] == [
        *(f"{datetime.fromtimestamp(first, UTC):%Y-%m-%dT%H:%M:%SZ}" for first in firsts),
        None,
    ]
    for span in body["volumes"]:
        [right] = candles_of(POOL, 10**10, 0, newest_s)
        assert (span["volume0"], span["volume1"]) == (right["volume0"], right["volume1"])
        assert span["trades"] == right["trades"]
    pool = client.get(f"/api/v1/pools/{POOL}").json
    assert (pool["volume0"], pool["volume1"]) == (right["volume0"], right["volume1"])


def test_a_volume_of_hours_leaves_out_what_is_older(database_url):
    trades = [
        {"pool": POOL, "in": TOKEN0, "out": TOKEN1, "amount_in": n + 1, "amount_out": 1}
        for n in range(BLOCKS)
    ]
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


def test_a_pool_is_the_lists_record(client):
    listed = client.get("/api/v1/pools").json["pools"]
    assert [client.get(f"/api/v1/pools/{pool['address']}").json for pool in listed] == listed


def test_too_many_trades_are_counted_and_not_read(client, traded):
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
    database = explain.ExplainingDatabase(traded)
    database.row(
        "queries/pool_candles_list_by_block",
        address=bytes.fromhex(POOL[2:]),
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
    fill(database_url, [], 0)
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
                **{"address": bytes.fromhex(POOL[2:]), "span_s": span_s},
                **{"first_s": 0, "last_s": last_s, "limit": 20},
            )
        early, late = database.plans
        database.close()
        for plan in (early, late):
            assert "pool_candles" not in plan.sequential_scans()
            hours = [n for n in plan.nodes if n.get("Relation Name") == "pool_candles"]
            assert [node["Actual Rows"] for node in hours] == [21 * span_s // 3_600]
        assert late.buffers < 1.5 * early.buffers


@pytest.mark.check
def test_candles_rise_and_fall_between_their_wicks():
    names = ("open", "high", "low", "close")
    candles = [
        {"time": f"2026-01-0{day}T00:00:00Z", **dict(zip(names, prices, strict=True))}
        for day, prices in ((1, ("10", "20", "10", "15")), (2, ("15", "15", "12.5", "12.5")))
    ]
    chart = candle_chart(candles, title="Price", span_s=86_400)
    assert chart is not None and chart.candles is not None
    assert chart.candles.wicks == "M128 0V160M448 80V120"
    assert chart.candles.rising == "M0 80h256v80h-256z"
    assert chart.candles.falling == "M320 80h256v40h-256z"
    assert chart.readings[1] == ("2026-01-02", "open 15, high 15, low 12.5, close 12.5")

    assert chart.ticks == ["20", "18", "16", "14", "12", "10"]
    odd = [{**candles[0], "high": "3572.97", "low": "3133.74"}]
    axis = candle_chart(odd, title="Price", span_s=86_400)
    assert axis is not None and axis.ticks == ["3,600", "3,500", "3,400", "3,300", "3,200", "3,100"]


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
