"""Routers: code that passes each function on to one of several contracts, which it names itself or
has in a mapping. All are decoded and called by the contracts that run, together."""

from pathlib import Path

import pytest
from eth_utils import keccak

from scan.contracts.delegation import BUDGET, Steps
from scan.contracts.proxy_contracts import (
    BLOCK_STEPS,
    NOT_DELEGATING,
    ROUTE_STEPS,
    delegation_of,
    delegations_of,
    stored_delegation,
)
from tests.contracts.test_hostile_proxies import assembled
from tests.contracts.test_proxy_kinds import word
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import PROXY, SLOT, VERSION, deploy

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
OPTIMIZED = standard_input({"Routers.sol": source()}, optimizer={"enabled": True, "runs": 200})


@pytest.fixture(scope="module")
def modules(explorer):
    names = ("Core", "Market")
    return [explorer.verified(STANDARD, VERSION, f"Routers.sol:{name}") for name in names]


def made(explorer, modules, name, standard):
    arguments = "".join(word(module)[2:] for module in modules)
    creation = compiled(VERSION, standard, "Routers.sol", name).creation
    return explorer.deploy(creation, arguments)


def made_behind_a_proxy(explorer, modules, name, standard):
    return deploy(
        explorer, PROXY, "Proxy", word(made(explorer, modules, name, standard))[2:] + SLOT
    )


ROUTERS = [
    *((name, STANDARD) for name in ("Searching", "Modular", "Mapped")),
    *((name, OPTIMIZED) for name in ("Searching", "Modular", "Mapped")),
]


PLACED = [(*router, make) for router in ROUTERS for make in (made, made_behind_a_proxy)]
PLACED = [
    pytest.param(*case, marks=[pytest.mark.thorough] if case[1] is OPTIMIZED else [])
    for case in PLACED
    if case[::2] != ("Mapped", made_behind_a_proxy)  # its mapping is its own
]


@pytest.mark.parametrize(("name", "standard", "make"), PLACED)
def test_transactions_are_decoded_by_the_module_that_ran(explorer, modules, name, standard, make):
    router = make(explorer, modules, name, standard)
    for function, argument, expected in (
        ("create(uint256)", "poolId", [("Created", "poolId"), ("Done", "coreValue")]),
        ("buy(uint256)", "marketId", [("Bought", "marketId"), ("Done", "marketValue")]),
    ):
        hash_ = explorer.send(router, calldata(function, 7), gas=500_000)
        record = explorer.client.get(f"/api/v1/transactions/{hash_}").json
        method = record["method"]
        assert (method["signature"], method["source"]) == (function, "verified")
        assert method["arguments"][0]["name"] == argument
        events = [log["event"] for log in record["logs"]]
        assert [(e["name"], e["arguments"][0]["name"]) for e in events] == expected
        assert {event["source"] for event in events} == {"verified"}
    hash_ = explorer.send(router, calldata("create(uint256)", 0), gas=500_000)
    error = explorer.client.get(f"/api/v1/transactions/{hash_}").json["error"]
    assert error["reason"] == "The call reverted: Unknown(poolId=0)"


@pytest.mark.parametrize(("name", "standard"), ROUTERS[:2] + ROUTERS[3:5])
def test_functions_of_all_modules_are_read_and_called(explorer, modules, name, standard):
    core, market = modules
    router = made(explorer, modules, name, standard)
    behind = deploy(explorer, PROXY, "Proxy", word(router)[2:] + SLOT)
    for address in (router, behind):
        for function, arguments, result, module in (
            ("price", [5], "-5", market),
            ("price(uint256)", [6], "-6", market),
            ("version", [], "1", core),
        ):
            answer = explorer.call(address, function, *arguments).json
            assert (answer["result"], answer["implementation"]) == (result, module)
    page = explorer.client.get(f"/address/{router}?tab=contract&view=read").text
    assert "is a proxy (router)" in page and core in page and market in page
    for text in ("price", "inDollars", "poolId"):
        assert text in page
    values = explorer.client.get(f"/api/v1/contracts/{router}/values").json
    assert str(values).count("'version()'") == 1, values


def test_a_router_that_does_not_list_its_modules_is_called_by_signature(explorer, modules):
    router = made(explorer, modules, "Mapped", STANDARD)
    answer = explorer.call(router, "price(uint256)", 5).json
    assert (answer["result"], answer["implementation"]) == ("-5", modules[1])
    assert explorer.call(router, "missing(uint256)", 5).status_code == 404


def runtime(name, standard=OPTIMIZED):
    """With addresses in the places of what a constructor sets."""
    code = bytes.fromhex(
        compiled(VERSION, standard, "Routers.sol", name).runtime.removeprefix("0x")
    )
    addresses = iter(bytes([n]) * 4 + keccak(bytes([n]))[:16] for n in range(1, 20))
    parts = code.split(b"\x7f" + bytes(32))
    return b"".join(part + b"\x7f" + bytes(12) + next(addresses) for part in parts[:-1]) + parts[-1]


@pytest.mark.check
@pytest.mark.parametrize("standard", [STANDARD, OPTIMIZED], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", ["Searching", "Modular"])
def test_routes_are_stored_with_the_code(name, standard):
    delegation = delegation_of(runtime(name, standard), Steps(BUDGET))
    assert delegation.kind == "router" and not delegation.depends_on_state
    routed = {f for of in delegation.proxy.routes.values() for f in of}
    assert routed == set(map(selector, FUNCTIONS))
    assert stored_delegation(delegation.text) == delegation


@pytest.mark.check
def test_code_that_only_has_addresses_is_no_router():
    """It calls them, or passes on some calls of a function and keeps others; nor is one that passes
    all on."""
    for body in (
        "function a() external { (bool done,) = to.delegatecall(msg.data); require(!done); }",
        "function a(uint256 x) external { if (x < 5) forward(to); }",
        "function a() external { forward(address(uint160(to) + uint160(block.number))); }",
        "function a() external { (bool done,) = to.delegatecall(hex'12345678'); done; }",
    ):
        text = f"""pragma solidity ^0.8.0; contract A {{
            address constant to = 0x1234567890AbcdEF1234567890aBcdef12345678;
            function forward(address implementation) internal {{ {FORWARD} }} {body} }}"""
        code = compiled(VERSION, standard_input({"A.sol": text}), "A.sol", "A").runtime
        code = bytes.fromhex(code.removeprefix("0x"))
        assert delegation_of(code, Steps(BUDGET)) is NOT_DELEGATING, body
    text = text.replace(
        body, "function a() external { forward(to); } fallback() external { forward(to); }"
    )
    code = compiled(VERSION, standard_input({"A.sol": text}), "A.sol", "A").runtime
    delegation = delegation_of(bytes.fromhex(code.removeprefix("0x")), Steps(BUDGET))
    assert delegation.kind == "immutable" and not delegation.proxy.routes


@pytest.mark.check
def test_functions_of_the_codes_of_a_block_share_steps():
    """Of what they do not suffice for, it is not known yet whether it is a router."""
    named = [f"0x{keccak(bytes([n]))[:4].hex()}" for n in range(8)]
    compared = " ".join(f"DUP1 {selector} EQ @loop JUMPI" for selector in named)
    codes = [
        assembled(
            f"""0x{keccak(bytes([n, 1]))[:20].hex()} POP 0 CALLDATALOAD 224 SHR {compared}
            0 0 REVERT loop: 0 SLOAD POP @loop JUMP DELEGATECALL"""
        )
        for n in range(60)
    ]
    delegations = delegations_of(codes)
    assert delegations[0] == "" and delegations[-1] is None
    assert ROUTE_STEPS // BUDGET < delegations.count("") < 60
    assert delegation_of(codes[-1], Steps(BLOCK_STEPS), Steps(ROUTE_STEPS)) is NOT_DELEGATING
