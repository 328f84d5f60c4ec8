"""What docs/coming.md has for users of other indexers, run as it stands."""

import os
import sys
from decimal import Decimal
from pathlib import Path

from eth_abi import decode

from tests.support.database import execute
from tests.support.documents import blocks
from tests.support.scan_command import scan
from tests.support.serving import ROOT, completed
from tests.support.solidity import NODE
from tests.support.truth.trades import SWAP_V2

GUIDE = ROOT / "docs/coming.md"
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def traded(node, pair):
    """The first token's wei in all trades of a pair of Uniswap's second version."""
    every = {"fromBlock": "0x0", "toBlock": "latest", "address": pair, "topics": [SWAP_V2]}
    logs = [bytes.fromhex(log["data"][2:]) for log in node.call("eth_getLogs", every)]
    amounts = [decode(["uint256"] * 4, data) for data in logs]
    return sum(in_ + out for in_, _, out, _ in amounts)


def test_a_factory_and_a_view_of_what_its_pools_trade(own_index, scenario):
    """Nothing that a view needs is removed from under it."""
    added, volumes = (block for block in blocks(GUIDE, "sh", "sql") if block.note)
    settings = {"DATABASE_URL": own_index.url, "RPC_URL": scenario.anvil.url}
    done = completed(
        ["bash", "-euc", added.text], cwd=NODE, env={**os.environ, **settings, "PATH": PROGRAMS}
    )
    assert done.returncode == 0, done.stderr
    execute(own_index.url, volumes.text)
    pair = scenario.stage.pools["v2 harbor/weth"].address
    [row] = execute(own_index.url, "SELECT contract, volume FROM mine.hourly_volumes")
    assert row == (pair, Decimal(traded(scenario.anvil, pair)) / 10**18)
    [_, _, _, factory, *_] = added.text.split()
    refused = scan("events", "remove", factory, **settings)
    assert refused.returncode == 1
    assert "view mine.hourly_volumes depends on" in refused.stderr
    assert "Traceback" not in refused.stderr
    execute(own_index.url, "DROP SCHEMA mine CASCADE")
    assert scan("events", "remove", factory, **settings).returncode == 0
