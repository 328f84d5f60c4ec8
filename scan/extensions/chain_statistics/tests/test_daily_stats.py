"""GET /stats/daily and /stats/largest-transfers: exact days, refused dates, and the largest
transfers, exact or of the newest where a day has more."""

import csv
import io
import json
import random
import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from scan.database.connection import Database
from scan.extensions.chain_statistics import statistics
from tests.support import explain, indexing, made_blocks
from tests.support.daily_stats import DAY_S, MIDNIGHT_S, PEOPLE, counted, moves
from tests.support.database import execute
from tests.support.refusals import HUGE, require_parameter
from tests.support.scenario.stage import STRANGERS
from tests.support.table_digest import digest, fresh_digest

PATH = "/api/v1/stats/daily"
COUNTS = {
    name: index
    for index, name in enumerate(
        "transactions failedTransactions activeAddresses newAddresses contractsCreated"
        " tokenTransfers dexTrades gasUsed fees burntFees".split(),
        start=2,
    )
}


def fill(url):
    database = Database(url, statement_timeout_ms=0)
    chain, chance = made_blocks.Chain(database), random.Random(7)
    for hour in range(0, 7 * 24, 6):
        if hour // 24 != 3:
            chain.append(moves(chance), base_fee=3, timestamp_s=MIDNIGHT_S + hour * 3_600)
    database.close()


@pytest.fixture(scope="module")
def url(postgres, template):
    with postgres.cloned(template) as url:
        fill(url)
        yield url


@pytest.fixture(scope="module")
def days(url):
    return indexing.client_over(url)


def test_days_are_what_their_rows_give(days, url):
    last_day = "2023-11-20"  # with none on the 17th
    body = days.get(PATH).json
    assert (body["from"], body["to"], body["complete"]) == ("2023-10-22", last_day, True)
    expected = counted(url)
    assert [day["date"] for day in body["days"]] == [f"2023-11-{n}" for n in range(14, 21)]
    for day in body["days"]:
        row = expected.get(day["date"], (0, -1, *[0] * 10))
        assert day["blocks"] == row[1] - row[0] + 1
        assert {name: int(day[name]) for name in COUNTS} == {
            name: row[index] for name, index in COUNTS.items()
        }
    assert body["days"][3]["transactions"] == 0 and body["days"][3]["fees"] == "0"


def test_every_day_of_the_scenario_adds_up_to_the_chain(client, scenario):
    body = client.get(f"{PATH}?from=1970-01-01&to=1970-12-31").json
    days = [*body["days"], *client.get(PATH).json["days"]]
    total = client.get("/api/v1/stats").json["totalTransactions"]
    assert sum(day["transactions"] for day in days) == total
    assert sum(day["blocks"] for day in days) == scenario.anvil.head() + 1
    assert sum(day["contractsCreated"] for day in days) > 5
    fees = sum(int(t["fee"]) for t in scenario.truth.transactions)
    assert sum(int(day["fees"]) for day in days) == fees > 0


RANGES = [
    ("from=2023-11-16", ["16", "17", "18", "19", "20"]),
    ("from=2023-11-16&to=2023-11-17", ["16", "17"]),
    ("to=2023-11-15", ["14", "15"]),
    ("from=2023-11-20&to=2024-11-19", ["20"]),
    ("from=2022-11-20", ["14", "15", "16", "17", "18", "19", "20"]),
    ("from=2020-01-01&to=2020-01-05", []),
    ("from=9999-12-31&to=9999-12-31", []),
]


@pytest.mark.parametrize(("query", "dates"), RANGES)
def test_only_days_of_the_chain_are_listed(days, query, dates):
    body = days.get(f"{PATH}?{query}").json
    assert [day["date"][-2:] for day in body["days"]] == dates and body["complete"]


def test_parties_that_events_alone_name_are_neither_active_nor_new(
    anvil, database_url, postgres, template
):
    me = anvil.accounts[0]
    coin = anvil.deploy(me, "Named", "MANY")
    with indexing.Indexing(database_url, anvil.url, until=anvil.head()) as following:

        def today():
            [day] = following.client().get(PATH).json["days"]
            return day["activeAddresses"], day["newAddresses"], day["tokenTransfers"]

        before = today()
        faked = anvil.receipt_of(anvil.transact(me, coin, "fake", 300, gas=2_000_000))
        assert faked["status"] == "0x1"
        following.wait_for(anvil.head())
        assert today() == (*before[:2], before[2] + 300)
        anvil.receipt_of(anvil.send(me, STRANGERS[0], value=1))
        following.wait_for(anvil.head())
        assert today() == (before[0] + 1, before[1] + 1, before[2] + 300)
        anvil.reorganise(2)
        anvil.mine(2)
        following.wait_for(anvil.head())
        assert today() == before
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_charts_have_counts_in_units_and_fees_in_coins(days):
    newest = days.get(PATH).json["days"][-1]
    tables = re.findall(r"<th>Time</th><th>(.*?)</th>(.*?)</table>", days.get("/charts").text, re.S)
    shown = [(title, re.findall(r"<td>([^<]*)</td></tr>", rows)[-1]) for title, rows in tables]
    coins = {
        name: f"{Decimal(newest[name]).scaleb(-18).normalize():f}" for name in ("fees", "burntFees")
    }
    expected = [coins.get(name, str(newest[name])) for name in COUNTS]
    assert [value.replace(",", "") for _, value in shown] == expected
    assert [title for title, _ in shown if ", " in title] == ["Fees, coin", "Burnt fees, coin"]


def test_days_as_csv(days):
    response = days.get(f"{PATH}?format=csv&from=2023-11-14")
    assert response.content_type.startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.data.decode("utf-8-sig"))))
    records = days.get(f"{PATH}?from=2023-11-14").json["days"]
    assert [row["date"] for row in rows] == [day["date"] for day in records]
    assert [row["fees_wei"] for row in rows] == [f"{day['fees']} wei" for day in records]
    assert [Decimal(row["fees"]) * 10**18 for row in rows] == [int(d["fees"]) for d in records]
    assert [int(row["active_addresses"]) for row in rows] == [d["activeAddresses"] for d in records]


NO_DATES = [
    "",
    " ",
    *"""
            2023 2023-11 2023-13-01 2023-02-30 0000-01-01 20231114 2023-11-14T00:00:00Z 23-11-14
            -2023-11-14
        """.split(),
    "2023-11-14 ",
    "2023-W46-2",
    HUGE,
    "12023-11-14",
    "\u0662\u0660\u0662\u0663-11-14",
    "null",
    "0",
    "2023-11-1\0",
]


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize("value", NO_DATES, ids=lambda value: ascii(value)[:20])
def test_dates_that_are_refused(days, name, value):
    require_parameter(days.get(PATH, query_string={name: value}), name)


REFUSED = [
    ("from=2022-11-19", "from"),
    ("from=2023-11-16&to=2023-11-15", "from"),
    ("from=0001-01-01&to=9999-12-31", "from"),
    ("format=ndjson", "format"),
    ("page=2", "page"),
]


@pytest.mark.parametrize(("query", "parameter"), REFUSED)
def test_other_ranges_formats_and_parameters_are_refused(days, query, parameter):
    require_parameter(days.get(f"{PATH}?{query}"), parameter)


def test_before_the_first_block_there_are_no_days(database_url):
    client = indexing.client_over(database_url)
    assert client.get(PATH).json == {"from": None, "to": None, "complete": True, "days": []}
    body = client.get(f"{PATH}?from=2026-01-01&to=2026-01-02").json
    assert body["days"] == [] and body["from"] == "2026-01-01"


@pytest.fixture(scope="module")
def busy(postgres, template):
    """Days of four blocks, and a last one of 450 with more gas in each."""
    with postgres.cloned(template) as url:
        fill(url)
        execute(
            url,
            "INSERT INTO blocks SELECT added.* FROM generate_series(1, 450) AS n, blocks b,"
            " jsonb_populate_record(b, jsonb_build_object('number', b.number + n,"
            " 'hash', '\\x' || lpad(n::text, 64, '0'), 'gas_used', n * n,"
            " 'timestamp', b.timestamp + interval '6 hours' + n * interval '1 minute',"
            " 'transactions_before', b.transactions_before + b.transaction_count + (n - 1) * 2,"
            " 'transaction_count', 2)) AS added"
            " WHERE b.number = (SELECT max(number) FROM blocks)",
        )
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
        for number, made in enumerate(days):
            for block in range(4):
                part = made[block * 12 :] if block == 3 else made[block * 12 : block * 12 + 12]
                chain.append(part, timestamp_s=MIDNIGHT_S + DAY_S * number + 21_599 * block)
        database.close()
        yield url, days


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [statistics.MAX_SAMPLE, SAMPLE], ids=["all", "bounded"])
def test_the_largest_of_a_day_are_those_of_its_sample(moved, sample):
    url, days = moved
    client = indexing.client_over(url)
    indexing.sources(client).get(statistics.CountedBounds).sample = sample
    for number, made in enumerate(days):
        path = f"/api/v1/stats/largest-transfers?date={day_of(number)}"
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


@pytest.mark.thorough
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


TEN_YEARS = """
INSERT INTO daily_stats (day, first_block, last_block, transaction_count, failed_transaction_count,
    created_contract_count, token_transfer_count, dex_trade_count, gas_used, fees_wei, burnt_wei)
SELECT DATE '2013-01-01' + n, -4000 + n, -4000 + n, 1, 0, 0, 0, 0, 1, 1, 1
FROM generate_series(0, 3651) AS n
"""


def test_ten_years_are_drawn_by_month(postgres, template):
    """At most as many points as months, from an index scan of the days."""
    with postgres.cloned(template) as url:
        fill(url)
        client = indexing.client_over(url)
        weeks = client.get("/charts?days=all").text
        assert "<h1>Charts by week</h1>" in weeks and "Active addresses" not in weeks
        assert "2023-11-13" in weeks and "2023-11-20" in weeks
        execute(url, TEN_YEARS)
        page = indexing.client_over(url).get("/charts?days=all").text
        assert "<h1>Charts by month</h1>" in page and "2013-01-01" in page
        assert len(page) < 150_000
