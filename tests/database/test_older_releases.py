"""An indexer of a release that does not know what a database holds fails and leaves no gap."""

import psycopg2
import pytest

from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing

# What a release before logs writes of a block.
OLD_COLUMNS = (
    "number, timestamp, transactions_before, token_transfers_before, dex_trades_before,"
    " transaction_count, token_transfer_count, dex_trade_count, hash, parent_hash, miner, gas_used,"
    " gas_limit, gas_price_sum"
)
OLD_BLOCK = f"""
    INSERT INTO blocks ({OLD_COLUMNS})
    SELECT 1 + number, timestamp, transactions_before, token_transfers_before, dex_trades_before,
        0, 0, 0, sha256(hash), hash, miner, 0, gas_limit, 0
    FROM blocks ORDER BY number DESC LIMIT 1
"""  # noqa: S608


@pytest.mark.parametrize("logs", ["all", "standard"])
def test_a_release_without_logs_cannot_write_where_they_are_stored(
    database_url: str, anvil: Anvil, logs: str
) -> None:
    anvil.mine(3)
    Indexing(database_url, anvil.url, logs=logs).run_until(anvil.head())
    with pytest.raises(psycopg2.Error, match="stores logs"):
        execute(database_url, OLD_BLOCK)


def test_a_release_without_logs_goes_on_where_none_are_stored(
    database_url: str, anvil: Anvil
) -> None:
    anvil.mine(3)
    Indexing(database_url, anvil.url).run_until(anvil.head())
    execute(database_url, OLD_BLOCK)
    assert execute(database_url, "SELECT log_count FROM blocks ORDER BY number DESC LIMIT 1") == [
        (0,)
    ]
