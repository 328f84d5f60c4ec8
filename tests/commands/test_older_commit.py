"""The upgrade from an older commit that had users, as docs/operation.md has it: what they gave
works with today's code, and what compilers say of their sources is what they say of new ones."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, documents, folders
from tests.support.database import execute
from tests.support.explorer import compiled, linked, standard_input
from tests.support.scan_run import scan_run
from tests.support.serving import ROOT, completed, wait_until
from tests.support.vyper import BOX, NEWEST
from tests.support.wallets import new_wallet, obtain_key

pytestmark = pytest.mark.long

COMMIT = "2931dc42"
DOCUMENT = ROOT / "docs/operation.md"
[UPGRADE] = [
    block
    for block in documents.blocks(DOCUMENT, "sh")
    if "test_owners.py" in block.note and "make run" in block.text
]
SCAN = (sys.executable, "-m", "scan")
COMPILE_S = 240.0
SEVEN = f"{7:064x}"
MODERN = Path(__file__).with_name("Vault.sol").read_text()
LIBRARY = """pragma solidity ^0.8.20;

library Maths {
    function twice(uint256 value) external pure returns (uint256) { return value * 2; }
}
"""
USER = Path(__file__).with_name("User.sol").read_text()
OLD = Path(__file__).with_name("Counter.sol").read_text()
# Of each table, what is said of a verified contract, but for when that was.
SAID = {
    "verified_contracts": ("verified_at", "match_id"),
    "compiled_sources": (),
    "interfaces": (),
    "verified_functions": (),
}


class Source:
    """A source, the release that compiles it, `path:name` of the contract, and its code."""

    def __init__(self, language, version, text, name, creation):
        self.language, self.version, self.text = language, version, text
        self.name, self.creation = name, creation

    def verify(self, url, address):
        body = {"address": address, "sourceCode": self.text, "contractName": self.name}
        body |= {"compilerVersion": self.version, "language": self.language}
        answer = requests.post(f"{url}/api/v1/verify", json=body, timeout=COMPILE_S)
        assert answer.status_code == 200, (self.name, answer.text)


def solidity(version, sources, path, name, library=None, **settings):
    standard = standard_input(sources, **settings)
    creation = compiled(version, standard, path, name).creation
    if library is not None:
        creation = linked(creation, library)
        standard["settings"]["libraries"] = {"Maths.sol": {"Maths": library}}
    return Source("Solidity", version, json.dumps(standard), f"{path}:{name}", creation)


def deploy(anvil, creation, arguments=""):
    data = f"0x{creation.removeprefix('0x')}{arguments}"
    hash_ = anvil.send(anvil.accounts[0], None, data=data, gas=15_000_000)
    return anvil.receipt_of(hash_)["contractAddress"]


def deployed_sources(anvil, vyper):
    """Six sources by the addresses of their contracts, and their library's."""
    optimized = {"enabled": True, "runs": 200}
    library = solidity("0.8.28", {"Maths.sol": LIBRARY}, "Maths.sol", "Maths")
    library_address = deploy(anvil, library.creation)
    both = {"Maths.sol": LIBRARY, "User.sol": USER}
    user = solidity("0.8.28", both, "User.sol", "User", library_address, optimizer=optimized)
    vault = ({"Vault.sol": MODERN}, "Vault.sol", "Vault")
    box = Source("Vyper", NEWEST, BOX, "Box.vy:Box", vyper.creation_of(NEWEST, BOX))
    sources = {library_address: library, deploy(anvil, user.creation): user}
    for source, arguments in (
        (solidity("0.8.28", *vault, optimizer=optimized), SEVEN),
        (solidity("0.8.28", *vault, optimizer=optimized, viaIR=True), SEVEN),
        (solidity("0.6.12", {"Counter.sol": OLD}, "Counter.sol", "Counter"), ""),
        (solidity("0.4.26", {"Counter.sol": OLD}, "Counter.sol", "Counter"), ""),
        (box, SEVEN),
    ):
        sources[deploy(anvil, source.creation, arguments)] = source
    return sources


class Machine:
    """A folder in which commands of both commits are run, with the same settings."""

    def __init__(self, path, **settings):
        self.path = path
        self.old = path / "old"
        self.old.mkdir()
        tree = subprocess.check_output(["git", "-C", ROOT, "archive", COMMIT], timeout=WAIT_S)
        subprocess.run(["tar", "-x", "-C", self.old], input=tree, timeout=WAIT_S, check=True)
        self.settings = {**settings, "HOME": os.environ["HOME"]}

    @contextmanager
    def running(self, data_dir, *, old=False):
        """`scan run`."""
        environment = {**self.settings, "SCAN_DATA_DIR": str(self.path / data_dir)}
        if old:
            environment["PYTHONPATH"] = str(self.old)
        folder = self.path / f"{data_dir}-{old}-output"
        folder.mkdir()
        with scan_run(SCAN, folder, **environment) as run:
            yield run

    def command(self, text, *, old=False, code=0):
        """What a command prints, as docs or a log have it; its files are in this folder."""
        words = shlex.split(text, comments=True)
        variables = dict(word.split("=", 1) for word in words if re.match("[A-Z_]+=", word))
        [program, *arguments] = words[len(variables) :]
        assert Path(program).name == "scan"
        environment = {**self.settings, "PATH": os.environ["PATH"], **variables}
        environment["SCAN_DATA_DIR"] = str(self.path / variables.get("SCAN_DATA_DIR", "var"))
        if old:
            environment["PYTHONPATH"] = str(self.old)
        done = completed([*SCAN, *arguments], cwd=self.path, env=environment)
        assert done.returncode == code, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def database_url(self, data_dir):
        return (self.path / data_dir / "database_url").read_text()


@pytest.fixture
def folder():
    with folders.temporary_folder("scan older commit ") as path:
        yield path


def stored_rows(url):
    stored = {}
    for table, without in SAID.items():
        statement = f"SELECT (to_jsonb(t) - %s::text[])::text FROM {table} t ORDER BY 1"  # noqa: S608
        stored[table] = [text for (text,) in execute(url, statement, [*without])]
    return stored


def contract(url, address):
    record = requests.get(f"{url}/api/v1/contracts/{address}", timeout=WAIT_S).json()
    return {name: value for name, value in record.items() if name != "verifiedAt"}


def test_the_commands_of_docs_keep_what_people_gave_to_an_older_commit(
    folder, anvil, receiver, authority, solc_dir, vyper
):
    wallet, watched = new_wallet(), anvil.accounts[0]
    sources = deployed_sources(anvil, vyper)
    machine = Machine(
        folder,
        RPC_URL=anvil.url,
        SCAN_SOLC_DIR=str(solc_dir),
        REQUESTS_CA_BUNDLE=str(authority.bundle),
        SCAN_WEBHOOK_ALLOW_NETWORKS="127.0.0.0/8,::1/128",
        SCAN_RATE_LIMIT_ANONYMOUS="100000/minute",
        SCAN_RATE_LIMIT_PAGES="100000/minute",
    )
    labels, list_, signatures = (folder / n for n in ("labels.csv", "list.json", "signatures"))
    labels.write_text(f"address,label\n{watched},Deployer\n")
    token = {"chainId": 31337, "address": watched, "name": "A", "symbol": "A", "decimals": 18}
    list_.write_text(json.dumps({"name": "A list", "tokens": [token]}))
    signatures.write_text("transferEverything(address)\n")
    with machine.running("var", old=True) as older:
        older.wait_for_block(anvil.head())
        for address, source in sources.items():
            source.verify(older.url, address)
        key = obtain_key(older.url, wallet)["key"]
        registration = {"ownerAddress": wallet.address, "watchAddress": watched}
        registration |= {"url": receiver.url("/hook"), "eventTypes": ["tx"]}
        hook = requests.post(
            f"{older.url}/api/v1/webhooks",
            json=registration,
            headers={"X-API-Key": key},
            timeout=WAIT_S,
        ).json()
        machine.command("scan labels import labels.csv", old=True)
        machine.command("scan tokens import list.json", old=True)
        machine.command("scan signatures import signatures", old=True)
        anvil.send(watched, watched)
        anvil.mine(1)
        assert receiver.wait_for(1)[0].is_signed_with(hook["secret"])
        before = {address: contract(older.url, address) for address in sources}
    assert "scan backup --owners owners.jsonl" in machine.command("scan run", code=1)
    anvil.send(watched, watched)  # while nothing runs
    anvil.mine(1)
    save, restore, run = (line.partition("#")[0].strip() for line in UPGRADE.text.splitlines())
    assert run == "make run"
    machine.command(save)
    machine.command(restore)
    with machine.running("var") as newer:
        newer.wait_for_block(anvil.head())
        answer = requests.get(
            f"{newer.url}/api/v1/stats", headers={"X-API-Key": key}, timeout=WAIT_S
        )
        assert answer.status_code == 200 and answer.headers["X-RateLimit-Limit"] == "100"
        anvil.send(watched, watched)
        anvil.mine(1)
        received = receiver.wait_for(3)
        assert all(request.is_signed_with(hook["secret"]) for request in received)
        hashes = [request.event["data"]["hash"] for request in received]
        assert len({*hashes}) == len(hashes) == 3
        url = machine.database_url("var")
        due = "SELECT count(*) FROM restored_sources"
        wait_until(lambda: execute(url, due) == [(0,)], timeout_s=COMPILE_S)
        after = {address: contract(newer.url, address) for address in sources}
        for address, record in before.items():
            data = {name: after[address].get(name) for name in ("match", "sources", "contractName")}
            assert data == {name: record[name] for name in data}, address
        assert execute(url, "SELECT label FROM labels") == [("Deployer",)]
        assert execute(url, "SELECT list FROM listed_tokens") == [("A list",)]
        assert ("transferEverything(address)",) in execute(url, "SELECT signature FROM signatures")
        restored = stored_rows(url)
        for table in SAID:
            execute(url, f"TRUNCATE {table} CASCADE")
        for address, source in sources.items():
            source.verify(newer.url, address)
        assert stored_rows(url) == restored


def test_the_demo_chain_of_an_older_commit_says_how_its_keys_come_along(folder):
    """Its database is another one, as today's demo chain has other blocks."""
    machine, wallet = Machine(folder), new_wallet()
    with machine.running("var", old=True) as older:
        older.wait_for_block(0, or_later=True)
        key = obtain_key(older.url, wallet)["key"]
    with machine.running("var") as newer:
        newer.wait_for_block(0, or_later=True)
        commands = re.findall(r"`(\S*scan (?:backup|restore) [^`]+)`", newer.output())
        assert [command.split()[1] for command in commands] == ["backup", "restore"]
        for command in commands:
            machine.command(command)
        headers = {"X-API-Key": key}
        answer = requests.get(f"{newer.url}/api/v1/stats", headers=headers, timeout=WAIT_S)
        assert (answer.status_code, answer.headers["X-RateLimit-Limit"]) == (200, "100")
