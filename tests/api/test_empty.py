"""The first seconds of a service: a schema, and nothing in it."""

from scan.queries.pages import QUERIED
from tests.support import indexing

ADDRESS = "0x" + 40 * "a"
LISTS = ("blocks", "transactions", "tokens", f"transactions?address={ADDRESS}", "blocks?page=9")
STATS = {
    **dict.fromkeys(("latestBlock", "totalTransactions", "totalTokens"), 0),
    **dict.fromkeys(("chainId", "chainName", "firstBlock")),
    "avgGasPrice": "0",
}


def test_a_service_without_blocks_has_empty_lists_and_knows_nothing(database_url):
    client = indexing.client_over(database_url)
    for path in LISTS:
        answer = client.get(f"/api/v1/{path}")
        assert (answer.status_code, [*answer.json.values()]) == (200, [[], 0, None])
    for entity in set(QUERIED) - {"logs"}:  # which are not stored: the node would have to be asked
        for window in ({}, {"offset": 10}, {"orderBy": "asc"}):
            found = client.post("/api/v1/query", json={"entity": entity, **window}).json
            assert (found["entity"], found["count"], found["data"]) == (entity, 0, [])
            assert (found["total"], found["next"]) == (0, None)
    for path in ("blocks/0", f"tokens/{ADDRESS}", f"transactions/0x{64 * '0'}"):
        assert client.get(f"/api/v1/{path}").status_code == 404
    stats = client.get("/api/v1/stats").json
    del stats["version"]
    assert stats == STATS
    assert client.get("/readyz").json["indexedBlock"] is None
    assert client.get("/").status_code == client.get("/metrics").status_code == 200
