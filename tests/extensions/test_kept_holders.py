"""Holders after older blocks where the rows of old blocks are removed."""

from scan.extensions.past_holders.tests.holders import Tokens, get, pages
from scan.extensions.retention.tests.removal import remove
from tests.support.indexing import Indexing


def test_where_older_rows_are_removed_the_present_holders_tell(database_url, anvil):
    tokens = Tokens(anvil, seed=5)
    tokens.act(60)
    head = anvil.head()
    indexing = Indexing(database_url, anvil.url).run_until(head)
    remove(database_url, head - 9)
    client = indexing.client(rate_limit_anonymous="100000/minute")
    assert tokens.check(client, range(head - 10, head + 1, 3)) > 3
    for contract in (tokens.coin, tokens.collectible, tokens.items):
        path = f"/tokens/{contract.address}/holders"
        refused = get(client, f"{path}?block={head - 11}", 422)
        assert refused["code"] == "history_unavailable"
        assert f"before block {head - 9} are not kept" in refused["error"]
        assert pages(client, f"{path}?block={head}")[1] == get(client, path)["total"]
