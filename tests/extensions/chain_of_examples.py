"""A chain for the examples that the demo's lacks: contracts to verify and follow, a name, and a
node that simulates calls."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from scan.extensions.names.tests.ens_chain import EnsChain
from tests.support import WAIT_S
from tests.support.anvil import calldata
from tests.support.database import Postgres
from tests.support.explorer import compiled, place_compilers, standard_input
from tests.support.serving import gunicorn, wait_until
from tests.support.world import explorer_over

SOURCE = Path(__file__).with_name("Counter.sol").read_text()
VERSION = "0.8.28"
LONG_VERSION = f"{VERSION}+commit.7893614a"
PATH = "src/Counter.sol"
NAME = "vault.eth"


def deployed(world, step):
    """Of a contract whose code no other has, as it would be verified with that: its address, its
    source, that as standard JSON, and what the compiler gives."""
    source = SOURCE.replace("STEP", str(step))
    standard = standard_input({PATH: source}, optimizer={"enabled": True, "runs": 200})
    output = compiled(VERSION, standard, PATH, "Counter")
    return world.deploy(output.creation), source, standard, output


def ask_beside_a_node(examples):
    with (
        TemporaryDirectory() as folder,
        Postgres() as postgres,
        explorer_over(postgres, postgres.make_template(), place_compilers(Path(folder))) as world,
    ):
        ens = EnsChain(world.anvil)
        ens.point(NAME, world.you)
        made = [deployed(world, step) for step in range(1, 5)]
        world.read()
        settings = {
            "RPC_URL": world.anvil.url,
            "SCAN_NAMES": f"registry:{ens.registry.address}",
            "SCAN_SOLC_DIR": str(world.settings.solc_dir),
            "SCAN_RATE_LIMIT_ANONYMOUS": "10000/minute",
        }
        with gunicorn(world.url, **settings) as url:
            _ask(examples, url, world, made)


def _ask(examples, url, world, made):
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
    calls = {"calls": [{"from": world.me, "to": address, "data": increase}]}
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
    wait_until(lambda: requests.get(url + where, timeout=WAIT_S).json()["isJobCompleted"])
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
    environment = {**os.environ, "DATABASE_URL": world.url, "RPC_URL": world.anvil.url}
    subprocess.run(command, env=environment, check=True)
    world.send(address, increase)
    where = f"/api/v1/contracts/{address}/events"
    logs = f"{where}/Increased"
    wait_until(lambda: requests.get(url + logs, timeout=WAIT_S).json().get("total"))
    examples.ask(url, "listContractEvents", where)
    examples.ask(url, "listEventLogs", logs)
