"""Without extensions the core indexes a chain as with them, and serves its records and pages."""

import json
import os
import sys

from tests.support.indexing import client_over
from tests.support.serving import ROOT, completed

PROGRAM = """
import json
import sys
from tests.support.indexing import Indexing, client_over
url, node, head, *paths = sys.argv[1:]
Indexing(url, node).run_until(int(head))
client = client_over(url, node)
responses = {path: client.get(path) for path in paths}
webhook = {"ownerAddress": "0x" + 40 * "1", "url": "https://localhost/"}
for type_ in ("internal_transfer", "dex_trade"):
    responses[type_] = client.post("/api/v1/webhooks", json=webhook | {"eventTypes": [type_]})
print(json.dumps({path: (r.status_code, r.text) for path, r in responses.items()}))
"""


def test_none_is_the_service_of_the_specification(scenario, indexed, database_url):
    client = indexed.client()
    names = ("transactions", "blocks", "tokens", "token-transfers", "dex-trades")
    lists = {f"/api/v1/{name}?limit=100": client.get(f"/api/v1/{name}?limit=100") for name in names}
    [sent, *_] = lists["/api/v1/transactions?limit=100"].json["transactions"]
    failed = next(row for row in scenario.truth.transactions if not row["status"])
    keepers = scenario.stage.contracts["keepers"].address
    paths = {
        *("/", "/txs", "/txs?status=false", "/blocks", "/tokens", "/token-transfers", "/trades"),
        *("/keys", "/webhooks", "/contracts", "/live", "/readyz", "/api/v1/stats"),
        *(f"/tx/{sent['hash']}", f"/tx/{failed['hash']}", f"/block/{sent['blockNumber']}"),
        *(f"/address/{sent['fromAddress']}", f"/address/{keepers}", f"/token/{keepers}"),
        f"/token/{keepers}?tab=holders",
        f"/api/v1/addresses/{sent['fromAddress']}",
        f"/api/v1/transactions/{sent['hash']}",
    }
    arguments = (database_url, scenario.anvil.url, str(scenario.anvil.head()), *lists, *paths)
    done = completed(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=ROOT,
        env=os.environ | {"SCAN_EXTENSIONS": "none"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    responses = json.loads(done.stdout.splitlines()[-1])
    assert {path for path in paths if responses[path][0] != 200} == set()
    # Without traces, what a contract created is seen later: when it is first called or sends a log.
    tokens = lists.pop("/api/v1/tokens?limit=100").json
    of_none = json.loads(responses["/api/v1/tokens?limit=100"][1])
    pairs = {trade["pairAddress"] for trade in scenario.truth.dex_trades}
    for token, seen in zip(tokens["tokens"], of_none["tokens"], strict=True):
        first_seen = token.pop("firstSeen"), seen.pop("firstSeen")
        assert first_seen[0] == first_seen[1] or (
            first_seen[0] < first_seen[1] and token["address"] in pairs
        )
    assert of_none == tokens
    assert {path for path in lists if responses[path] != [200, lists[path].text]} == set()
    # Without traces no internal transfer is ever indexed; the other one is refused for its host.
    refused, of_host = (
        json.loads(responses[name][1]) for name in ("internal_transfer", "dex_trade")
    )
    assert refused["field"] == "eventTypes" and "dex_trade" in refused["error"]
    assert of_host["field"] == "url" and "internal transfers" not in responses["/webhooks"][1]
    late = client_over(database_url, scenario.anvil.url)
    assert late.get("/api/v1/internal-transfers").status_code == 404  # no block has traces
