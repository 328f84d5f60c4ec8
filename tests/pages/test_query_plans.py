"""What the database pays for what pages alone ask, at 100,000 transactions: indexes, and little."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bench.seed import seed
from tests.support.database import Postgres, execute
from tests.support.explain import ExplainingDatabase

SMALL = {"chain", "label_state", "dexes"}


@pytest.fixture(scope="module")
def url(postgres: Postgres, template: str) -> Iterator[str]:
    with postgres.cloned(template) as url:
        seed(url, 100_000)
        yield url


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[ExplainingDatabase]:
    found = ExplainingDatabase(url)
    yield found
    found.close()


def newest(database: ExplainingDatabase, statement: str, **params: object) -> Any:
    row = database.prepared_row(statement, **params)
    assert row is not None
    return row


@pytest.fixture(scope="module")
def token(database: ExplainingDatabase) -> bytes:
    row = newest(
        database,
        "queries/tokens_list",
        direction="desc",
        limit=1,
        offset=0,
        after_count=None,
        after_address=None,
    )
    return bytes.fromhex(row[1].split('"address":"0x')[1][:40])


@pytest.mark.parametrize(
    ("statement", "params", "most_buffers"),
    [
        # 25 ends of spans, each found in 10 probes of 3 pages; 200 blocks of each span at most.
        ("queries/activity_list", {"span_s": 300, "spans": 24}, 20_000),
        ("queries/activity_list", {"span_s": 86_400, "spans": 14}, 20_000),
        (
            "queries/addresses_list_names",
            {"addresses": [bytes([n]) * 20 for n in range(100)]},
            3_000,
        ),
        (
            "queries/transactions_list_parties",
            {"addresses": [bytes([n]) * 20 for n in range(100)]},
            3_000,
        ),
        (
            "queries/verified_contracts_list",
            {"limit": 25, "offset": 0}
            | dict.fromkeys(("after_us", "after_address", "after_code_hash")),
            100,
        ),
    ],
    ids=str,
)
def test_statements_of_pages_read_a_bounded_part_of_indexes(
    database: ExplainingDatabase, statement: str, params: dict[str, Any], most_buffers: int
) -> None:
    database.plans.clear()
    newest(database, statement, **params)
    [plan] = database.plans
    assert plan.sequential_scans() - SMALL == set()
    assert plan.buffers <= most_buffers


def test_charts_of_one_token_and_one_address_are_bounded(
    database: ExplainingDatabase, token: bytes
) -> None:
    database.plans.clear()
    newest(database, "queries/token_transfers_count_over_time", address=token)
    newest(database, "queries/addresses_list_sample_blocks", address=token, points=40)
    for plan in database.plans:
        assert plan.sequential_scans() - SMALL == set()
        assert plan.buffers <= 2_000


def test_transfers_of_a_token_by_day_are_exact_and_cheap(
    database: ExplainingDatabase, url: str, token: bytes
) -> None:
    """Days before a gap in what is counted are left out."""
    days = {"2020-01-01": (0, 99), "2020-01-03": (150, 299), "2020-01-04": (300, 301)}
    days |= {"2020-01-07": (302, 600)}
    execute(url, "DELETE FROM daily_stats")
    for day, (first, last) in days.items():
        execute(
            url,
            "INSERT INTO daily_stats (day, first_block, last_block, last_hash, transaction_count,"
            " failed_transaction_count, created_contract_count, token_transfer_count,"
            " dex_trade_count, gas_used, fees_wei, burnt_wei)"
            " VALUES (%s, %s, %s, '', 0, 0, 0, 0, 0, 0, 0, 0)",
            *(day, first, last),
        )
    database.plans.clear()
    row = newest(database, "queries/token_transfers_count_by_day", address=token, days=60)
    [plan] = database.plans
    assert plan.sequential_scans() - SMALL - {"daily_stats"} == set()
    assert plan.buffers <= 500
    counted = {
        time.strftime("%Y-%m-%d", time.gmtime(each["time"])): each["transfers"]
        for each in json.loads(row[1])
    }
    statement = "SELECT block_number FROM token_transfers WHERE token_address = %s"
    blocks = [int(str(block)) for (block,) in execute(url, statement, token)]
    assert counted == {
        day: sum(first <= block <= last for block in blocks)
        for day, (first, last) in days.items()
        if day > "2020-01-01"
    }
    assert sum(counted.values()) > 0


def test_events_of_a_transaction_are_found_in_its_block_alone(
    database: ExplainingDatabase,
) -> None:
    row = newest(
        database,
        "queries/transactions_list",
        form="api",
        block_from=0,
        block_to=2**62,
        direction="desc",
        limit=1,
        offset=0,
        after=None,
        seen_block=None,
    )
    hash_ = bytes.fromhex(row[1].split('"hash":"0x')[1][:64])
    database.plans.clear()
    newest(database, "queries/transactions_get_events", hash=hash_)
    [plan] = database.plans
    assert plan.sequential_scans() - SMALL == set()
    assert plan.buffers <= 2_000


def test_similar_code_and_creations_are_found_by_indexes(
    database: ExplainingDatabase, url: str
) -> None:
    execute(
        url,
        "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
        " compiler_version, settings, abi, sources, verified_at, code_length, masked_hash,"
        " variable_ranges) SELECT decode(md5(n::text) || '00000000', 'hex'), '', 'full', '', '',"
        " '', '{}', '[]', '{}', now(), mod(n, 20), '', '[]' FROM generate_series(1, 20000) AS n",
    )
    execute(url, "UPDATE verified_contracts SET is_indexed = true")
    # One with many internal transfers, and its own creation.
    [(receiver,)] = execute(
        url,
        "SELECT to_address FROM internal_transfers GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
    )
    execute(
        url,
        "UPDATE transactions SET contract_address = %s, to_address = NULL"
        " WHERE ordinal = (SELECT min(ordinal) FROM transactions WHERE status)",
        bytes(receiver),
    )
    database.plans.clear()
    newest(database, "queries/verified_contracts_list_similar", code_length=7)
    row = newest(database, "queries/contracts_get_creation", address=bytes(receiver))
    assert row[1] is not None
    for plan in database.plans:
        assert plan.sequential_scans() - SMALL == set()
        assert plan.buffers <= 2_000
