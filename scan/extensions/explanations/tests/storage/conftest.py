"""A contract with variables of all kinds, verified."""

from collections import namedtuple
from pathlib import Path

import pytest

from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.lists import get

VERSION, PATH = "0.8.28", "Kept.sol"
KEPT = Path(__file__).with_name(PATH).read_text()  # each kind with a function that reads it
OPTIMIZED = {"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}


class Deployed(namedtuple("Deployed", "explorer address")):
    @property
    def sender(self):
        return self.explorer.anvil.accounts[0]

    def account(self, signature, *values, to=""):
        """What a call changes in the contract, as the API has it."""
        to = to or self.address
        sent = self.explorer.send(to, calldata(signature, *values), gas=5_000_000)
        answer = get(self.explorer.client, f"/transactions/{sent}/state-changes")
        [account] = [a for a in answer["accounts"] if a["address"] == to]
        return account

    def changed(self, signature, *values):
        """The changed variables, by name. No slot is without one."""
        storage = self.account(signature, *values)["storage"]
        assert all(slot["variables"] for slot in storage), storage
        return {v["name"]: (v["before"], v["after"]) for s in storage for v in s["variables"]}

    def storage(self, **query):
        path = f"/api/v1/contracts/{self.address}/storage"
        return self.explorer.client.get(path, query_string=query)

    def values(self, **query):
        answer = self.storage(**query)
        assert answer.status_code == 200, answer.json
        return {entry["name"]: entry["value"] for entry in answer.json["variables"]}

    def read(self, function, *arguments):
        """What the contract's own getter returns."""
        answer = self.explorer.call(self.address, function, *arguments)
        assert answer.status_code == 200, answer.json
        return answer.json["result"]


def deploy(explorer, sources, path, name, arguments="", *, version=VERSION, is_verified=True):
    standard = standard_input(sources, **(OPTIMIZED if version == VERSION else {}))
    if is_verified:
        return Deployed(explorer, explorer.verified(standard, version, f"{path}:{name}", arguments))
    creation = compiled(version, standard, path, name).creation
    return Deployed(explorer, explorer.deploy(creation, arguments))


@pytest.fixture(scope="module")
def kept(explorer):
    return deploy(explorer, {PATH: KEPT}, PATH, "Kept")
