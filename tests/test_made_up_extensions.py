"""A table of blocks' rows and a chain's form, each added as one folder to a copy of the tree."""

import json
import os
import shutil
import sys

import pytest

from tests.support.anvil import Anvil
from tests.support.copied_tree import tree
from tests.support.faulty_node import FaultyNode, no_development
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


def ask(tree, url, rpc_url, head, *paths):
    result = completed(
        [sys.executable, "-c", INDEX_AND_ASK, url, rpc_url, str(head), *paths],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": f"{tree}:{ROOT}"},
    )
    assert result.returncode == 0, result.stderr
    texts = json.loads(result.stdout.splitlines()[-1])
    return [json.loads(text) if text.startswith("{") else text for text in texts]


def test_a_table_of_blocks_rows_and_a_form_of_a_chain_are_a_folder_each(tree, postgres):
    made_up = ROOT / "tests" / "support" / "made_up"
    for name in ("pings", "ping_chain"):
        shutil.copytree(made_up / name, tree / "scan" / "extensions" / name)
    pinged = "0x" + "dd" * 20
    vault = "0x" + "ee" * 20
    with (
        Anvil("--chain-id", "77777") as node,
        FaultyNode(node.url, no_development) as served,
        postgres.cloned("template0") as url,
    ):
        for account, times in ((0, 2), (1, 1), (0, 3)):
            for _ in range(times):
                node.send(node.accounts[account], pinged, value=1)
            node.mine()
        one = f"/api/v1/pings?pinger={node.accounts[0]}"
        paths = (
            "/api/v1/pings",
            one,
            "/api/v1/blocks/1",
            f"/api/v1/addresses/{vault}/history",
            "/api/v1/transactions",
            one + "&format=csv",
            "/api/v1/openapi.json",
        )
        every, own, block, history, transactions, file, document = ask(
            tree, url, served.url, node.head(), *paths
        )
        assert [row["blockNumber"] for row in every["pings"]] == [3, 3, 3, 2, 1, 1]
        assert (every["total"], own["total"], block["pingCount"]) == (6, 5, 2)
        assert len(file.splitlines()) == 1 + 5
        assert any("/pings" in path for path in document["paths"])
        assert block["chainFields"] == {"pings": 2}
        assert {t["chainFields"]["typeName"] for t in transactions["transactions"]} == {"ping"}
        fees = sum(int(t["fee"]) for t in transactions["transactions"])
        assert sum(int(row["amount"]) for row in history["history"]) == fees > 0
        node.reorganise(2)
        node.mine(2)
        every, own, block, history = ask(tree, url, served.url, node.head(), *paths[:4])
        assert [row["blockNumber"] for row in every["pings"]] == [1, 1]
        assert (every["total"], own["total"], block["pingCount"]) == (2, 2, 2)
        assert len(history["history"]) == 1
