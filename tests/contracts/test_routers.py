"""Routers: code that passes each function on to one of several contracts, as traces show."""

from pathlib import Path

import pytest

from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import PROXY, SLOT, VERSION, deploy
from tests.support.proxies import word

STANDARD = standard_input({"Routers.sol": Path(__file__).with_name("Routers.sol").read_text()})


@pytest.fixture(scope="module")
def modules(explorer):
    names = "Routers.sol:Core", "Routers.sol:Market"
    return [explorer.verified(STANDARD, VERSION, name) for name in names]


def made(explorer, modules, name):
    """A router of these modules, or one behind a proxy."""
    creation = compiled(VERSION, STANDARD, "Routers.sol", name.split()[0]).creation
    router = explorer.deploy(creation, "".join(word(module)[2:] for module in modules))
    is_behind = "proxy" in name
    return deploy(explorer, PROXY, "Proxy", word(router)[2:] + SLOT) if is_behind else router


@pytest.mark.parametrize("name", ["Searching", "Modular", "Mapped", "Searching behind a proxy"])
def test_transactions_are_decoded_by_the_module_that_ran(explorer, modules, name):
    router = made(explorer, modules, name)
    for function, argument, expected in (
        ("create(uint256)", "poolId", [("Created", "poolId"), ("Done", "coreValue")]),
        ("buy(uint256)", "marketId", [("Bought", "marketId"), ("Done", "marketValue")]),
    ):
        record = explorer.transact(router, calldata(function, 7), gas=500_000)
        method = record["method"]
        assert (method["signature"], method["source"]) == (function, "verified")
        assert method["arguments"][0]["name"] == argument
        events = [log["event"] for log in record["logs"]]
        assert [(e["name"], e["arguments"][0]["name"]) for e in events] == expected
        assert {event["source"] for event in events} == {"verified"}
    refused = explorer.transact(router, calldata("create(uint256)", 0), gas=500_000)
    assert refused["error"]["reason"] == "The call reverted: Unknown(poolId=0)"


@pytest.mark.parametrize("name", ["Searching", "Modular"])
def test_functions_are_read_by_the_modules_that_traces_show(explorer, modules, name):
    """Before a call nothing is known of them, and a function is of the module that ran it."""
    core, market = modules
    router = made(explorer, modules, name)
    assert explorer.call(router, "price(uint256)", 5).status_code == 404
    for call in (("create(uint256)", 7), ("price(uint256)", 5), ("version()",)):
        explorer.send(router, calldata(*call), gas=500_000)
    for function, arguments, result, module in (
        ("price(uint256)", [6], "-6", market),
        ("price", [5], "-5", market),
        ("version", [], "1", core),
    ):
        answer = explorer.call(router, function, *arguments).json
        assert (answer["result"], answer["implementation"]) == (result, module)
        assert answer["evidence"] == "trace"
    assert explorer.call(router, "pool(uint256)", 5).status_code == 400  # which was not called
    page = explorer.get(f"/address/{router}?tab=contract&view=read")
    assert "is a proxy (router)" in page and core in page and market in page
    assert "price" in page and "inDollars" in page
    values = explorer.get(f"/api/v1/contracts/{router}/values")
    assert str(values).count("'version()'") == 1, values
    assert explorer.call(router, "missing(uint256)", 5).status_code == 400
