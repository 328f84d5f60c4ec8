"""Balances of an index that begins late, in Blockscout's form."""

import csv

from scan.extensions.blockscout.tests.published import faults
from tests.indexer.test_start_block import older
from tests.support.serving import NOWHERE

__all__ = ["older"]


def test_other_forms_say_since_when_balances_count(older):
    """Files, and the compatible APIs: in a header, and in Etherscan's message."""
    client, token = older.indexing.client(rpc_urls=(NOWHERE,)), older.token
    four, six = older.accounts[3], older.accounts[5]
    file = client.get(f"/api/v1/tokens/{token}/holders?format=csv")
    rows = [*csv.DictReader(file.text.removeprefix("\ufeff").splitlines())]
    assert [tuple(row.values())[3:5] for row in rows] == [("99 units", "5"), ("20 units", "5")]
    blockscout = client.get(f"/api/v2/tokens/{token}/holders")
    assert [row["value"] for row in blockscout.json["items"]] == ["99", "20"]
    assert not faults("/api/v2/tokens/{}/holders", blockscout.json)
    etherscan = [
        client.get(f"/api?module={module}&action={action}&contractaddress={token}&address={four}")
        for module, action in (
            ("token", "tokenholderlist"),
            ("token", "getTokenHolders"),
            ("token", "tokenholdercount"),
            ("account", "addresstokenbalance"),
            ("account", "tokenlist"),
        )
    ]
    for answer in etherscan:
        assert answer.json["message"] == "OK-Balances are known since block 5", answer.text
    others = (f"/tokens/{token}", f"/tokens/{token}/counters", f"/addresses/{six}/token-balances")
    for answer in (file, blockscout, *etherscan, *(client.get(f"/api/v2{p}") for p in others)):
        assert answer.headers["X-Scan-Balances-Since"] == "5"
    assert "X-Scan-Balances-Since" not in client.get("/api/v2/blocks").headers
