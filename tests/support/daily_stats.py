"""Transactions drawn for statistics by day."""

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


COLUMNS = (
    "first_block, last_block, transaction_count, failed_transaction_count, active_address_count,"
    " new_address_count, created_contract_count, token_transfer_count, dex_trade_count,"
    " gas_used::bigint, fees_wei::bigint, burnt_wei::bigint"
)


def counted(url):
    """The days as `scan audit` expects them, which is compared with the node's in tests/audit."""
    rows = execute(url, f"SELECT day::text, {COLUMNS} FROM daily_stats_expected()")  # noqa: S608
    return {day: tuple(values) for day, *values in rows}
