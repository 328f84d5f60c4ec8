"""A Foundry project's contracts, deployed beside a service that runs: their events are tables."""

import sys
from random import Random

import pytest
import requests

from scan.extensions.contract_details.tests.builds.projects import SETTINGS, Project, foundry
from tests.extensions.event_doors import Followed
from tests.support import WAIT_S
from tests.support.anvil import Anvil, calldata
from tests.support.database import execute
from tests.support.explorer import standard_input
from tests.support.indexing import client_over
from tests.support.scan_command import scan
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until
from tests.support.solidity import node_script

pytestmark = pytest.mark.thorough

CONTRACTS = {
    "Vault": ("Deposit(address indexed owner, uint256 amount)", "Deposit(msg.sender, n)"),
    "Registry": ("Named(string indexed name, string text)", 'Named("a", "b")'),
    "Auction": (
        "Bid(address indexed bidder, uint256[] amounts)",
        "Bid(msg.sender, new uint256[](n))",
    ),
    "Badge": ("Minted(uint256 indexed tokenId, bytes4 kind)", "Minted(n, 0x01020304)"),
}
SOURCES = {
    f"src/{name}.sol": "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n"
    f"contract {name} {{ event {event}; event {name}Closed();"
    f" function act(uint256 n) external {{ emit {emitted}; }}"
    f" function close() external {{ emit {name}Closed(); }} }}"
    for name, (event, emitted) in CONTRACTS.items()
}


@pytest.fixture
def deployed(database_url, open_folder):
    """The contracts of a project, deployed beside a service that has its builds."""
    project = Project(SOURCES, standard_input(SOURCES, **SETTINGS))
    folder = foundry(open_folder / "contracts", project)
    (folder.parent / "foundry.toml").touch()
    environment = {
        "DATABASE_URL": database_url,
        "SCAN_LOGS": "none",
        "SCAN_RATE_LIMIT_ANONYMOUS": "1000/second",
    }
    command = (sys.executable, "-m", "scan")
    with Anvil() as anvil, scan_run(command, open_folder, RPC_URL=anvil.url, **environment) as run:
        run.wait_for_block(0, or_later=True)
        assert f"Builds: {folder} (found;" in run.output()
        deployed = Deployed(database_url, anvil, run)
        for _, name, contract in project.contracts():
            code = "0x" + contract["evm"]["bytecode"]["object"]
            created = anvil.receipt_of(
                anvil.send(anvil.accounts[0], None, data=code, gas=2_000_000)
            )
            deployed.contracts[name] = created["contractAddress"]
            deployed.abis[name] = contract["abi"]
        yield deployed


class Deployed:
    """The contracts by their names, with the ABIs of their builds."""

    def __init__(self, url, anvil, run):
        self.url, self.anvil, self.run = url, anvil, run
        self.contracts, self.abis = {}, {}

    def call(self, name, function, *values):
        sent = calldata(function, *values)
        self.anvil.send(self.anvil.accounts[0], self.contracts[name], data=sent, gas=400_000)

    def wait_for(self, statement, *rows):
        wait_until(lambda: execute(self.url, statement) == [*rows], self.run.process)

    def read(self, path, **query):
        answer = requests.get(f"{self.run.url}/api/v1{path}", params=query, timeout=WAIT_S)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def events(self):
        """The logs of every view, which pages, files and ethers have, too; newest first."""
        of_views, client = {}, client_over(self.url)
        for name, address in self.contracts.items():
            followed = Followed(self.url, client, address)
            for event in followed.get()["events"]:
                rows = followed.rows(event["view"])
                assert len(rows) == event["count"]
                followed.require_pages_and_files(event, rows)
                listed = followed.get(f"/{event['name']}", limit=100)["events"]
                of_views[event["view"]] = [log["args"] for log in listed]
                assert self.by_ethers(name, address, listed) == of_views[event["view"]]
        return of_views

    def by_ethers(self, name, address, listed):
        """What ethers makes of the node's logs."""
        logs = [
            log
            for block in {log["blockNumber"] for log in listed}
            for log in self.anvil.call(
                "eth_getLogs", {"address": address, "fromBlock": hex(block), "toBlock": hex(block)}
            )
        ]
        by_place = {(int(log["blockNumber"], 16), int(log["logIndex"], 16)): log for log in logs}
        named = [
            {"event": log["name"], **by_place[log["blockNumber"], log["logIndex"]]}
            for log in listed
        ]
        return node_script("decode_events.cjs", stdin={"abi": self.abis[name], "logs": named})


def test_each_event_of_a_foundry_project_has_a_view_within_seconds(deployed):
    anvil, url = deployed.anvil, deployed.url
    for name in deployed.contracts:
        deployed.call(name, "act(uint256)", 2)
    anvil.mine()
    deployed.wait_for("SELECT count(*) FROM event_views", (8,))
    deployed.wait_for("SELECT count(*) FROM followed_contracts WHERE complete_from = 0", (4,))
    deployed.wait_for("SELECT count(*) FROM undecoded_events", (0,))
    views = {
        "vault_deposit": "SELECT amount::integer FROM events.vault_deposit",
        "registry_named": "SELECT text FROM events.registry_named",
        "auction_bid": "SELECT amounts FROM events.auction_bid",
        "badge_minted": "SELECT kind FROM events.badge_minted",
    }
    assert [execute(url, query) for query in views.values()] == [
        [(2,)],
        [("b",)],
        [(["0", "0"],)],
        [("0x01020304",)],
    ]
    listed = scan("events", "list", "--json", DATABASE_URL=url)
    assert listed.stdout.count('"isOfBuild": true') == 4
    read = deployed.read(
        f"/contracts/{deployed.contracts['Vault']}/events/Deposit", owner=anvil.accounts[0]
    )
    assert [log["args"]["amount"] for log in read["events"]] == ["2"]


@pytest.mark.long
def test_views_rest_and_ethers_agree_through_forks_and_after_a_rebuild(deployed):
    anvil, url, random = deployed.anvil, deployed.url, Random(102)
    newest = "SELECT max(number)::integer FROM blocks"

    def act(blocks):
        for _ in range(blocks):
            for name in random.choices([*deployed.contracts], k=3):
                deployed.call(
                    name, *random.choice([("act(uint256)", random.randrange(9)), ("close()",)])
                )
            anvil.mine()
        deployed.wait_for(newest, (anvil.head(),))

    act(14)
    deployed.wait_for("SELECT count(*) FROM event_views", (8,))
    deployed.wait_for("SELECT count(*) FROM followed_contracts WHERE complete_from = 0", (4,))
    for depth in (12, 3, 12):
        before = deployed.events()
        assert len(before) == 8
        anvil.reorganise(depth)
        act(depth + 1)
        assert deployed.events() != before
    before = deployed.events()
    done = scan("rebuild", "contract_events", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    deployed.wait_for("SELECT count(*) FROM table_rebuilds", (0,))
    assert deployed.events() == before
