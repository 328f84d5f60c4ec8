"""What PostgreSQL reads for a holder of 10,000 tokens, and for prices by 2,000 pools."""

import itertools
from contextlib import ExitStack, closing
from datetime import date, timedelta
from decimal import Decimal

import pytest

from scan.database.connection import Database
from scan.extensions.markets.unit_prices import pool_prices
from scan.queries import holdings
from scan.queries.holdings import MAX_IN_HEAD, PoolPrice, UnitPrices
from tests.support import fixed_prices
from tests.support.database import execute
from tests.support.explain import explained
from tests.support.indexing import sources

pytestmark = pytest.mark.thorough

AT = "2026-01-31T00:00:00Z"
GIVEN = UnitPrices("USD", "us", AT, None, {}, pools={})
HELD, POOLS, HOLDERS = 10_000, 2_000, 60_000
HOLDER, BASE, FEW_HOLDER = (bytes([n] * 20) for n in (7, 8, 9))
HELD_ROWS = r"""
-- A holder of many tokens, and pools of a base token, each with hours of trades.
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, supply_block,
    item_type, holder_count)
SELECT decode(md5(n::text) || '00000000', 'hex'), 0, 'BEP20', 'Made ' || n, 'M' || n % 500, 18,
    1e30, 0, NULL, n
FROM generate_series(1, {held}) AS n
UNION ALL SELECT '\x{base}'::bytea, 0, 'BEP20', 'Base', 'BASE', 6, 1e30, 0, NULL, {holders};
INSERT INTO token_holders (holder, token_address, balance)
SELECT '\x{holder}'::bytea, decode(md5(n::text) || '00000000', 'hex'), n * 1e15
FROM generate_series(1, {held}) AS n;
INSERT INTO token_holders (holder, token_address, balance)
SELECT decode(md5(n::text) || '11111111', 'hex'), '\x{base}'::bytea, n * 1e6
FROM generate_series(1, {holders}) AS n;
INSERT INTO pools (address, block_number, dex_id, token0, token1)
SELECT decode(md5(n::text) || '11111111', 'hex'), 0, (SELECT min(dex_id) FROM dexes),
    decode(md5((n % {pools} + 1)::text) || '00000000', 'hex'), '\x{base}'::bytea
FROM generate_series({holders} - {pools} + 1, {holders}) AS n;
INSERT INTO token_holders (holder, token_address, balance)
SELECT p.address, p.token0, 1e20 FROM pools p WHERE p.token1 = '\x{base}'::bytea;
INSERT INTO pool_candles (pool_address, hour, trade_count, first_ordinal, volume0, volume1,
    close_amount0, close_amount1)
SELECT p.address, timestamptz '2026-01-01' + hour * interval '1 hour', 1, 0, 1, 1, 1e18, 2e6 + hour
FROM pools p CROSS JOIN generate_series(1, 48) AS hour WHERE p.token1 = '\x{base}'::bytea;
-- Tokens of a list, and a holder of few tokens.
INSERT INTO listed_tokens (address, list, name, symbol, decimals)
SELECT decode(md5(n::text) || '22222222', 'hex'), 'made', 'Listed ' || n, 'L' || n, 18
FROM generate_series(1, {held}) AS n
UNION ALL SELECT decode(md5('three') || '22222222', 'hex'), 'made', 'Three', U&'$ m\FF13', 18;
INSERT INTO token_holders (holder, token_address, balance)
SELECT '\x{few_holder}'::bytea, decode(md5(n::text) || '00000000', 'hex'), n * 1e15
FROM generate_series(1, 5) AS n;
"""


@pytest.fixture(scope="module")
def made(postgres, seeded_template):
    given = {"held": HELD, "pools": POOLS, "holders": HOLDERS}
    given |= {"holder": HOLDER.hex(), "base": BASE.hex(), "few_holder": FEW_HOLDER.hex()}
    with postgres.cloned(seeded_template) as url:
        with closing(Database(url, statement_timeout_ms=0)) as database:
            database.execute_script(HELD_ROWS.format(**given))
        for table in ("tokens", "token_holders", "pools", "pool_candles", "listed_tokens"):
            execute(url, f"VACUUM ANALYZE {table}")
        with explained(url) as service:
            yield service


def test_prices_by_pools_read_the_largest_holders_alone(made):
    [[_, data]] = made.database.rows(
        "queries/pool_prices_list",
        tokens=[BASE],
        prices=[Decimal(1)],
        min_depth=Decimal(1000),
        hours=pool_prices.POOL_HOURS,
        max_age=timedelta(days=pool_prices.MAX_AGE_DAYS),
        factor=pool_prices.MAX_FACTOR,
        pools_each=pool_prices.POOLS_EACH,
        max_bases=pool_prices.MAX_BASES,
        max_holders=pool_prices.MAX_HOLDERS // 5,
        limit=pool_prices.MAX_POOL_PRICES,
    )
    assert data.count('"pool"') == pool_prices.MAX_POOL_PRICES
    plan = made.database.plans[-1]
    plan.require_indexes(small={"dexes"})
    assert plan.buffers < 4 * pool_prices.MAX_HOLDERS // 5 + 100 * POOLS


def test_prices_of_days_read_the_hours_of_these_days_alone(made):
    select = "SELECT address FROM pools WHERE token1 = %s LIMIT 1000"
    pools = [bytes(row[0]) for row in execute(made.url, select, BASE)]
    [[_, data]] = made.database.rows(
        "queries/pool_day_prices_list", pools=pools, days=[date(2026, 1, 1), date(2026, 1, 2)] * 500
    )
    assert data.count('"pool"') == len(pools) == 1000
    plan = made.database.plans[-1]
    plan.require_indexes(most_sorted=24)
    assert plan.buffers < 16 * len(pools)


def test_tokens_by_worth_are_read_once(made):
    held = [row[0] for row in execute(made.url, "SELECT address FROM tokens LIMIT 3000")]
    by_pools = {
        f"0x{bytes(token).hex()}": PoolPrice(Decimal("0.5"), "0x", Decimal(10**9), AT)
        for token in held
    }
    fixed_prices.price(made.client, GIVEN._replace(pools=by_pools))
    first, page = made.plans(f"/api/v1/addresses/0x{HOLDER.hex()}/tokens?sort=worth&limit=100")
    last, _ = made.plans(f"/api/v1/addresses/0x{HOLDER.hex()}/tokens?sort=worth&limit=100&page=100")
    assert page["total"] == HELD and len(page["tokens"]) == 100
    for plan in (first[-1], last[-1]):
        assert plan.statement == "queries/addresses_list_tokens_by_worth"
        plan.require_indexes(HELD, small={"dexes", "listed_tokens"})
        assert plan.buffers < 8 * HELD


WORTH = "queries/addresses_list_tokens_by_worth"
HELD_SYMBOLS = "queries/addresses_list_held_symbols"


def test_a_holder_of_few_tokens_reads_neither_token_lists_nor_other_prices(made):
    tokens = [row[0] for row in execute(made.url, "SELECT address FROM tokens LIMIT 1000")]
    prices = {f"0x{bytes(token).hex()}": Decimal("0.5") for token in tokens}
    fixed_prices.price(made.client, GIVEN._replace(tokens=prices))
    page = f"/address/0x{FEW_HOLDER.hex()}"
    first, _ = made.plans(f"{page}?tab=transfers")
    assert [plan.statement for plan in first].count("queries/known_symbols_list") == 1
    for path in (page, f"{page}?tab=tokens"):
        plans, _ = made.plans(path)
        statements = [plan.statement for plan in plans]
        assert statements.count(WORTH) == 1
        assert "queries/known_symbols_list" not in statements
        for plan in (p for p in plans if p.statement in (WORTH, HELD_SYMBOLS)):
            plan.require_indexes(10)
            assert plan.buffers < 300  # with namesakes
            assert all(n["Actual Rows"] <= 10 for n in plan.nodes if n["Actual Loops"])
    fixed_prices.price(made.client, GIVEN)
    _, body = made.plans(f"/api/v1/addresses/0x{FEW_HOLDER.hex()}/tokens?sort=worth")
    alike = [t["symbol"] for t in body["tokens"] if t["suspicious"] == "imitation"]
    assert alike == ["M3"]  # of the list's token


def test_a_holder_of_too_many_tokens_for_a_head_reads_one_more_than_that(made):
    fixed_prices.price(made.client, GIVEN._replace(tokens={f"0x{BASE.hex()}": Decimal(1)}))
    plans, _ = made.plans(f"/address/0x{HOLDER.hex()}")
    by_statement = {plan.statement: plan for plan in plans}
    assert WORTH not in by_statement
    held = by_statement[HELD_SYMBOLS]
    assert max(n["Actual Rows"] for n in held.nodes if n["Actual Loops"]) == MAX_IN_HEAD + 1
    assert not [n for n in held.nodes if n["Actual Loops"] and n["Table"] == "tokens"]


@pytest.mark.parametrize(
    ("in_head", "status", "has_total"), [(holdings.MAX_IN_HEAD, 200, True), (4, 503, False)]
)
def test_tokens_have_no_order_where_no_place_is_free_for_the_read_of_many(
    made, in_head, status, has_total
):
    """The read of few needs no place."""
    fixed_prices.price(made.client, GIVEN._replace(tokens={f"0x{BASE.hex()}": Decimal(1)}))
    path, client = f"/address/0x{FEW_HOLDER.hex()}?tab=tokens", made.client
    sources(client).get(holdings.HoldingBounds).in_head = in_head
    places = sources(client).unbounded_statements
    with ExitStack() as held:
        for number in itertools.takewhile(places.take, itertools.count()):
            held.callback(places.give_back, number)
        page = client.get(path)
        body = client.get(f"/api/v1/addresses/0x{FEW_HOLDER.hex()}/tokens?sort=worth")
    assert page.status_code == 200 and body.status_code == status
    assert ("Total value" in page.text) == has_total
    assert page.text.count('data-label="Token"') == 5
    assert "Total value" in client.get(path).text  # the page without an order was not kept
