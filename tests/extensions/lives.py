"""Contracts that end, and others at their addresses; what each form of the API says of one."""

import pytest

from tests.extensions.world import World
from tests.support import solidity
from tests.support.anvil import Anvil, Contract

EVM = "shanghai"  # the last one in which SELFDESTRUCT ends a contract


def built(name):
    return solidity.artifact(name, EVM)


class Mortals(World):
    """Contracts at one address, each after the end of the one before."""

    def __init__(self, anvil, places, **settings):
        super().__init__(anvil, places, **settings)
        self.cradle = self.deploy(built("Cradle"))
        call = {"to": self.cradle.address, "data": self.cradle.data("bear", bytes(2))}
        call["gas"] = hex(8_000_000)
        frame = anvil.call("debug_traceCall", call, "latest", {"tracer": "callTracer"})
        self.address = frame["calls"][0]["to"]

    def mortal(self, name):
        return Contract(self.address, built(name))

    def bear(self, name):
        self.do(self.cradle, "bear", built(name).runtime)
        return self.mortal(name)

    def live_for_a_block(self, name, *amounts):
        """Let a contract begin, mint amounts to the second account, and end in one block."""
        mortal = self.mortal(name)
        self.in_one_block(
            (self.cradle, "bear", mortal.artifact.runtime),
            *((mortal, "mint", self.you, amount) for amount in amounts),
            (mortal, "end"),
        )


@pytest.fixture
def older_anvil():
    with Anvil(hardfork=EVM) as anvil:
        yield anvil


@pytest.fixture
def mortals(older_anvil, places):
    with Mortals(older_anvil, places) as mortals:
        yield mortals


class Forms:
    """What is said of an address."""

    def __init__(self, world, address):
        self._world, self._address = world, address

    def get(self, path):
        return self._world.get(path.replace(":a", self._address))

    def standing(self):
        """Whether a contract stands there: by its record, and in Blockscout's form."""
        own, blockscout = self.get("/api/v1/addresses/:a"), self.get("/api/v2/addresses/:a")
        code = self.get("/api/v2/smart-contracts/:a").get("deployed_bytecode") is not None
        return {own["isContract"], blockscout["creation_status"] == "success", code}

    def token(self):
        """Name, decimals, type, number of holders, and holders with their balances."""
        token, holders = (self.get(f"/api/v1/tokens/:a{path}") for path in ("", "/holders"))
        if "code" in token:
            assert "code" in holders and "items" not in self.get("/api/v2/tokens/:a/holders")
            return None
        pairs = {(holder["address"], holder["balance"]) for holder in holders["holders"]}
        return token["name"], token["decimals"], token["type"], token["holderCount"], pairs

    def held_by(self, holder, block=None):
        at = "" if block is None else f"?block={block}"
        tokens = self.get(f"/api/v1/addresses/{holder}/tokens{at}")["tokens"]
        return {token["symbol"] for token in tokens}

    def listed(self):
        return {token["symbol"] for token in self.get("/api/v1/tokens")["tokens"]}

    def transfers(self):
        records = self.get("/api/v1/token-transfers?tokenAddress=:a")["transfers"]
        return [(record["value"], record["tokenSymbol"], record["tokenType"]) for record in records]
