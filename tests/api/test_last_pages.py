"""The last page of a list has no cursor, whatever other lists hold."""

from flask.testing import FlaskClient

from scan.database.connection import Database
from tests.conftest import Played
from tests.support.database import execute
from tests.support.indexing import Indexing


def require_no_more(client: FlaskClient, path: str, name: str) -> int:
    """How many rows a list has that is shorter than the longest page."""
    page = client.get(f"/api/v1{path}?limit=100").json
    assert len(page[name]) < 100 and page["next"] is None, path
    return len(page[name])


def test_lists_of_items_end_with_their_last_item(client: FlaskClient, scenario: Played) -> None:
    transfers = [t for t in scenario.truth.token_transfers if t["tokenId"] is not None]
    for token in {t["tokenAddress"] for t in transfers}:
        require_no_more(client, f"/tokens/{token}/items", "items")
    holders = {t["toAddress"] for t in transfers} - {"0x" + 40 * "0"}
    assert sum(require_no_more(client, f"/addresses/{h}/items", "items") for h in holders)


def test_a_list_of_pools_ends_with_its_last_pool(client: FlaskClient) -> None:
    assert require_no_more(client, "/pools", "pools")


def test_a_range_of_blocks_has_as_many_trades_as_its_pool(indexed: Indexing) -> None:
    database = Database(indexed.settings.database_url, statement_timeout_ms=0)
    pools = execute(indexed.settings.database_url, "SELECT address, trade_count FROM pools")
    assert any(count for _, count in pools)
    for address, count in pools:
        if count:
            found = database.row(
                "queries/pool_candles_list_by_block",
                **{"address": address, "span_s": 60, "max_trades": 1000},
                **{"block_from": 0, "block_to": 10**6},
            )
            assert found is not None and found[1] == count
    database.close()
