"""A transaction without a recipient, as each interface shows it."""


def require_no_recipient(client, hash_):
    """A transaction without one is nowhere shown as the creation of a contract, and is read from
    the node, which gives no nonce for it."""
    record = client.get(f"/api/v1/transactions/{hash_}").json
    assert record["unavailable"] is None
    assert "without a recipient" in record["summary"]["text"]
    page = client.get(f"/tx/{hash_}").text
    assert "<dt>To</dt><dd>nobody" in page, page[page.index("<dt>To") :][:200]
    assert "new contract" not in page.lower() + client.get("/txs").text.lower()
    of_blockscout = client.get(f"/api/v2/transactions/{hash_}").json
    assert "contract_creation" not in of_blockscout["transaction_types"]
    query = {"module": "account", "action": "txlist", "address": record["fromAddress"]}
    assert hash_ in [row["hash"] for row in client.get("/api", query_string=query).json["result"]]
    feed = client.get(f"/address/{record['fromAddress']}/feed").text
    assert hash_ in feed and "Creation" not in feed
