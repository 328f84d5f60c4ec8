"""A chain of any size in an empty database, derived by the indexer's own statements."""

import logging
from pathlib import Path

from scan.database import migrations
from scan.database.connection import Database
from scan.indexer.derivation import derive, read_block_range
from scan.indexer.partitions import DEFAULT_ROWS, TABLES, make_empty

log = logging.getLogger(__name__)

SPAN_BLOCKS = 500


def seed(
    url: str,
    transactions: int,
    hot_share: float = 0.05,
    *,
    internal_transfers: bool = False,
    logs: bool = False,
    user_operations: bool = False,
) -> None:
    """Schema, base rows, everything derived, VACUUM ANALYZE; a few seconds per 100,000.

    The hottest address sends `hot_share` of the transactions. `internal_transfers`: nearly as many
    as token transfers, between the same addresses. `logs`: five for four transactions, as
    SCAN_LOGS=all stores them. `user_operations`: one in four transactions.
    """
    database = Database(url, statement_timeout_ms=0, name="scan-bench")
    migrations.bring_up(database, migrations.expected_schema())
    with database.transaction() as tx:
        for table in TABLES:
            make_empty(tx, table, DEFAULT_ROWS, transactions)
    script = Path(__file__).with_name("seed.sql").read_text(encoding="utf-8")
    size = f"SET bench.transactions = {transactions:d}; SET bench.hot_share = {hot_share:f};"
    database.execute_script(f"{size}\n{script}")
    added = {
        "internal_transfers": internal_transfers,
        "logs": logs,
        "user_operations": user_operations,
    }
    for name in (name for name, is_added in added.items() if is_added):
        added_rows = Path(__file__).with_name(f"seed_{name}.sql")
        database.execute_script(added_rows.read_text(encoding="utf-8"))
    database.execute_script("ANALYZE")
    blocks = transactions // 150
    for first in range(0, blocks, SPAN_BLOCKS):
        last = min(first + SPAN_BLOCKS, blocks) - 1
        with database.transaction() as tx:
            derive(tx, read_block_range(tx, first, last))
        log.info("derived blocks up to %d of %d", last, blocks)
    database.execute_script("VACUUM ANALYZE")
    database.close()
