"""A Foundry project's contracts, deployed beside a service that runs: their events are tables."""

import sys

import pytest
import requests

from scan.extensions.contract_details.tests.builds.projects import SETTINGS, Project, foundry
from tests.commands.test_command import scan
from tests.support import WAIT_S
from tests.support.anvil import Anvil, calldata
from tests.support.database import execute
from tests.support.explorer import standard_input
from tests.support.scan_run import scan_run
from tests.support.serving import wait_until

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
VIEWS = {
    "vault_deposit": "SELECT amount::integer FROM events.vault_deposit",
    "registry_named": "SELECT text FROM events.registry_named",
    "auction_bid": "SELECT amounts FROM events.auction_bid",
    "badge_minted": "SELECT kind FROM events.badge_minted",
}


def test_each_event_of_a_foundry_project_has_a_view_within_seconds(database_url, open_folder):
    project = Project(SOURCES, standard_input(SOURCES, **SETTINGS))
    folder = foundry(open_folder / "contracts", project)
    (folder.parent / "foundry.toml").touch()
    environment = {
        "DATABASE_URL": database_url,
        "SCAN_LOGS": "none",
        "SCAN_RATE_LIMIT_ANONYMOUS": "1000/second",
    }
    with (
        Anvil() as anvil,
        scan_run(
            (sys.executable, "-m", "scan"), open_folder, RPC_URL=anvil.url, **environment
        ) as run,
    ):
        run.wait_for_block(0, or_later=True)
        assert f"Builds: {folder} (found;" in run.output()
        owner = anvil.accounts[0]
        for _, _, contract in project.contracts():
            code = "0x" + contract["evm"]["bytecode"]["object"]
            created = anvil.receipt_of(anvil.send(owner, None, data=code, gas=2_000_000))
            sent = calldata("act(uint256)", 2)
            anvil.send(owner, created["contractAddress"], data=sent, gas=200_000)
        anvil.mine()

        names = "SELECT view_name FROM event_views ORDER BY view_name"
        wait_until(lambda: len(execute(database_url, names)) == 8, run.process)
        complete = "SELECT count(*) FROM followed_contracts WHERE complete_from = 0"
        wait_until(lambda: execute(database_url, complete) == [(4,)], run.process)

        assert [execute(database_url, query) for query in VIEWS.values()] == [
            [(2,)],
            [("b",)],
            [(["0", "0"],)],
            [("0x01020304",)],
        ]
        listed = scan("events", "list", DATABASE_URL=database_url)
        assert listed.stdout.count(", of a build") == 4
        [(vault,)] = execute(
            database_url,
            "SELECT encode(address, 'hex') FROM followed_contracts WHERE name = 'vault'",
        )
        path = f"{run.url}/api/v1/contracts/0x{vault}/events/Deposit?owner={owner}"
        read = requests.get(path, timeout=WAIT_S).json()
        assert [log["args"]["amount"] for log in read["events"]] == ["2"]
