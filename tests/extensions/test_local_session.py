"""A session of a local developer by commands alone: a fork of a chain with 300 blocks, a script of
Foundry, and `scan run` in the project's folder, with nothing set but the node. What Ignition
writes: scan/extensions/contract_details/tests/builds; what a node's cheat calls change:
tests/indexer/test_forks_of_development_nodes.py."""

import json
import sys
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, solidity
from tests.support.anvil import Anvil, encoded_call
from tests.support.foundry import KEY
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

pytestmark = pytest.mark.long

SCRIPT = Path(__file__).with_name("Deploy.s.sol").read_text()


class Session(namedtuple("Session", "node run")):
    """A fork at block 250 with `scan run` beside it in a project's folder."""

    def get(self, path):
        return requests.get(f"{self.run.url}{path}", timeout=WAIT_S)

    def json(self, path):
        response = self.get(f"/api/v1/{path}")
        return response.json() if response.status_code == 200 else {}

    def wait(self, is_shown):
        wait_until(is_shown, self.run.process)

    def failed(self, contract, function, *args):
        """The page of a call that fails."""
        data = "0x" + encoded_call(function, *args).hex()
        sent = self.node.send(self.node.accounts[1], contract, data=data)
        self.wait(lambda: "src/Vault.sol" in self.get(f"/tx/{sent}").text)
        return self.get(f"/tx/{sent}").text


@contextmanager
def session_in(folder):
    limits = dict.fromkeys(("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_PAGES"), "100000/minute")
    with Anvil() as forked:
        forked.call("anvil_mine", hex(300), hex(12))
        with (
            Anvil("--fork-url", forked.url, "--fork-block-number", "250") as node,
            scan_run((sys.executable, "-m", "scan"), folder, RPC_URL=node.url, **limits) as run,
        ):
            node.call("evm_setAutomine", True)
            session = Session(node, run)
            session.wait(lambda: run.ready().get("forkBlock") == 250)
            yield session


def test_what_tools_deploy_on_a_fork_has_its_name_source_and_console_output(foundry):
    console = solidity.NODE / "node_modules/hardhat/console.sol"
    (foundry.folder / "script").mkdir()
    vault = Path(__file__).with_name("LoggingVault.sol").read_text()
    for file, text in (
        ("script/Deploy.s.sol", SCRIPT),
        ("src/Vault.sol", vault),
        ("src/console.sol", console.read_text()),
    ):
        (foundry.folder / file).write_text(text)
    with session_in(foundry.folder) as session:
        to_node = ("--rpc-url", session.node.url, "--private-key", KEY, "--broadcast", "--slow")
        done = foundry.forge(7, "script", "script/Deploy.s.sol:Deploy", *to_node)
        assert done.returncode == 0, done.stdout + done.stderr
        latest = foundry.folder / "broadcast/Deploy.s.sol/31337/run-latest.json"
        sent = json.loads(latest.read_text())["transactions"]
        addresses = [transaction["contractAddress"] for transaction in sent]

        def names():
            return [session.json(f"addresses/{address}").get("deployedAs") for address in addresses]

        script = "Deploy.s.sol"
        expected = [f"Stored ({script})", f"Stored #2 ({script})", f"Vault ({script})"]
        session.wait(lambda: names() == expected)
        assert f"Builds: {foundry.folder / 'out'}" in session.run.output()
        assert session.run.ready()["firstBlock"] == 251
        made = session.json(f"transactions/{sent[2]['hash']}/trace")
        assert [line["text"] for line in made["logs"]] == [
            f"made by {session.node.accounts[0].lower()}"
        ]
        page = session.failed(addresses[2], "take(uint256)", 7)
        console = page.partition('id="console"')[2].partition('id="reason"')[0]
        assert "rate of 7\ntaking 7 true\n</pre>" in console and "too much" in page
