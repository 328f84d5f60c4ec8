"""Well-known designs of tokens are marked only where a balance that they answer is not the sum of
their events, in whatever way their totalSupply() is meant."""

import pytest

from tests.extensions.world import Chain
from tests.support.anvil import Contract
from tests.support.solidity import of_file

pytestmark = pytest.mark.thorough

M, T, TF = "mint", "transfer", "transferFrom"
ONE, TWO, SELF = "one", "two", "itself"


def test_no_honest_design_is_marked(anvil, places):
    """What is: test_sums_of_events.py."""
    artifacts = of_file("TokenDesigns.sol")
    # By design: what it is created with, and calls: function, arguments, more of the transaction.
    coin = 10**18
    honest = {
        "Plain": ([], (M, ONE, 900), (T, TWO, 100), ("burn", 50)),
        "Votes": ([], (M, ONE, 900), ("delegate", ONE), (T, TWO, 100)),
        "Flash": ([], (M, ONE, 900), (T, TWO, 100)),
        "Counted": ([], (M, ONE), (M, ONE), (TF, ONE, TWO, 1), ("burn", 2)),
        "Enumerated": ([], (M, ONE, 1), (M, TWO, 7), (TF, ONE, TWO, 1)),
        "Batches": ([], (TF, ONE, TWO, 3)),
        "Editions": ([], (M, TWO, 1, 5), (M, TWO, 2, 7)),
        "Solmate": ([], (M, ONE, 900), (T, TWO, 100), ("burn", 50)),
        "Solady": ([], (M, ONE, 900), (T, TWO, 100)),
        "Steth": ([], (M, ONE, 900), (T, TWO, 100)),
        "AToken": ([], (M, ONE, 900), (T, TWO, 100)),
        "Ample": ([], (T, TWO, 100)),
        "Fees": ([], (M, ONE, 900), (T, TWO, 100)),
        "Circulating": ([], (M, ONE, 900), (T, "0x000000000000000000000000000000000000dead", 100)),
        "Treasury": ([], (M, ONE, 900), (T, SELF, 100)),
        "Whole": ([], (M, ONE, 1000 * coin), (T, TWO, coin)),
        "Weth9": ([], ("deposit", {"value": 900}), (T, TWO, 100), ("withdraw", 50)),
        "Sized": ([], (M, ONE, 1), (TF, ONE, TWO, 1)),
        "VeNft": ([], (M, ONE, 1), (TF, ONE, TWO, 1)),
        "Erc721A": ([], (M, ONE, 5), (TF, ONE, TWO, 2)),
        "Erc3525": ([], *((M, ONE, n) for n in (1, 2)), ("split", 1, 2, 30), (TF, ONE, TWO, 1)),
        "Dn404": ([], (M, ONE, 3 * coin), (T, TWO, coin)),
        "Ids": ([], (M, TWO, 1, 5), (M, TWO, 2, 7)),
        "Wrapped": (["Plain"], ("depositFor", ONE, 100), (T, TWO, 10), ("withdrawTo", ONE, 5)),
        "Shares": (["Plain"], ("deposit", 100, ONE), (T, TWO, 10), ("redeem", 5, ONE, ONE)),
    }
    with Chain(anvil, places) as chain:
        made = {}

        def act(contract, function, *args):
            [fields] = [arg for arg in args if isinstance(arg, dict)] or [{}]
            addresses = {ONE: chain.me, TWO: chain.you, SELF: contract.address}
            values = [addresses.get(arg, arg) for arg in args if arg is not fields]
            chain.do(contract, function, *values, **fields)

        for name, (of, *acts) in honest.items():
            others = [made[other].address for other in of]
            made[name] = chain.deploy(artifacts[name], *others)
            for other in of:
                act(made[other], M, ONE, 500)
                act(made[other], "approve", made[name].address, 500)
            for call in acts:
                act(made[name], *call)
        mirror = chain.anvil.read(made["Dn404"], "mirrorERC721")
        made["Mirror"] = Contract(mirror, artifacts["Mirror"])
        chain.read()
        for name, contract in made.items():
            record = chain.token(contract)
            assert (chain.since(contract), record["eventsConsistent"]) == (None, True), name
            assert "inconsistentSince" not in record, name
            assert "not the sums" not in chain.get(f"/token/{contract.address}"), name
            held = sum(int(r["balance"]) for r in chain.token(contract, "/holders")["holders"])
            assert record["heldSupply"] == str(held), name
            history = f"/api/v1/addresses/{chain.me}/history?token={contract.address}"
            assert chain.get(history)["complete"], name
        sized = chain.token(made["Sized"])
        assert (sized["totalSupply"], sized["heldSupply"]) == ("10000", "1")
        page = chain.get(f"/token/{made['Sized'].address}")
        assert "10,000" in page and "holders have" in page
