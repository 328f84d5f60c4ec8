"""GET /pools/:address and its candles: exact from its trades, bounded, whatever a token says."""

import random
from collections.abc import Iterator
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import groupby
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.database.connection import Database
from scan.indexer.block_range import read_block_range
from scan.indexer.writer import derive
from scan.queries import pools
from tests.api.test_bad_input import HUGE, require_parameter, require_refusal
from tests.indexer.test_ordinals import NOWHERE
from tests.support.database import Postgres, execute
from tests.support.explain import ExplainingDatabase
from tests.support.indexing import settings_for

getcontext().prec = 700
POOL, EMPTY, HOSTILE = ("0x" + byte * 20 for byte in ("aa", "bb", "cc"))
TOKEN0, TOKEN1, WILD = ("0x" + byte * 20 for byte in ("01", "02", "03"))
BLOCKS, SPACING_S, START_S = 400, 100, 1_700_000_000
LARGEST = 2**256 - 1
FILL = """
INSERT INTO chain (chain_id, genesis_hash, start_block) VALUES (1, sha256('0'), 0);
INSERT INTO dexes (name) VALUES ('uniswap-v2');
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, wraps)
VALUES ('{token0}', 0, 'BEP20', 'A', 'A', 18, 0, false), ('{token1}', 0, 'BEP20', 'B', 'B', 6, 0,
    false), ('{wild}', 0, 'BEP20', 'W', 'W', 255, 0, false);
INSERT INTO pools (address, block_number, dex_id, token0, token1)
VALUES ('{pool}', 0, 1, '{token0}', '{token1}'), ('{empty}', 0, 1, '{token0}', '{token1}'),
    ('{hostile}', 0, 1, '{token0}', '{wild}');
INSERT INTO blocks (number, timestamp, transactions_before, token_transfers_before,
    dex_trades_before, transaction_count, token_transfer_count, dex_trade_count, hash, parent_hash,
    miner, gas_used, gas_limit, gas_price_sum)
SELECT n, to_timestamp({start} + {spacing} * n), n, 0, {each} * n, 1, 0, {each},
    sha256(n::text::bytea), sha256((n - 1)::text::bytea), '\\x00', 1, 2, 1
FROM generate_series(0, {blocks} - 1) AS n;
INSERT INTO transactions (ordinal, block_number, transaction_index, status, hash, from_address,
    to_address, value, gas_price, gas_used)
SELECT n, n, 0, true, sha256(('t' || n)::bytea), '\\x0a', '\\x0b', 0, 1, 1
FROM generate_series(0, {blocks} - 1) AS n;
"""
TRADE = (
    "INSERT INTO dex_trades (ordinal, block_number, log_index, transaction_index, dex_id,"
    " pool_address, maker, token_in, token_out, amount_in, amount_out) VALUES "
)


def bytea(address: str) -> str:
    return "\\x" + address[2:]


def fill(url: str, trades: list[dict[str, Any]], each: int) -> None:
    """`each` trades of a block, in their order, derived by the indexer's own statements."""
    names = {"pool": POOL, "empty": EMPTY, "hostile": HOSTILE}
    names |= {"token0": TOKEN0, "token1": TOKEN1, "wild": WILD}
    numbers = {"start": START_S, "spacing": SPACING_S, "blocks": BLOCKS, "each": each}
    database = Database(url, statement_timeout_ms=0)
    filled = {name: bytea(address) for name, address in names.items()}
    database.execute_script(FILL.format(**filled, **numbers))
    rows = [
        f"({n}, {n // each}, {n % each}, 0, 1, '{bytea(t['pool'])}', '\\x0a', '{bytea(t['in'])}',"
        f" '{bytea(t['out'])}', {t['amount_in']}, {t['amount_out']})"
        for n, t in enumerate(trades)
    ]
    database.execute_script(TRADE + ", ".join(rows))
    with database.transaction() as tx:
        derive(tx, read_block_range(tx, 0, BLOCKS - 1))
    database.execute_script("ANALYZE")
    database.close()


def made_trades() -> list[dict[str, Any]]:
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
def traded(postgres: Postgres, template: str) -> Iterator[str]:
    with postgres.cloned(template) as url:
        fill(url, TRADES, 3)
        yield url


@pytest.fixture
def client(traded: str) -> FlaskClient:
    return create_app(settings_for(traded, NOWHERE)).test_client()


def price(trade: dict[str, Any], token1: str) -> Fraction | None:
    amounts = {trade["in"]: trade["amount_in"], trade["out"]: trade["amount_out"]}
    if not all(amounts.values()):
        return None
    return Fraction(amounts[token1], UNITS[token1]) / Fraction(amounts[TOKEN0], UNITS[TOKEN0])


def expected(pool: str, span_s: int, first_s: int, last_s: int) -> list[dict[str, Any]]:
    """By a plain loop over the trades."""
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
            | {"start_s": start_s, "trades": len(trades)}
            | {"volume0": str(volumes[TOKEN0]), "volume1": str(volumes[token1])}
        )
    return candles


def require_equal(answered: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
    assert len(answered) == len(right) > 0
    for candle, truth in zip(answered, right, strict=True):
        for name in ("volume0", "volume1", "trades"):
            assert candle[name] == truth[name]
        for name in ("open", "high", "low", "close"):
            if truth[name] is None:
                assert candle[name] is None
            else:
                assert "e" not in candle[name].lower()
                error = abs(Fraction(Decimal(candle[name])) - truth[name])
                assert error <= truth[name] / 10**15


@pytest.mark.parametrize("interval", pools.INTERVALS_S)
@pytest.mark.parametrize("pool", [POOL, HOSTILE])
def test_candles_are_what_the_trades_give(client: FlaskClient, pool: str, interval: str) -> None:
    first_s, last_s = START_S + 777, START_S + 30_000
    body = client.get(
        f"/api/v1/pools/{pool}/candles?interval={interval}&timeFrom={first_s}&timeTo={last_s}"
    ).json
    assert body["interval"] == interval
    right = expected(pool, pools.INTERVALS_S[interval], first_s, last_s)
    require_equal(body["candles"], right)


def test_by_default_they_end_with_the_newest_trade(client: FlaskClient) -> None:
    last_s = START_S + SPACING_S * (BLOCKS - 1)
    body = client.get(f"/api/v1/pools/{POOL}/candles").json
    require_equal(body["candles"], expected(POOL, 3_600, last_s - 99 * 3_600, last_s))
    body = client.get(f"/api/v1/pools/{POOL}/candles?timeTo={last_s - 9_000}&interval=5m").json
    first_s = (last_s - 9_000) // 300 * 300 - 99 * 300
    require_equal(body["candles"], expected(POOL, 300, first_s, last_s - 9_000))


def test_a_pool_without_trades_has_no_candles(client: FlaskClient) -> None:
    pool = client.get(f"/api/v1/pools/{EMPTY}").json
    assert (pool["tradeCount"], pool["lastTradeAt"], pool["token1Decimals"]) == (0, None, 6)
    assert client.get(f"/api/v1/pools/{EMPTY}/candles").json["candles"] == []
    assert client.get(f"/api/v1/pools/{POOL}/candles?timeTo=5").json["candles"] == []


def test_a_pool_is_the_lists_record(client: FlaskClient) -> None:
    listed = client.get("/api/v1/pools").json["pools"]
    assert [client.get(f"/api/v1/pools/{pool['address']}").json for pool in listed] == listed


def test_what_is_refused(client: FlaskClient) -> None:
    path = f"/api/v1/pools/{POOL}/candles"
    for value in ("", "1m", "1H", "3600", "1h,1d", HUGE):
        require_parameter(client.get(path, query_string={"interval": value}), "interval")
    for name in ("timeFrom", "timeTo"):
        for value in ("", "-1", "1e3", "yesterday", HUGE, "9" * 13):
            require_parameter(client.get(path, query_string={name: value}), name)
    for query in (
        f"interval=5m&timeFrom={START_S}&timeTo={START_S + 151_000}",
        f"timeFrom={START_S + 9_999}&timeTo={START_S}",
        "timeFrom=0",
        f"timeFrom={10**12 - 1}",
    ):
        require_parameter(client.get(f"{path}?{query}"), "timeFrom")
    require_parameter(client.get("/api/v1/pools/0x12/candles"), "address")
    for nobody in (f"/api/v1/pools/{TOKEN0}", f"/api/v1/pools/{TOKEN0}/candles?timeTo=9"):
        require_refusal(client.get(nobody), 404, "not_found")


def test_too_many_trades_are_counted_and_not_read(
    client: FlaskClient, traded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default range gets shorter until it has few enough; one that was chosen is refused."""
    monkeypatch.setattr(pools, "MAX_TRADES", 30)
    path = f"/api/v1/pools/{POOL}/candles?interval=5m"
    body = client.get(path).json["candles"]
    assert 0 < sum(candle["trades"] for candle in body) <= 30
    response = client.get(f"{path}&timeFrom={START_S}&timeTo={START_S + 30_000}")
    require_parameter(response, "timeFrom")
    assert "602 trades" in response.json["error"]
    database = ExplainingDatabase(traded)
    database.prepared_row(
        "queries/pools_list_candles",
        address=bytes.fromhex(POOL[2:]),
        span_s=300,
        block_from=0,
        block_to=BLOCKS,
        max_trades=30,
    )
    [plan] = database.plans
    database.close()
    trades = [n for n in plan.nodes if n.get("Relation Name") == "dex_trades"]
    assert {node["Actual Loops"] for node in trades} == {0}


def test_candles_are_read_by_index_at_any_depth(traded: str) -> None:
    database = ExplainingDatabase(traded)
    for block in (0, BLOCKS - 20):
        database.prepared_row(
            "queries/pools_list_candles",
            address=bytes.fromhex(POOL[2:]),
            span_s=300,
            block_from=block,
            block_to=block + 19,
            max_trades=20_000,
        )
    early, late = database.plans
    database.close()
    assert early.sequential_scans() == late.sequential_scans() == set()
    assert late.buffers < 1.5 * early.buffers
    assert execute(traded, "SELECT count(*) FROM list_checkpoints") != [(0,)]
