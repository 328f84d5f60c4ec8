"""What docs/coming.md has for users of other indexers, run as it stands."""

import os
import sys
from decimal import Decimal
from pathlib import Path

from tests.support.database import execute
from tests.support.documents import blocks
from tests.support.scan_command import scan
from tests.support.serving import ROOT, completed
from tests.support.solidity import NODE


def test_a_factory_and_a_view_of_what_its_pools_trade(own_index, scenario):
    """Nothing that a view needs is removed from under it."""
    guide = ROOT / "docs/coming.md"
    added, volumes = (block for block in blocks(guide, "sh", "sql") if block.note)
    settings = {"DATABASE_URL": own_index.url, "RPC_URL": scenario.anvil.url}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = completed(
        ["bash", "-euc", added.text], cwd=NODE, env={**os.environ, **settings, "PATH": programs}
    )
    assert done.returncode == 0, done.stderr
    execute(own_index.url, volumes.text)
    pair = scenario.stage.pools["v2 harbor/weth"].address
    [row] = execute(own_index.url, "SELECT contract, volume FROM mine.hourly_volumes")
    first = min(scenario.stage.contracts[key].address.lower() for key in ("harbor", "weth"))
    traded = sum(
        int(trade[f"amount{way}"])
        for trade in scenario.truth.dex_trades
        for way in ("In", "Out")
        if (trade["pairAddress"], trade[f"token{way}"]) == (pair.lower(), first)
    )
    assert row == (pair, Decimal(traded) / 10**18) and traded
    [_, _, _, factory, *_] = added.text.split()
    refused = scan("events", "remove", factory, **settings)
    assert refused.returncode == 1
    assert "view mine.hourly_volumes depends on" in refused.stderr
    assert "Traceback" not in refused.stderr
    execute(own_index.url, "DROP SCHEMA mine CASCADE")
    assert scan("events", "remove", factory, **settings).returncode == 0
