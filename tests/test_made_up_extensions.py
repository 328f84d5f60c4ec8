"""A table of blocks' rows is added as one folder to a copy of the tree."""

import json
import os
import shutil
import sys

import pytest

from tests.support.copied_tree import tree
from tests.support.serving import ROOT, completed

pytestmark = pytest.mark.thorough

__all__ = ["tree"]
# Indexes the node, audits the index, and prints the answers to these paths.
INDEX_AND_ASK = """
import json, sys
from app import create_app
from scan.database import migrations
from tests.support import auditing
from tests.support.indexing import Indexing, settings_for
url, node, head, *paths = sys.argv[1:]
settings = settings_for(url, node)
migrations.run(settings)
Indexing(url, node).run_until(int(head))
assert auditing.run(settings) == 0
client = create_app(settings).test_client()
print(json.dumps([client.get(path).text for path in paths]))
"""


def test_a_table_of_blocks_rows_is_a_folder(tree, anvil, own_postgres):
    pings = ROOT / "tests" / "support" / "made_up" / "pings"
    shutil.copytree(pings, tree / "scan" / "extensions" / "pings")

    def ask(*paths):
        given = own_postgres.url("postgres"), anvil.url, str(anvil.head()), *paths
        command = [sys.executable, "-c", INDEX_AND_ASK, *given]
        result = completed(command, cwd=tree, env=os.environ | {"PYTHONPATH": f"{tree}:{ROOT}"})
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1])

    for account, times in ((0, 2), (1, 1), (0, 3)):
        for _ in range(times):
            anvil.send(anvil.accounts[account], "0x" + "dd" * 20, value=1)
        anvil.mine()
    one = f"/api/v1/pings?pinger={anvil.accounts[0]}"
    paths = ("/api/v1/pings", one, "/api/v1/blocks/1")
    *answers, file, document = ask(*paths, one + "&format=csv", "/api/v1/openapi.json")
    every, own, block = map(json.loads, answers)
    assert [row["blockNumber"] for row in every["pings"]] == [3, 3, 3, 2, 1, 1]
    assert (every["total"], own["total"], block["pingCount"]) == (6, 5, 2)
    assert len(file.splitlines()) == 1 + 5 and "/pings" in document
    anvil.reorganise(2)
    anvil.mine(2)
    every, own, block = map(json.loads, ask(*paths))
    assert [row["blockNumber"] for row in every["pings"]] == [1, 1]
    assert (every["total"], own["total"], block["pingCount"]) == (2, 2, 2)
