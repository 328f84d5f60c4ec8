"""The core's pages without any extension."""

import json
import os
import sys

from tests.support.serving import ROOT, completed

GET = """
import json, sys
from app import create_app
from tests.support.indexing import settings_for
client = create_app(settings_for(sys.argv[1], "http://127.0.0.1:9")).test_client()
print(json.dumps([client.get(path).status_code for path in sys.argv[2:]]))
"""


def test_without_extensions_the_pages_of_the_core_are_served(client, scenario):
    token = scenario.stage.contracts["keepers"].address
    sent = next(row for row in scenario.truth.transactions if not row["status"])
    paths = (
        *("/", "/live", "/blocks", "/txs?status=false", "/tokens", "/contracts", f"/token/{token}"),
        *(f"/token/{token}?tab=holders", f"/address/{token}", f"/address/{sent['fromAddress']}"),
        *(f"/tx/{sent['hash']}", f"/block/{sent['blockNumber']}"),
    )
    url = client.application.extensions["scan"].settings.database_url
    env = os.environ | {"SCAN_EXTENSIONS": "none"}
    result = completed([sys.executable, "-c", GET, url, *paths], cwd=ROOT, env=env)
    assert result.returncode == 0, result.stderr
    statuses = dict(zip(paths, json.loads(result.stdout.splitlines()[-1]), strict=True))
    assert {path: status for path, status in statuses.items() if status != 200} == {}
