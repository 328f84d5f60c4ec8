"""A session of a local developer by commands alone: a fork of a chain with 300 blocks, a script of
Foundry, and `scan run` in the project's folder, with nothing set but the node."""

import json
import sys

import pytest
import requests

from tests.support import WAIT_S
from tests.support.anvil import Anvil
from tests.support.foundry import KEY
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

pytestmark = pytest.mark.long

SCRIPT = """
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "../src/Stored.sol";
interface Vm { function startBroadcast() external; function stopBroadcast() external; }
contract Deploy {
    bool public IS_SCRIPT = true;
    function run() external {
        Vm vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
        vm.startBroadcast();
        new Stored(5);
        new Stored(6);
        vm.stopBroadcast();
    }
}
"""


def test_what_a_script_deploys_on_a_fork_has_its_name_and_source(foundry, tmp_path):
    (foundry.folder / "script").mkdir()
    (foundry.folder / "script/Deploy.s.sol").write_text(SCRIPT)
    with Anvil() as forked:
        forked.call("anvil_mine", hex(300), hex(12))
        with (
            Anvil("--fork-url", forked.url, "--fork-block-number", "250") as node,
            scan_run((sys.executable, "-m", "scan"), foundry.folder, RPC_URL=node.url) as run,
        ):
            node.call("evm_setAutomine", True)
            to_node = ("--rpc-url", node.url, "--private-key", KEY, "--broadcast", "--slow")
            done = foundry.forge(7, "script", "script/Deploy.s.sol:Deploy", *to_node)
            assert done.returncode == 0, done.stdout + done.stderr
            latest = foundry.folder / "broadcast/Deploy.s.sol/31337/run-latest.json"
            sent = json.loads(latest.read_text())["transactions"]
            addresses = [transaction["contractAddress"] for transaction in sent]

            def name_of(address):
                path = f"{run.url}/api/v1/addresses/{address}"
                try:
                    return requests.get(path, timeout=WAIT_S).json().get("deployedAs")
                except requests.ConnectionError:
                    return None

            names = ["Stored (Deploy.s.sol, run 1)", "Stored #2 (Deploy.s.sol, run 1)"]
            wait_until(lambda: [*map(name_of, addresses)] == names, run.process)
            assert f"Builds: {foundry.folder / 'out'}" in run.output()
            assert run.ready()["firstBlock"] == 251
