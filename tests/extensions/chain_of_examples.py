"""A chain for the examples that the demo's lacks: contracts to verify and follow, a name, and a
node that simulates calls."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from scan.extensions.names.tests.ens_chain import EnsChain
from tests.support import WAIT_S
from tests.support.anvil import Anvil, calldata
from tests.support.database import Postgres
from tests.support.explorer import compiled, place_compilers, standard_input
from tests.support.indexing import Indexing
from tests.support.serving import gunicorn

SOURCE = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Counter {
    event Increased(address indexed by, uint256 count);
    uint256 public count;

    function increase() external {
        count += STEP;
        emit Increased(msg.sender, count);
    }
}
"""
VERSION = "0.8.28"
LONG_VERSION = f"{VERSION}+commit.7893614a"
PATH = "src/Counter.sol"
NAME = "vault.eth"


class Counters:
    """Contracts whose code differs: equal ones are verified with the first."""

    def __init__(self, anvil):
        self._anvil = anvil
        self._count = 0

    def deploy(self):
        """Return an address, its source, that as standard JSON, and what the compiler gives."""
        self._count += 1
        source = SOURCE.replace("STEP", str(self._count))
        standard = standard_input({PATH: source}, optimizer={"enabled": True, "runs": 200})
        output = compiled(VERSION, standard, PATH, "Counter")
        sender = self._anvil.accounts[0]
        sent = self._anvil.send(sender, None, data=f"0x{output.creation}", gas=2_000_000)
        return self._anvil.receipt_of(sent)["contractAddress"], source, standard, output


def ask_beside_a_node(examples):
    with (
        TemporaryDirectory() as folder,
        Anvil() as anvil,
        Postgres() as postgres,
        postgres.cloned(postgres.make_template()) as database_url,
        Indexing(database_url, anvil.url) as indexing,
    ):
        ens, counters = EnsChain(anvil), Counters(anvil)
        ens.point(NAME, anvil.accounts[1])
        made = [counters.deploy() for _ in range(4)]
        indexing.wait_for(anvil.head())
        settings = {
            "RPC_URL": anvil.url,
            "SCAN_NAMES": f"registry:{ens.registry.address}",
            "SCAN_SOLC_DIR": str(place_compilers(Path(folder))),
            "SCAN_RATE_LIMIT_ANONYMOUS": "10000/minute",
        }
        with gunicorn(database_url, **settings) as url:
            _ask(examples, url, anvil, indexing, made)


def _ask(examples, url, anvil, indexing, made):
    examples.ask(url, "getName", f"/api/v1/names/{NAME}")
    of_api, of_standard, of_metadata, of_files = made
    address, source, _, _ = of_api
    body = {
        "address": address,
        "sourceCode": source,
        "compilerVersion": VERSION,
        "optimizationUsed": True,
        "runs": 200,
    }
    examples.ask(url, "verifyContract", "/api/v1/verify", body)
    increase = calldata("increase()")
    calls = {"calls": [{"from": anvil.accounts[0], "to": address, "data": increase}]}
    examples.ask(url, "simulate", "/api/v1/simulate", calls)

    address, _, standard, _ = of_standard
    body = {
        "stdJsonInput": standard,
        "compilerVersion": LONG_VERSION,
        "contractIdentifier": f"{PATH}:Counter",
    }
    where = f"/v2/verify/31337/{address}"
    job = examples.ask(url, "submitSourcifyVerification", where, body).json()
    where = f"/v2/verify/{job['verificationId']}"
    deadline = time.monotonic() + WAIT_S
    while not requests.get(url + where, timeout=WAIT_S).json()["isJobCompleted"]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    examples.ask(url, "getSourcifyVerification", where)

    address, source, _, output = of_metadata
    body = {"sources": {PATH: source}, "metadata": json.loads(output.metadata)}
    where = f"/v2/verify/metadata/31337/{address}"
    examples.ask(url, "submitSourcifyMetadata", where, body)

    address, source, _, output = of_files
    files = {"metadata.json": output.metadata, PATH: source}
    body = {"address": address, "chain": "31337", "files": files}
    examples.ask(url, "verifySourcifyFiles", "/server", body)
    where = f"/server/check-all-by-addresses?addresses={address}&chainIds=31337"
    examples.ask(url, "checkSourcifyAddresses", where)

    address, *_ = of_api
    command = [sys.executable, "-m", "scan", "events", "add", address]
    environment = {**os.environ, "DATABASE_URL": indexing.url, "RPC_URL": anvil.url}
    subprocess.run(command, env=environment, check=True)
    anvil.receipt_of(anvil.send(anvil.accounts[0], address, data=increase))
    indexing.wait_for(anvil.head())
    where = f"/api/v1/contracts/{address}/events"
    deadline = time.monotonic() + WAIT_S
    while not requests.get(f"{url}{where}/Increased", timeout=WAIT_S).json().get("total"):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    examples.ask(url, "listContractEvents", where)
    examples.ask(url, "listEventLogs", f"{where}/Increased")
