"""Well-known designs of tokens are marked only where a balance that they answer is not the sum of
their events, in whatever way their totalSupply() is meant."""

from functools import cache

import pytest

from tests.extensions.test_sums_of_events import Chain
from tests.support.anvil import Contract, creation_code
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.serving import ROOT
from tests.support.solidity import SETTINGS, Artifact, compile_standard

pytestmark = pytest.mark.thorough

DESIGNS = "TokenDesigns.sol"
DEAD = "0x000000000000000000000000000000000000dead"
MARK = "SELECT inconsistent_since FROM tokens WHERE address = %s"
COIN = 10**18
M, T = "mint", "transfer"
ONE, TWO, THREE, SELF = "one", "two", "three", "itself"
# By design: what it is created with, and calls: function, arguments, more of the transaction.
HONEST = {
    "Plain": ([], (M, ONE, 900), (T, TWO, 100), ("burn", 50)),
    "Votes": ([], (M, ONE, 900), ("delegate", ONE), (T, TWO, 100)),
    "Flash": ([], (M, ONE, 900), (T, TWO, 100)),
    "Counted": ([], (M, ONE), (M, ONE), ("transferFrom", ONE, TWO, 1), ("burn", 2)),
    "Enumerated": ([], (M, ONE, 1), (M, TWO, 7), ("transferFrom", ONE, TWO, 1)),
    "Batches": ([], ("transferFrom", ONE, TWO, 3)),
    "Editions": ([], (M, TWO, 1, 5), (M, TWO, 2, 7)),
    "Solmate": ([], (M, ONE, 900), (T, TWO, 100), ("burn", 50)),
    "Solady": ([], (M, ONE, 900), (T, TWO, 100)),
    "Steth": ([], (M, ONE, 900), (T, TWO, 100)),
    "AToken": ([], (M, ONE, 900), (T, TWO, 100)),
    "Ample": ([], (T, TWO, 100)),
    "Fees": ([], (M, ONE, 900), (T, TWO, 100)),
    "Circulating": ([], (M, ONE, 900), (T, DEAD, 100)),
    "Treasury": ([], (M, ONE, 900), (T, SELF, 100)),
    "Whole": ([], (M, ONE, 1000 * COIN), (T, TWO, COIN)),
    "Weth9": ([], ("deposit", {"value": 900}), (T, TWO, 100), ("withdraw", 50)),
    "Sized": ([], (M, ONE, 1), ("transferFrom", ONE, TWO, 1)),
    "VeNft": ([], (M, ONE, 1), ("transferFrom", ONE, TWO, 1)),
    "Erc721A": ([], (M, ONE, 5), ("transferFrom", ONE, TWO, 2)),
    "Erc3525": ([], (M, ONE, 1), (M, ONE, 2), ("split", 1, 2, 30), ("transferFrom", ONE, TWO, 1)),
    "Dn404": ([], (M, ONE, 3 * COIN), (T, TWO, COIN)),
    "Ids": ([], (M, TWO, 1, 5), (M, TWO, 2, 7)),
    "Wrapped": (["Plain"], ("depositFor", ONE, 100), (T, TWO, 10), ("withdrawTo", ONE, 5)),
    "Shares": (["Plain"], ("deposit", 100, ONE), (T, TWO, 10), ("redeem", 5, ONE, ONE)),
}
# What changes balances without a Transfer, after which a reader finds the mark true.
OTHERWISE = {
    "Steth": [("report", 90)],
    "AToken": [("accrue", 2 * COIN)],
    "Ample": [("rebase", 2 * 10**12)],
    "DSToken": [(M, ONE, 900), (T, TWO, 100)],
}


@cache
def designs():
    sources = {DESIGNS: (ROOT / "tests/support" / DESIGNS).read_text()}
    contracts = compile_standard(sources, settings=SETTINGS)["contracts"][DESIGNS]
    return {
        name: Artifact(
            name,
            contract["abi"],
            bytes.fromhex(contract["evm"]["bytecode"]["object"]),
            bytes.fromhex(contract["evm"]["deployedBytecode"]["object"]),
        )
        for name, contract in contracts.items()
    }


class Designs:
    def __init__(self, chain):
        self.chain, self.contracts = chain, {}
        self.people = dict(zip((ONE, TWO, THREE), chain.anvil.accounts, strict=False))

    def deploy(self, name, *args):
        design, anvil = designs()[name], self.chain.anvil
        sent = anvil.send(self.people[ONE], None, data=creation_code(design, *args), gas=12_000_000)
        receipt = anvil.receipt_of(sent)
        assert receipt["status"] == "0x1", name
        self.contracts[name] = Contract(receipt["contractAddress"], design)
        return self.contracts[name]

    def do(self, name, act, **fields):
        contract, (function, *args) = self.contracts[name], act
        if args and isinstance(args[-1], dict):
            fields = args.pop()
        addresses = {**self.people, SELF: contract.address}
        args = [addresses.get(arg, arg) if isinstance(arg, str) else arg for arg in args]
        return self.chain.do(contract, function, *args, gas=3_000_000, **fields)

    def mark(self, name):
        [(since,)] = execute(self.chain.url, MARK, bytes.fromhex(self.contracts[name].address[2:]))
        return since


@pytest.fixture
def made(anvil, database_url):
    with Indexing(database_url, anvil.url) as indexing:
        made = Designs(Chain(anvil, indexing, database_url, indexing.client()))
        deploy_honest(made)
        yield made


def deploy_honest(made):
    for name, (of, *acts) in HONEST.items():
        made.deploy(name, *(made.contracts[other].address for other in of))
        for other in of:
            made.do(other, (M, ONE, 500))
            made.do(other, ("approve", made.contracts[name].address, 500))
        for act in acts:
            made.do(name, act)


def test_no_honest_design_is_marked(made):
    chain, one = made.chain, made.people[ONE]
    made.contracts["Mirror"] = Contract(
        chain.anvil.read(made.contracts["Dn404"], "mirrorERC721"), designs()["Mirror"]
    )
    chain.read()
    for name, contract in made.contracts.items():
        api = f"/api/v1/tokens/{contract.address}"
        record = chain.get(api)
        assert (made.mark(name), record["eventsConsistent"]) == (None, True), name
        assert "inconsistentSince" not in record, name
        assert "not the sums" not in chain.text(f"/token/{contract.address}"), name
        held = sum(int(r["balance"]) for r in chain.get(f"{api}/holders")["holders"])
        assert record["heldSupply"] == str(held), name
        history = f"/api/v1/addresses/{one}/history?token={contract.address}"
        assert chain.get(history)["complete"], name
    sized = chain.get(f"/api/v1/tokens/{made.contracts['Sized'].address}")
    assert (sized["totalSupply"], sized["heldSupply"]) == ("10000", "1")
    page = chain.text(f"/token/{made.contracts['Sized'].address}")
    assert "10,000" in page and "holders have" in page


def test_a_design_whose_balances_change_without_events_is_marked_while_they_differ(made):
    chain = made.chain
    made.deploy("DSToken")
    chain.read()
    for name, acts in OTHERWISE.items():
        assert name == "DSToken" or made.mark(name) is None
        for act in acts:
            last = made.do(name, act)
        chain.read()
        assert made.mark(name) == last, name
    made.do("Ample", ("rebase", 10**12))
    chain.read()
    assert made.mark("Ample") is None
    assert chain.get(f"/api/v1/tokens/{made.contracts['Ample'].address}")["eventsConsistent"]
