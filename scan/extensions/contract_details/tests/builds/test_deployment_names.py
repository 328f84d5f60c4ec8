"""Contracts have the names that deployments beside a build folder give them, where the code is."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from scan.extensions.contract_details.builds import build_watch, deployment_names
from scan.extensions.contract_details.builds.deployment_names import DeploymentNames, deployments_of
from scan.extensions.contract_details.tests.builds.projects import creation_of, foundry, write
from tests.support.anvil import ZERO
from tests.support.serving import wait_until

RECORDED = Path(__file__).with_name("recorded")
CHAIN = 31337
HASH = "0x" + "11" * 32


class Deployed:
    """A project with builds beside a chain, and what a process does with it."""

    def __init__(self, explorer, project):
        self.explorer = explorer
        self.project = project
        self.builds = build_watch.Builds([project / "out"])
        self.names = DeploymentNames(self.builds, explorer.app.extensions["scan"].writes)

    def deploy(self, creation, arguments=""):
        address = self.explorer.deploy(creation, arguments)
        record = self.explorer.get(f"/api/v1/addresses/{address}")
        return address, record["creation"]["transactionHash"]

    def broadcast(self, name, created, chain=CHAIN, script="Deploy.s.sol", folder=None):
        """What forge writes of a run that created a contract at an address by a transaction."""
        address, transaction = created
        sent = {"hash": transaction, "transactionType": "CREATE", "additionalContracts": []}
        sent |= {"contractName": name, "contractAddress": address}
        run = {"transactions": [sent], "chain": chain, "timestamp": 1795949878737}
        of_chain = self.project / "broadcast" / script / str(folder or chain)
        write(of_chain / "run-latest.json", run)

    def name_of(self, deployed, *, is_read=True):
        """On the page of the address, and in the API, after the files were read."""
        if is_read:
            self.builds._next_at = self.names._next_at = 0.0
            self.builds.refresh()
            self.names.step()
        key = bytes.fromhex(deployed[0][2:])
        [(name,)] = self.explorer.execute("SELECT deployment_name_at(%s)", key)

        def is_shown():  # once the response cache has heard of it
            record = self.explorer.get(f"/api/v1/addresses/{deployed[0]}")
            heading = f"<bdi>{name}</bdi></h1>" in self.explorer.get(f"/address/{deployed[0]}")
            return record.get("deployedAs") == name and heading == (name is not None)

        wait_until(is_shown)
        return name


@pytest.fixture
def deployed(running, tmp_path):
    running.execute("DELETE FROM deployment_names")
    foundry(tmp_path)
    return Deployed(running, tmp_path)


def test_a_run_of_a_script_names_what_it_created(deployed):
    library = deployed.deploy(creation_of("Halves"))
    factory = deployed.deploy(creation_of("Factory", library[0]))
    deployed.broadcast("Halves", library)
    assert deployed.name_of(library) == "Halves (Deploy.s.sol)"
    assert deployed.name_of(factory) is None
    deployed.broadcast("src/Store.sol:Factory", factory)
    assert deployed.name_of(factory) == "Factory (Deploy.s.sol)"
    assert ">Factory (Deploy.s.sol)<" in deployed.explorer.get(f"/address/{deployed.explorer.me}")
    theirs = deployed.explorer.get(f"/api/v2/addresses/{factory[0]}")
    assert theirs["name"] == "Factory (Deploy.s.sol)"


def test_a_search_finds_deployed_contracts_by_name(deployed):
    store, halves = deployed.deploy(creation_of("Halves")), deployed.deploy(creation_of("Halves"))
    deployed.broadcast("Halves", store)
    assert deployed.name_of(store) == "Halves (Deploy.s.sol)"
    deployed.broadcast("Halves", halves, script="Again.s.sol")
    assert deployed.name_of(halves) == "Halves (Again.s.sol)"
    client = deployed.explorer.client

    def results(text):
        records = client.get("/api/v1/search", query_string={"q": text}).json["results"]
        return [(r["value"], r["match"]) for r in records if r["type"] == "address"]

    assert results("halves") == [(halves[0], "prefix"), (store[0], "prefix")]
    assert results("again") == [(halves[0], "similar")]
    assert results("halves (deploy.s.sol)") == [(store[0], "exact")]
    assert results("halves%") == []
    page = client.get("/search?q=Halves (Deploy.s.sol)")
    assert (page.status_code, page.location) == (302, f"/address/{store[0]}")
    deployed.explorer.execute("UPDATE deployment_names SET code_hash = sha256('other')")
    assert results("Halves") == []


def test_ignition_s_addresses_alone_name_what_has_a_build_s_code(deployed):
    library = deployed.deploy(creation_of("Halves"))
    folder = deployed.project / "ignition/deployments"
    addresses = {"Store#A": library[0], "Store#B": deployed.explorer.anvil.accounts[0]}
    write(folder / "chain-1/deployed_addresses.json", addresses)
    assert deployed.name_of(library) is None
    write(folder / f"chain-{CHAIN}/deployed_addresses.json", addresses)
    assert deployed.name_of(library) == "Halves (Store#A)"


def test_what_the_chain_does_not_bear_out_names_nothing(deployed):
    """Nor what a run did on another chain, or on none."""
    library = address, transaction = deployed.deploy(creation_of("Halves"))
    for name, created, chain, folder in (
        ("Factory", library, CHAIN, CHAIN),
        ("Halves", (address, HASH), CHAIN, CHAIN),
        ("Halves", (transaction, transaction), CHAIN, CHAIN),
        ("Halves", (address, "0x1"), CHAIN, CHAIN),
        ("<b>Halves</b>", library, CHAIN, CHAIN),
        ("H" * 200, library, CHAIN, CHAIN),
        ("Halves", library, 1, 1),
        ("Halves", library, 1, CHAIN),
        ("Halves", library, CHAIN, 1),
        ("Halves", library, CHAIN, "dry-run"),
    ):
        deployed.broadcast(name, created, chain=chain, folder=folder)
        assert deployed.name_of(library) is None, (name, created, chain, folder)
    deployed.broadcast("Halves", library)
    assert deployed.name_of(library)


def test_a_name_ends_with_its_code_and_with_its_creation(deployed):
    """As where an earlier chain had the contract at the same address."""
    library = deployed.deploy(creation_of("Halves"))
    deployed.broadcast("Halves", library)
    assert deployed.name_of(library)
    for other in ("creation = NULL", "creation = code_hash", "code_hash = address"):
        deployed.explorer.execute(f"UPDATE deployment_names SET {other}")  # noqa: S608
        assert deployed.name_of(library, is_read=False) is None


def listed(folder):
    listing = deployment_names.list_runs([folder / "broadcast", folder / "ignition/deployments"])
    return deployments_of(listing.files, CHAIN)


def test_what_the_tools_wrote_is_read(tmp_path):
    for recorded, file in (
        ("run-latest.json", f"broadcast/Deploy.s.sol/{CHAIN}/run-latest.json"),
        ("deployed_addresses.json", f"ignition/deployments/chain-{CHAIN}/deployed_addresses.json"),
    ):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_bytes((RECORDED / recorded).read_bytes())
        os.utime(tmp_path / file, (1, len(file)))
    ignition, foundry_ = listed(tmp_path)[:6], listed(tmp_path)[6:]
    futures = "Big Factory Same1 Same2 A B".split()
    assert [one.name("X") for one in ignition] == [f"X (Vaults#{future})" for future in futures]
    assert [one.name(one.contract) for one in foundry_] == [
        f"{name} (Deploy.s.sol)"
        for name in ("Big", "Vault", "Vault #2", "Factory", "Child", "Same1", "Same2", "Vault #3")
    ]
    assert all(deployment.transactions for deployment in foundry_)


DAMAGED = """
    { [] null 1 {"transactions":5} {"transactions":[{"hash":5}]} {"chain":"31337"} {"chain":1e400}
""".split()
DAMAGED += ["", "\x00", "[" * 100_000, '{"transactions": [' * 50_000]


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:20])
def test_a_damaged_file_leaves_the_others(text, tmp_path):
    run = json.loads((RECORDED / "run-latest.json").read_text())
    write(tmp_path / f"broadcast/A.s.sol/{CHAIN}/run-latest.json", run)
    for path in (
        f"broadcast/B.s.sol/{CHAIN}/run-latest.json",
        f"ignition/deployments/chain-{CHAIN}/deployed_addresses.json",
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    assert len(listed(tmp_path)) == 8


RUNS, CONTRACTS = deployment_names.MAX_RUNS, deployment_names.MAX_DEPLOYMENTS


@pytest.mark.parametrize(
    ("runs", "contracts", "counts"),
    [
        (RUNS + 2, 1, dict.fromkeys(range(RUNS + 2, 2, -1), 1)),
        (2, CONTRACTS - 9, {2: CONTRACTS - 9, 1: 9}),
    ],
    ids=["files", "contracts"],
)
def test_files_and_contracts_have_a_bound(tmp_path, runs, contracts, counts):
    """Of which the newest are read."""
    sent = {"transactionType": "CREATE", "contractAddress": ZERO, "contractName": "A", "hash": HASH}
    for number in range(1, runs + 1):
        file = tmp_path / f"broadcast/{number}/{CHAIN}/run-latest.json"
        write(file, {"chain": CHAIN, "timestamp": number, "transactions": [sent] * contracts})
        os.utime(file, (number, number))
    origins = Counter(deployment.origin for deployment in listed(tmp_path))
    assert [*origins.items()] == [(str(number), count) for number, count in counts.items()]


def test_no_link_is_followed(tmp_path):
    run = json.loads((RECORDED / "run-latest.json").read_text())
    write(tmp_path / f"elsewhere/A.s.sol/{CHAIN}/run-latest.json", run)
    (tmp_path / "broadcast").symlink_to(tmp_path / "elsewhere")
    assert listed(tmp_path) == []
