"""Days are counted exactly, whatever forks and the blocks' times do."""

import random
from collections import defaultdict
from datetime import UTC, datetime

from tests.support import auditing, indexing, made_blocks, serving
from tests.support.database import execute

DAY_S = 86_400
MIDNIGHT_S = made_blocks.FIRST_TIMESTAMP_S // DAY_S * DAY_S
PEOPLE = [made_blocks.address(f"person {n}") for n in range(12)]
COLUMNS = (
    "first_block, last_block, transaction_count, failed_transaction_count, active_address_count,"
    " new_address_count, created_contract_count, token_transfer_count, dex_trade_count,"
    " gas_used::bigint, fees_wei::bigint, burnt_wei::bigint"
)


def moves(chance):
    """Up to five of any kind, between a few people and contracts that are new."""
    return [
        made_blocks.Move(
            sender=chance.choice(PEOPLE),
            recipient=None if (created := chance.random() < 0.1) else chance.choice(PEOPLE),
            contract=chance.randbytes(20) if created else None,
            tokens=5 if chance.random() < 0.4 else None,
            status=chance.random() < 0.8,
        )
        for _ in range(chance.randrange(6))
    ]


def stored(url):
    rows = execute(url, f"SELECT day::text, {COLUMNS} FROM daily_stats ORDER BY day")  # noqa: S608
    return {day: tuple(values) for day, *values in rows}


def counted(url):
    """The same by a plain loop over the rows."""
    acting = defaultdict(set)
    totals = defaultdict(lambda: [0] * 8)
    for number, sender, recipient, contract, status, price, gas in execute(
        url,
        "SELECT block_number, from_address, to_address, contract_address, status,"
        " gas_price::bigint, gas_used::bigint FROM transactions",
    ):
        acting[number] |= {bytes(a) for a in (sender, recipient, contract) if a is not None}
        add = (1, not status, status and contract is not None, 0, 0, 0, price * gas, 0)
        totals[number] = [a + b for a, b in zip(totals[number], add, strict=True)]
    for (number,) in execute(url, "SELECT block_number FROM token_transfers"):
        totals[number][3] += 1
    days = {}
    active = defaultdict(set)
    ever = set()
    newest = ""
    for number, time, miner, gas, fee in execute(
        url,
        "SELECT number, timestamp, miner, gas_used::bigint, base_fee_per_gas::bigint FROM blocks"
        " ORDER BY number",
    ):
        newest = max(newest, time.astimezone(UTC).date().isoformat())
        totals[number][5] += gas
        totals[number][7] += gas * (fee or 0)
        before = days.get(newest, (number, number, *[0] * 10))
        t = totals[number]
        if t[0]:
            acting[number].add(bytes(miner))
        active[newest] |= acting[number]
        new = before[5] + len(acting[number] - ever)
        ever |= acting[number]
        days[newest] = (
            *(before[0], number, before[2] + t[0], before[3] + t[1], len(active[newest]), new),
            *(before[6 + n] + t[2 + n] for n in range(6)),
        )
    return days


def test_a_block_belongs_to_the_newest_day_up_to_it(database_url, chain):
    """A node whose times go back cannot have a day counted in pieces."""
    chance = random.Random(1)
    for days in (0, 2, 1, 2, 0, 3, 2):
        chain.append(moves(chance), timestamp_s=MIDNIGHT_S + days * DAY_S)
    assert [row[:2] for row in stored(database_url).values()] == [(0, 0), (1, 4), (5, 6)]
    assert stored(database_url) == counted(database_url)
    chain.unwind(3)
    chain.append(moves(chance), timestamp_s=MIDNIGHT_S)
    assert stored(database_url) == counted(database_url)
    assert auditing.run(indexing.settings_for(database_url, serving.NOWHERE)) == auditing.EXACT


def test_a_time_beyond_every_calendar_is_a_day_like_others(database_url, chain):
    chain.append(moves(random.Random(5)), timestamp_s=0)
    chain.append(moves(random.Random(6)), timestamp_s=8_000_000_000_000)
    days = execute(database_url, "SELECT day::text, last_block FROM daily_stats ORDER BY day")
    assert days[0] == ("1970-01-01", 0) and days[1][1] == 1
    assert datetime.fromtimestamp(0, UTC).date().isoformat() == days[0][0]
