"""GET /stats/daily and /stats/largest-transfers: exact days, refused dates, and the largest
transfers, exact or of the newest where a day has more."""

import json
import random
from contextlib import closing
from datetime import UTC, datetime

import pytest

from scan.database.connection import Database
from scan.extensions.chain_statistics import statistics
from tests.support import indexing, made_blocks
from tests.support.daily_stats import DAY_S, MIDNIGHT_S, PEOPLE, counted, moves
from tests.support.database import execute

PATH = "/api/v1/stats/daily"


def fill(url):
    database = Database(url, statement_timeout_ms=0)
    chain, chance = made_blocks.Chain(database), random.Random(7)
    for hour in range(0, 7 * 24, 6):
        if hour // 24 != 3:
            chain.append(moves(chance), base_fee=3, timestamp_s=MIDNIGHT_S + hour * 3_600)
    database.close()


@pytest.fixture(scope="module")
def days(shared_database_url):
    fill(shared_database_url)
    return indexing.client_over(shared_database_url)


def test_days_are_what_their_rows_give(days, shared_database_url):
    last_day = "2023-11-20"  # with none on the 17th
    counts = (
        "transactions failedTransactions activeAddresses newAddresses contractsCreated"
        " tokenTransfers dexTrades gasUsed fees burntFees"
    ).split()
    body = days.get(PATH).json
    assert (body["from"], body["to"], body["complete"]) == ("2023-10-22", last_day, True)
    expected = counted(shared_database_url)
    assert [day["date"] for day in body["days"]] == [f"2023-11-{n}" for n in range(14, 21)]
    for day in body["days"]:
        row = expected.get(day["date"], (0, -1, *[0] * 10))
        assert day["blocks"] == row[1] - row[0] + 1
        assert [int(day[name]) for name in counts] == [*row[2:]]
    assert body["days"][3]["transactions"] == 0 and body["days"][3]["fees"] == "0"


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("from=2023-11-16", ["16", "17", "18", "19", "20"]),
        ("from=2023-11-16&to=2023-11-17", ["16", "17"]),
        ("to=2023-11-15", ["14", "15"]),
        ("from=2020-01-01&to=2020-01-05", []),
    ],
)
def test_only_days_of_the_chain_are_listed(days, query, dates):
    body = days.get(f"{PATH}?{query}").json
    assert [day["date"][-2:] for day in body["days"]] == dates and body["complete"]


def test_before_the_first_block_there_are_no_days(database_url):
    client = indexing.client_over(database_url)
    assert client.get(PATH).json == {"from": None, "to": None, "complete": True, "days": []}
    body = client.get(f"{PATH}?from=2026-01-01&to=2026-01-02").json
    assert body["days"] == [] and body["from"] == "2026-01-01"


@pytest.fixture(scope="module")
def busy(postgres, template):
    """Days of four blocks, and a last one of 450 with more gas in some."""
    times = [*range(0, 3 * DAY_S, 21_600), *range(3 * DAY_S, 3 * DAY_S + 27_000, 60)]
    with postgres.cloned(template) as url:
        with closing(Database(url, statement_timeout_ms=0)) as database:
            chain = made_blocks.Chain(database)
            for n, second in enumerate(times):
                sent = [made_blocks.Move(*PEOPLE[:2])] * (n * n % 7)
                chain.append(sent, timestamp_s=MIDNIGHT_S + second)
        yield url


@pytest.mark.parametrize("spans", [1, 3, 12])
@pytest.mark.parametrize("span_s", [3_600, 9_000, 86_400, 10 * 86_400])
def test_activity_of_each_span_is_that_of_its_blocks(busy, span_s, spans):
    """Gas of more than 200 blocks is estimated by every second one, or third."""
    rows = execute(
        busy,
        "SELECT extract(epoch FROM timestamp)::bigint, transaction_count, gas_used FROM blocks"
        " ORDER BY number",
    )
    newest = rows[-1][0] // span_s * span_s
    expected = []
    for start in range(newest - (spans - 1) * span_s, newest + 1, span_s):
        within = [row for row in rows if start <= row[0] < start + span_s]
        sample = [gas for _, _, gas in within[:: max(-(-len(within) // 200), 1)]]
        expected.append(
            {
                "start": start,
                "transactions": sum(count for _, count, _ in within),
                "blocks": len(within),
                "gasUsed": str(sum(sample) * len(within) // max(len(sample), 1)),
                "sampled": len(within) > 200,
            }
        )
    database = Database(busy, statement_timeout_ms=5000)
    row = database.row("queries/activity_list", span_s=span_s, spans=spans)
    database.close()
    assert row is not None and json.loads(row[1]) == expected


LARGE = 10**19
# By day: how many large ones of coin, which are the first, and how many others.
DAYS = ((12, 30), (3, 30), (0, 30), (10, 5), (0, 0), (2, 3))


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
        for number, made in enumerate(days):
            for block in range(4):
                part = made[block * 12 :] if block == 3 else made[block * 12 : block * 12 + 12]
                chain.append(part, timestamp_s=MIDNIGHT_S + DAY_S * number + 21_599 * block)
        database.close()
        yield url, days


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [statistics.MAX_SAMPLE, 20], ids=["all", "bounded"])
def test_the_largest_of_a_day_are_those_of_its_sample(moved, sample):
    url, days = moved
    client = indexing.client_over(url)
    indexing.sources(client).get(statistics.CountedBounds).sample = sample
    for number, made in enumerate(days):
        date = datetime.fromtimestamp(MIDNIGHT_S + DAY_S * number, UTC).date()
        path = f"/api/v1/stats/largest-transfers?date={date}"
        large = [move.value for move in made if move.value >= LARGE]
        newest = made if len(large) >= 10 else made[-sample:]
        values = sorted(
            [*large, *(m.value for m in newest if m.status and 0 < m.value < LARGE)], reverse=True
        )
        body = client.get(path).json
        assert [int(t["value"]) for t in body["transactions"]] == values[:10]
        assert (body["of"], body["total"]) == (len(newest), len(made))
        newest = made[-sample:]
        values = sorted((move.tokens or 0 for move in newest), reverse=True)
        body = client.get(f"{path}&tokenAddress=0x{made_blocks.TOKEN.hex()}").json
        assert [int(t["value"]) for t in body["transfers"]] == [v for v in values if v][:10]
        keys = [(int(t["value"]), t["blockNumber"], t["logIndex"]) for t in body["transfers"]]
        assert keys == sorted(keys, reverse=True)
        assert (body["of"], body["total"]) == (len(newest), len(made))


def test_ten_years_are_drawn_by_month(database_url):
    """At most as many points as months, from an index scan of the days."""
    ten_years = """
        INSERT INTO daily_stats (day, first_block, last_block, transaction_count,
            failed_transaction_count, created_contract_count, token_transfer_count,
            dex_trade_count, gas_used, fees_wei, burnt_wei)
        SELECT DATE '2013-01-01' + n, -4000 + n, -4000 + n, 1, 0, 0, 0, 0, 1, 1, 1
        FROM generate_series(0, 3651) AS n
    """
    fill(database_url)
    client = indexing.client_over(database_url)
    weeks = client.get("/charts?days=all").text
    assert "<h1>Charts by week</h1>" in weeks and "Active addresses" not in weeks
    assert "2023-11-13" in weeks and "2023-11-20" in weeks
    execute(database_url, ten_years)
    page = indexing.client_over(database_url).get("/charts?days=all").text
    assert "<h1>Charts by month</h1>" in page and "2013-01-01" in page
    assert len(page) < 150_000
