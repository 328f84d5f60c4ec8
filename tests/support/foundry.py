"""forge and cast, and a contract that they and other published tools deploy and verify.

The programs themselves: npm's launchers exit with 0 whatever those did.
"""

import os
from collections import namedtuple
from contextlib import contextmanager

import requests

from tests.support import WAIT_S, serving, solidity
from tests.support.explorer import compiled, standard_input

CHAIN = "31337"
VERSION, COMMIT = "0.8.28", "7893614a"
PATH = "src/Stored.sol"
# anvil's first account, which everybody knows
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
FOUNDRY = f"""
[profile.default]
src = "src"
solc = ".svm/{VERSION}/solc-{VERSION}"
optimizer = true
optimizer_runs = 300
evm_version = "cancun"
"""
SETTINGS = {"optimizer": {"enabled": True, "runs": 300}, "evmVersion": "cancun"}
# forge and Hardhat pass options of a native build that npm's does not have.
SOLC = """#!/bin/sh
case "$*" in *--version*) set -- --version;; *) set -- --standard-json;; esac
exec {solc} "$@"
"""


def source(number):
    return (
        "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\ncontract Stored {\n"
        f"    uint256 public constant x = {number};\n    uint256 public y;\n"
        "    constructor(uint256 a) { y = a; }\n"
        "    function set(uint256 a, address payable) external { y = a; }\n}\n"
    )


def built(number):
    return compiled(VERSION, standard_input({PATH: source(number)}, **SETTINGS), PATH, "Stored")


def deployed(explorer, number):
    return explorer.deploy(built(number).creation, f"{7:064x}")


class Foundry:
    """A project in a folder of its own."""

    def __init__(self, folder, solc_dir):
        self.folder = folder
        (folder / "foundry.toml").write_text(FOUNDRY)
        (folder / "src").mkdir()
        solc = solc_dir / f"solc-{VERSION}" / f"solc-{VERSION}"
        # Where forge looks for a release before it fetches it.
        installed = folder / ".svm" / VERSION / f"solc-{VERSION}"
        installed.parent.mkdir(parents=True)
        installed.write_text(SOLC.format(solc=solc))
        installed.chmod(0o755)

    def forge(self, number, *arguments):
        """With the source of that number."""
        (self.folder / PATH).write_text(source(number))
        return self._run("forge", arguments)

    def cast(self, *arguments):
        return self._run("cast", arguments)

    def _run(self, name, arguments):
        [program] = (solidity.NODE / "node_modules/@foundry-rs").glob(f"{name}-*/bin/{name}")
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        return serving.completed([program, *arguments], cwd=self.folder, env=env)


class Served(namedtuple("Served", "explorer url")):
    """A server as it is run, and what it serves."""

    @property
    def api(self):
        """In Etherscan's form."""
        return f"{self.url}/api"

    def ask(self, **params):
        return requests.get(self.api, params=params, timeout=WAIT_S).json()


@contextmanager
def served_over(explorer, solc_dir, **environment):
    environment |= {"RPC_URL": explorer.anvil.url, "SCAN_SOLC_DIR": str(solc_dir)}
    with serving.gunicorn(explorer.settings.database_url, **environment) as url:
        yield Served(explorer, url)
