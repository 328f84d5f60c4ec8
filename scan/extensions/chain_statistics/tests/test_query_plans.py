"""Plans of the statements of the busiest pool's and token's pages."""

import json

import pytest

from scan.extensions.chain_statistics import statistics
from scan.parameters import BIGINT_MAX
from scan.queries.tokens import CHANGE_DAYS
from tests.support.bounded_statements import token
from tests.support.database import execute

pytestmark = pytest.mark.thorough

__all__ = ["token"]


def test_the_busiest_pool_and_token_are_read_in_bounds(seeded_service, token):
    """However many trades and transfers they have: pages read the newest 2,000 and 20,000."""
    database = seeded_service.database
    page = {
        "direction": "desc",
        "limit": 1,
        "offset": 0,
        "after_count": None,
        "after_address": None,
    }
    row = database.row("queries/pools_list", dex=None, token=None, **page)
    pool = bytes.fromhex(row[1].split('"address":"0x')[1][:40])
    database.plans.clear()
    database.row("queries/pools_get", address=pool)
    of_all = {"block_from": 0, "block_to": BIGINT_MAX, "most": statistics.NEWEST_OF_TOKEN}
    database.row("queries/token_transfers_list_largest", token=token, limit=10, **of_all)
    read = {"address": pool, "span_s": 3_600, "max_trades": 20_000}
    database.row("queries/pool_candles_list_by_block", block_from=100, block_to=200, **read)
    database.row("queries/pool_candles_list_by_block", block_from=500, block_to=600, **read)
    for plan in database.plans:
        plan.require_indexes()
    one, largest, early, late = (plan.buffers for plan in database.plans)
    assert one <= 40 and largest <= 8_000 and late <= 1.5 * early


def test_holders_by_day_and_contracts_by_gas_are_read_in_bounds(seeded_service, token):
    """The former reads as many transfers as the change of holders counts at most."""
    database = seeded_service.database
    database.plans.clear()
    database.row("queries/token_holders_count_by_day", address=token, days=CHANGE_DAYS)
    called = {"block_from": 0, "block_to": BIGINT_MAX, "by_gas": True, "sign": 1}
    page = {"after": None, "after_address": None, "limit": statistics.CONTRACTS}
    for most in (10, statistics.MAX_TRANSACTIONS):
        database.row("queries/contracts_list_most_called", most=most, **called, **page)
    for plan in database.plans:
        plan.require_indexes()
    _, none, _ = (plan.buffers for plan in database.plans)
    assert none <= 40  # where there are more, none is read


def test_large_values_of_many_runs_are_read_by_index(own_seeded_service):
    """Of 50,000 transactions in runs of 16,384, of which every twentieth is large."""
    url, database = own_seeded_service.url, own_seeded_service.database
    large = "value = 1e19 + mod(ordinal * 7919, 60013) WHERE mod(ordinal, 20) = 0"
    execute(url, f"UPDATE transactions SET {large}")  # noqa: S608
    execute(url, "VACUUM ANALYZE transactions")
    listed = (
        "SELECT value::text FROM transactions WHERE status AND value >= 1e19"
        " AND block_number BETWEEN %s AND %s ORDER BY value DESC, ordinal DESC LIMIT 10"
    )
    for first, last in ((0, BIGINT_MAX), (150, 180), (10, 420)):
        of_range = {"block_from": first, "block_to": last, "limit": 10, "most": 100}
        row = database.row("queries/transactions_list_largest_in_blocks", **of_range)
        values = [(record["value"],) for record in json.loads(row[-4])]
        assert values == execute(url, listed, first, last) != []
        plan = database.plans[-1]
        plan.require_indexes()
        scans = {n["Index"] for n in plan.nodes if n["Index"] and n["Actual Loops"]}
        assert "transactions_by_value" in scans and plan.buffers < 200
