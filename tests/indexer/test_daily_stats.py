"""Days are counted exactly, whatever forks and the blocks' times do."""

import random

from tests.support import auditing, indexing, serving
from tests.support.daily_stats import DAY_S, MIDNIGHT_S, counted, moves
from tests.support.database import execute


def test_a_block_belongs_to_the_newest_day_up_to_it(database_url, chain):
    """A node whose times go back cannot have a day counted in pieces."""
    columns = (
        "first_block, last_block, transaction_count, failed_transaction_count,"
        " active_address_count, new_address_count, created_contract_count, token_transfer_count,"
        " dex_trade_count, gas_used::bigint, fees_wei::bigint, burnt_wei::bigint"
    )

    def stored():
        days = f"SELECT day::text, {columns} FROM daily_stats ORDER BY day"  # noqa: S608
        return {day: tuple(values) for day, *values in execute(database_url, days)}

    chance = random.Random(1)
    for days in (0, 2, 1, 2, 0, 3, 2):
        chain.append(moves(chance), timestamp_s=MIDNIGHT_S + days * DAY_S)
    assert [row[:2] for row in stored().values()] == [(0, 0), (1, 4), (5, 6)]
    assert stored() == counted(database_url)
    chain.unwind(3)
    chain.append(moves(chance), timestamp_s=MIDNIGHT_S)
    chain.append([], timestamp_s=MIDNIGHT_S + 5 * DAY_S)  # nobody is new on this day
    assert stored() == counted(database_url)
    assert auditing.run(indexing.settings_for(database_url, serving.NOWHERE)) == auditing.EXACT


def test_a_time_beyond_every_calendar_is_a_day_like_others(database_url, chain):
    chain.append(moves(random.Random(5)), timestamp_s=0)
    chain.append(moves(random.Random(6)), timestamp_s=8_000_000_000_000)
    days = execute(database_url, "SELECT day::text, last_block FROM daily_stats ORDER BY day")
    assert days[0] == ("1970-01-01", 0) and days[1][1] == 1
