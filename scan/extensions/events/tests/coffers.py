"""A proxy that is upgraded, whose events are followed."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from eth_abi import encode

from scan.concurrency.waiting_threads import WaitingThreads
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.request_node import NodeGateway
from scan.extensions.events.following import Following
from scan.indexer.block_source import BlockSource
from tests.support.anvil import calldata
from tests.support.database import execute, insert
from tests.support.solidity import compile_standard

COFFERS = Path(__file__).with_name("Coffers.sol").read_text(encoding="utf-8")


ABI = [
    {
        "type": "event",
        "name": "Deposited",
        "inputs": [
            {"name": "owner", "type": "address", "indexed": True},
            {"name": "amount", "type": "uint256", "indexed": False},
        ],
    }
]


def watch_logs(url, *addresses):
    """Has webhooks of contracts' logs, whose messages wait."""
    for number, address in enumerate(addresses, 1):
        by = {"owner_address": address, "watch_address": address, "event_types": "{log}"}
        insert(url, "webhooks", id=number, url="https://localhost:1/", **by)
        insert(url, "delivery_queues", webhook_id=number, host="localhost")


class Coffers:
    """A proxy that passes calls on to the first version of a contract, then to others."""

    def __init__(self, anvil):
        self.anvil = anvil
        self.owner = anvil.accounts[0]
        self.compiled = compile_standard({"C.sol": COFFERS})["contracts"]["C.sol"]
        versions = ("First", "Second", "Third", "Fourth")
        self.first, self.second, self.third, self.fourth = map(self._create, versions)
        self.proxy = self._create("Coffer", encode(["address"], [self.first]))

    def _create(self, name, arguments=b""):
        data = "0x" + self.compiled[name]["evm"]["bytecode"]["object"] + arguments.hex()
        sent = self.anvil.send(self.owner, None, data=data, gas=2_000_000)
        return self.anvil.receipt_of(sent)["contractAddress"]

    def deposit(self, amount):
        self.block(("deposit(uint256)", amount))

    def upgrade(self):
        self.block(("upgrade(address)", self.second))

    def replace(self, version):
        """Upgrades without an event."""
        self.block(("replace(address)", version))

    def block(self, *calls):
        """Calls functions in one block."""
        for signature, *arguments in calls:
            data = calldata(signature, *arguments)
            self.anvil.send(self.owner, self.proxy, data=data, gas=200_000)
        self.anvil.mine()

    def build(self, url, third=()):
        """Stores the ABIs as the operator's builds have them."""
        for name, address in (("First", self.first), ("Second", self.second), *third):
            events = [e for e in self.compiled[name]["abi"] if e["type"] == "event"]
            execute(
                url,
                "INSERT INTO built_abis SELECT code_hash, %s, %s, now() FROM contracts"
                " WHERE address = decode(%s, 'hex')",
                name,
                json.dumps(events),
                address[2:],
            )


@pytest.fixture
def coffers(anvil):
    coffers = Coffers(anvil)
    for amount in range(1, 6):
        coffers.deposit(amount)
    return coffers


def following(url, node_url=None):
    database = Database(url, statement_timeout_ms=0)
    if node_url is None:
        return closing(database), Following(database)
    node = Node([node_url])
    gateway = NodeGateway(node, WaitingThreads())
    return closing(database), Following(database, gateway, BlockSource(node, traces="off"))


def fill(followed):
    while fills := followed.fills():
        assert followed.fill(fills[0]) is not None


def address_of(text):
    return bytes.fromhex(text[2:])
