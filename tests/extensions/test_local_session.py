"""A session of a local developer by commands alone: a fork of a chain with 300 blocks, a script of
Foundry, and `scan run` in the project's folder, with nothing set but the node. What Ignition
writes: scan/extensions/contract_details/tests/builds; what a node's cheat calls change:
tests/indexer/test_forks_of_development_nodes.py."""

import json
import sys
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, solidity
from tests.support.anvil import Anvil, calldata
from tests.support.foundry import KEY
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

pytestmark = pytest.mark.long


def test_what_tools_deploy_on_a_fork_has_its_name_source_and_console_output(foundry, anvil):
    (foundry.folder / "script").mkdir()
    for file, source in (
        ("script/Deploy.s.sol", Path(__file__).with_name("Deploy.s.sol")),
        ("src/Vault.sol", Path(__file__).with_name("LoggingVault.sol")),
        ("src/console.sol", solidity.NODE / "node_modules/hardhat/console.sol"),
    ):
        (foundry.folder / file).write_text(source.read_text())
    anvil.call("anvil_mine", hex(300), hex(12))
    limits = dict.fromkeys(("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_PAGES"), "100000/minute")
    with (
        Anvil("--fork-url", anvil.url, "--fork-block-number", "250") as node,
        scan_run((sys.executable, "-m", "scan"), foundry.folder, RPC_URL=node.url, **limits) as run,
    ):
        node.call("evm_setAutomine", True)

        def get(path):
            return requests.get(f"{run.url}{path}", timeout=WAIT_S)

        wait_until(lambda: run.ready().get("forkBlock") == 250, run.process)
        to_node = ("--rpc-url", node.url, "--private-key", KEY, "--broadcast", "--slow")
        done = foundry.forge(7, "script", "script/Deploy.s.sol:Deploy", *to_node)
        assert done.returncode == 0, done.stdout + done.stderr
        latest = foundry.folder / "broadcast/Deploy.s.sol/31337/run-latest.json"
        sent = json.loads(latest.read_text())["transactions"]
        addresses = [transaction["contractAddress"] for transaction in sent]

        def names():
            answers = [get(f"/api/v1/addresses/{address}") for address in addresses]
            return [answer.ok and answer.json().get("deployedAs") for answer in answers]

        script = "Deploy.s.sol"
        expected = [f"Stored ({script})", f"Stored #2 ({script})", f"Vault ({script})"]
        wait_until(lambda: names() == expected, run.process)
        assert f"Builds: {foundry.folder / 'out'}" in run.output()
        assert run.ready()["firstBlock"] == 251
        made = get(f"/api/v1/transactions/{sent[2]['hash']}/trace").json()
        assert [line["text"] for line in made["logs"]] == [f"made by {node.accounts[0].lower()}"]
        failing = calldata("take(uint256)", 7)
        path = f"/tx/{node.send(node.accounts[1], addresses[2], data=failing)}"
        wait_until(lambda: "src/Vault.sol" in get(path).text, run.process)
        page = get(path).text
        console = page.partition('id="console"')[2].partition('id="reason"')[0]
        assert "rate of 7\ntaking 7 true\n</pre>" in console and "too much" in page
