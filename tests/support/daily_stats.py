"""Transactions drawn for statistics by day, which are counted by a plain loop."""

from collections import defaultdict
from datetime import UTC

from tests.support import made_blocks
from tests.support.database import execute

DAY_S = 86_400
MIDNIGHT_S = made_blocks.FIRST_TIMESTAMP_S // DAY_S * DAY_S
PEOPLE = [made_blocks.address(f"person {n}") for n in range(12)]


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
