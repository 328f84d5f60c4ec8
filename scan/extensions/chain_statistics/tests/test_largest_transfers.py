"""GET /stats/largest-transfers?date=: exact, or of the newest where a day has more."""

import json
import random
from datetime import UTC, datetime

import pytest

from app import create_app
from scan.database.connection import Database
from scan.extensions.chain_statistics import statistics
from tests.indexer.test_daily_stats import DAY_S, MIDNIGHT_S, PEOPLE
from tests.support import explain, indexing, made_blocks, serving
from tests.support.database import execute

LARGE = 10**19
SAMPLE = 20
# By day: how many large ones of coin, which are the first, and how many others.
DAYS = ((12, 30), (3, 30), (0, 30), (10, 5), (0, 0), (2, 3))


def day_of(number):
    return datetime.fromtimestamp(MIDNIGHT_S + DAY_S * number, UTC).date().isoformat()


@pytest.fixture(scope="module")
def moved(postgres, template):
    """A database, and the moves of each day."""
    chance = random.Random(26)
    days = [
        [
            made_blocks.Move(
                sender=chance.choice(PEOPLE),
                recipient=chance.choice(PEOPLE),
                value=chance.randrange(LARGE, 2 * LARGE) if n < large else chance.randrange(9),
                tokens=chance.randrange(9),
                status=chance.random() < 0.8 or n < large,
            )
            for n in range(large + others)
        ]
        for large, others in DAYS
    ]
    with postgres.cloned(template) as url:
        database = Database(url, statement_timeout_ms=0)
        chain = made_blocks.Chain(database)
        for number, moves in enumerate(days):
            for block in range(4):
                part = moves[block * 12 :] if block == 3 else moves[block * 12 : block * 12 + 12]
                chain.append(part, timestamp_s=MIDNIGHT_S + DAY_S * number + 21_599 * block)
        database.close()
        yield url, days


@pytest.mark.parametrize("is_bounded", [False, True], ids=["all", "bounded"])
def test_the_largest_of_a_day_are_those_of_its_sample(moved, monkeypatch, *, is_bounded):
    if is_bounded:
        monkeypatch.setattr(statistics, "MAX_SAMPLE", SAMPLE)
    url, days = moved
    client = create_app(indexing.settings_for(url, serving.NOWHERE)).test_client()
    for number, moves in enumerate(days):
        path = f"/api/v1/stats/largest-transfers?date={day_of(number)}"
        large = [move.value for move in moves if move.value >= LARGE]
        newest = moves if len(large) >= 10 or not is_bounded else moves[-SAMPLE:]
        values = sorted(
            [*large, *(m.value for m in newest if m.status and 0 < m.value < LARGE)], reverse=True
        )
        body = client.get(path).json
        assert [int(t["value"]) for t in body["transactions"]] == values[:10]
        assert (body["of"], body["total"]) == (len(newest), len(moves))
        newest = moves[-SAMPLE:] if is_bounded else moves
        values = sorted((move.tokens or 0 for move in newest), reverse=True)
        body = client.get(f"{path}&tokenAddress=0x{made_blocks.TOKEN.hex()}").json
        assert [int(t["value"]) for t in body["transfers"]] == [v for v in values if v][:10]
        places = [(int(t["value"]), t["blockNumber"], t["logIndex"]) for t in body["transfers"]]
        assert places == sorted(places, reverse=True)
        assert (body["of"], body["total"]) == (len(newest), len(moves))


def test_large_values_of_many_runs_are_read_by_index(database_url):
    """Of 60,000 transactions in four runs of 16,384, of which every twentieth is large."""
    execute(
        database_url,
        "INSERT INTO blocks (number, timestamp, transactions_before, token_transfers_before,"
        " dex_trades_before, transaction_count, token_transfer_count, dex_trade_count, hash,"
        " parent_hash, miner, gas_used, gas_limit, gas_price_sum, internal_transfers_before,"
        " internal_transfer_count, traced_before, untraced_before, logs_before, log_count)"
        " SELECT n, to_timestamp(n), 100 * n, 0, 0, 100, 0, 0, int4send(n), '', '', 1, 1, 1,"
        " 0, 0, 0, 0, 0, 0 FROM generate_series(0, 599) AS n",
    )
    execute(database_url, "SELECT add_partition('transactions', 0, 1000000)")
    execute(
        database_url,
        "INSERT INTO transactions (ordinal, block_number, transaction_index, status, hash,"
        " from_address, to_address, value, gas_price, gas_used, fee, type) SELECT n, n / 100,"
        " mod(n, 100), mod(n, 7) > 0, int4send(n), '', '', CASE WHEN mod(n, 20) = 0"
        " THEN 10000000000000000000 + mod(n * 7919, 60013) ELSE n END, 1, 1, 1, ''"
        " FROM generate_series(0, 59999) AS n",
    )
    execute(database_url, "ANALYZE")
    database = explain.ExplainingDatabase(database_url)
    for first, last in ((0, 599), (150, 180), (10, 420)):
        row = database.row(
            "queries/transactions_list_largest_in_blocks",
            block_from=first,
            block_to=last,
            limit=10,
            most=100,
        )
        data, of, block, total = row[-4:]
        large = (n for n in range(first * 100, last * 100 + 100) if n % 20 == 0 and n % 7 > 0)
        values = sorted((LARGE + n * 7919 % 60013 for n in large), reverse=True)
        assert [int(record["value"]) for record in json.loads(data)] == values[:10]
        assert of == total == (last - first + 1) * 100 and block == first
        plan = database.plans[-1]
        scans = {n["Index"] for n in plan.nodes if n["Index"] and n["Actual Loops"]}
        assert "transactions_by_value" in scans
        assert plan.sequential_scans() == set() and plan.buffers < 150
    database.close()
