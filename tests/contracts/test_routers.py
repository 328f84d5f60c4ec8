"""Routers: code that passes each function on to one of several contracts, as traces show."""

from pathlib import Path

import pytest
from eth_utils import keccak

from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import PROXY, SLOT, VERSION, deploy
from tests.support.proxies import word

FORWARD = """assembly {
            calldatacopy(0, 0, calldatasize())
            let result := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch result case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }"""
FUNCTIONS = {"create(uint256)": 0, "pool(uint256)": 0, "version()": 0}
FUNCTIONS |= {"buy(uint256)": 1, "price(uint256)": 1}


def selector(signature):
    return keccak(text=signature)[:4]


def source():
    text = Path(__file__).with_name("Routers.sol").read_text().replace("FORWARD", FORWARD)
    in_order = sorted(FUNCTIONS, key=selector)
    cases = [
        f"case 0x{selector(f).hex()} {{ result := {('one', 'other')[FUNCTIONS[f]]} }}"
        for f in in_order
    ]
    text = text.replace("SPLIT", f"0x{selector(in_order[2]).hex()}")
    return text.replace("CASES_BELOW", " ".join(cases[:2])).replace(
        "CASES_ABOVE", " ".join(cases[2:])
    )


STANDARD = standard_input({"Routers.sol": source()})


@pytest.fixture(scope="module")
def modules(explorer):
    names = ("Core", "Market")
    return [explorer.verified(STANDARD, VERSION, f"Routers.sol:{name}") for name in names]


def made(explorer, modules, name):
    arguments = "".join(word(module)[2:] for module in modules)
    creation = compiled(VERSION, STANDARD, "Routers.sol", name).creation
    return explorer.deploy(creation, arguments)


def made_behind_a_proxy(explorer, modules, name):
    return deploy(explorer, PROXY, "Proxy", word(made(explorer, modules, name))[2:] + SLOT)


ROUTERS = ("Searching", "Modular", "Mapped")
PLACED = [*((name, made) for name in ROUTERS), ("Searching", made_behind_a_proxy)]


@pytest.mark.parametrize(("name", "make"), PLACED)
def test_transactions_are_decoded_by_the_module_that_ran(explorer, modules, name, make):
    router = make(explorer, modules, name)
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


@pytest.mark.parametrize("name", ROUTERS[:2])
def test_functions_are_read_by_the_modules_that_traces_show(explorer, modules, name):
    """Before a call nothing is known of them, and a function is of the module that ran it."""
    core, market = modules
    router = made(explorer, modules, name)
    assert explorer.call(router, "price(uint256)", 5).status_code == 404
    for function, arguments in (
        ("create(uint256)", [7]),
        ("price(uint256)", [5]),
        ("version()", []),
    ):
        explorer.send(router, calldata(function, *arguments), gas=500_000)
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
    for text in ("price", "inDollars"):
        assert text in page
    values = explorer.get(f"/api/v1/contracts/{router}/values")
    assert str(values).count("'version()'") == 1, values
    assert explorer.call(router, "missing(uint256)", 5).status_code == 400
