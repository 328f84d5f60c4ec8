"""Well-known designs of tokens are marked only where a balance that they answer is not the sum of
their events, in whatever way their totalSupply() is meant."""

import pytest

from tests.extensions.world import Chain
from tests.support.anvil import Contract
from tests.support.solidity import of_file

pytestmark = pytest.mark.thorough

DESIGNS = "TokenDesigns.sol"
COIN = 10**18
M, T = "mint", "transfer"
ONE, TWO, SELF = "one", "two", "itself"
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
    "Circulating": ([], (M, ONE, 900), (T, "0x000000000000000000000000000000000000dead", 100)),
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


class Designs(Chain):
    def __init__(self, anvil, places):
        super().__init__(anvil, places)
        self.contracts, self.people = {}, dict(zip((ONE, TWO), anvil.accounts, strict=False))

    def make(self, name, *args):
        self.contracts[name] = self.deploy(of_file(DESIGNS)[name], *args)

    def act(self, name, function, *args, **fields):
        contract = self.contracts[name]
        if args and isinstance(args[-1], dict):
            *args, fields = args
        addresses = {**self.people, SELF: contract.address}
        return self.do(contract, function, *(addresses.get(arg, arg) for arg in args), **fields)

    def mark(self, name):
        return self.since(self.contracts[name])


@pytest.fixture
def made(anvil, places):
    with Designs(anvil, places) as made:
        for name, (of, *acts) in HONEST.items():
            made.make(name, *(made.contracts[other].address for other in of))
            for other in of:
                made.act(other, M, ONE, 500)
                made.act(other, "approve", made.contracts[name].address, 500)
            for act in acts:
                made.act(name, *act)
        yield made


def test_no_honest_design_is_marked(made):
    mirror = made.anvil.read(made.contracts["Dn404"], "mirrorERC721")
    made.contracts["Mirror"] = Contract(mirror, of_file(DESIGNS)["Mirror"])
    made.read()
    for name, contract in made.contracts.items():
        api = f"/api/v1/tokens/{contract.address}"
        record = made.get(api)
        assert (made.mark(name), record["eventsConsistent"]) == (None, True), name
        assert "inconsistentSince" not in record, name
        assert "not the sums" not in made.get(f"/token/{contract.address}"), name
        held = sum(int(r["balance"]) for r in made.get(f"{api}/holders")["holders"])
        assert record["heldSupply"] == str(held), name
        history = f"/api/v1/addresses/{made.me}/history?token={contract.address}"
        assert made.get(history)["complete"], name
    sized = made.get(f"/api/v1/tokens/{made.contracts['Sized'].address}")
    assert (sized["totalSupply"], sized["heldSupply"]) == ("10000", "1")
    page = made.get(f"/token/{made.contracts['Sized'].address}")
    assert "10,000" in page and "holders have" in page


def test_a_design_whose_balances_change_without_events_is_marked_while_they_differ(made):
    made.make("DSToken")
    made.read()
    for name, acts in OTHERWISE.items():
        assert name == "DSToken" or made.mark(name) is None
        for act in acts:
            last = made.act(name, *act)
        made.read()
        assert made.mark(name) == last, name
    made.act("Ample", "rebase", 10**12)
    made.read()
    assert made.mark("Ample") is None
    assert made.get(f"/api/v1/tokens/{made.contracts['Ample'].address}")["eventsConsistent"]
