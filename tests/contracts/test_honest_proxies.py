"""Well-known designs of proxies, as their compilers made them: each has its implementation, also
beside a slot of EIP-1967 that its code does not read."""

from pathlib import Path

import pytest

from scan.contracts.known_proxies import BEACON_SLOT, IMPLEMENTATION_SLOT
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION
from tests.support.proxies import FALLBACK, SLOTS, expect, word

pytestmark = pytest.mark.thorough

# Name: kind, compiler, file, contracts to deploy in their order; each gets the address of the
# implementation, and that of the one before.
DESIGNS = {
    "transparent, 0.8": ("eip1967", "0.8.28", "transparent", "P"),
    "transparent, 0.6": ("eip1967", "0.6.12", "transparent", "P"),
    "transparent, 0.5": ("eip1967", "0.5.16", "transparent_0_5", "P"),
    "EIP-897": ("eip897", "0.4.24", "owned", "P"),
    "ZeppelinOS": ("openzeppelin", "0.4.24", "zeppelinos", "P"),
    "Aragon, a kernel": ("other", "0.4.24", "aragon", "Kernel P"),
    "Aragon, a kernel's proxy": ("other", "0.4.24", "aragon", "Kernel KernelProxy P"),
    "a delegator": ("other", "0.5.16", "delegator", "P"),
    "a beacon without functions": ("other", "0.5.16", "dharma", "UpgradeBeacon P"),
    "a wallet": ("other", "0.6.12", "argent", "P"),
    "returned by the compiler": ("other", "0.8.28", "returning", "P"),
    "forwarded from memory": ("other", "0.6.12", "polygon", "P"),
}


@pytest.mark.parametrize("is_optimized", [False, True], ids=["plain", "optimized"])
@pytest.mark.parametrize("name", DESIGNS)
def test_designs(explorer, many, name, is_optimized):
    kind, version, file, contracts = DESIGNS[name]
    source = Path(__file__).with_name("proxy_designs").joinpath(f"{file}.sol").read_text()
    standard = standard_input({"P.sol": source}, optimizer={"enabled": is_optimized, "runs": 200})
    proxy = many
    for contract in contracts.split():
        creation = compiled(version, standard, "P.sol", contract).creation
        first = proxy if contract == "KernelProxy" else many
        proxy = explorer.deploy(creation, word(first)[2:] + word(proxy)[2:])
    expect(explorer, proxy, kind, many, "trace")


# What compilers make of a proxy, by the kind that it is of. Each gets two addresses, of which it
# passes calls on to the first, or to what that names; it does not read the slot of the second.
COMPILED = {
    "immutable": ("address immutable to;", "to = to_;", "return to;"),
    "beacon": ("Beacon immutable of_;", "of_ = Beacon(to_);", "return of_.implementation();"),
    "eip1967": (
        "address to;",
        f"assembly {{ sstore({BEACON_SLOT}, to_) }}",
        f"assembly {{ at := sload({BEACON_SLOT}) }} return Beacon(at).implementation();",
    ),
    "eip897": (
        "address public implementation;"
        "function proxyType() public pure returns (uint256) { return 2; }",
        "implementation = to_;",
        "return implementation;",
    ),
    "openzeppelin": (
        "",
        f"assembly {{ sstore({SLOTS['openzeppelin']}, to_) }}",
        f"assembly {{ at := sload({SLOTS['openzeppelin']}) }}",
    ),
    "other": (
        "bool paused; address to; address admin;",
        "to = to_; admin = address(0xad);",
        "require(!paused && msg.sender != admin); return to;",
    ),
    "other by itself": (
        "address to; function implementation() external view returns (address) { return to; }",
        "to = to_;",
        "return Beacon(address(this)).implementation();",
    ),
    "other by a registry": (
        "Registry of_;",
        "of_ = Registry(to_);",
        'return of_.app(keccak256("base"));',
    ),
}
# By the kind: the contract whose address a proxy gets, which names the implementation.
NAMED_BY = {"beacon": ["Beacon"], "eip1967": ["Beacon"], "other by a registry": ["Registry"]}
COMPILED_SOURCE = """pragma solidity ^0.8.20;
contract Beacon { address public implementation; constructor(address to) { implementation = to; } }
contract Registry is Beacon {
    constructor(address to) Beacon(to) {}
    function app(bytes32) external view returns (address) { return implementation; }
}
""" + "".join(
    f"""contract P{number} {{
        {fields}
        constructor(address to_, address unread) {{
            assembly {{ sstore({IMPLEMENTATION_SLOT}, unread) }}
            {setting}
        }}
        function target(bytes4) internal view returns (address at) {{ {reading} }}
        {FALLBACK}
    }}
    """
    for number, (fields, setting, reading) in enumerate(COMPILED.values())
)


def test_proxies_of_vyper(explorer, many, vyper):
    """In Vyper's own form, with the implementation in storage and in the code's data."""
    source = """
to: public(address)
@deploy
def __init__(to: address):
    self.to = to
@external
@payable
def __default__() -> Bytes[255]:
    return raw_call(self.to, msg.data, max_outsize=255, is_delegate_call=True)
"""
    in_code = source.replace("public(address)", "public(immutable(address))")
    # With so many functions, their places are in a table.
    many_functions = "".join(
        f"@external\ndef f{n}() -> uint256:\n    return {n}\n" for n in range(12)
    )
    for text in (source, in_code.replace("self.to", "to"), source + many_functions):
        text = text.replace("(to: address)", "(to_: address)").replace("= to\n", "= to_\n")
        proxy = explorer.deploy(vyper.creation_of("0.4.3", text), word(many)[2:])
        explorer.send(proxy, calldata("over(uint256)", 5))
        page = explorer.get(f"/address/{proxy}?tab=contract&view=read")
        assert "is a proxy:" in page and f"/address/{many}" in page and "over(" in page


def deployed(explorer, contract, *addresses):
    code = compiled(VERSION, standard_input({"P.sol": COMPILED_SOURCE}), "P.sol", contract)
    return explorer.deploy(code.creation, "".join(word(address)[2:] for address in addresses))


@pytest.mark.parametrize("name", COMPILED)
def test_a_slot_that_the_code_does_not_read_is_not_believed(explorer, many, name):
    """A call decides, in the record and on the page, which warn of it; before, it is a claim, and
    not even one where the code does not have the slot's name."""
    unread, target, contract = explorer.place("6001600c"), many, f"P{[*COMPILED].index(name)}"
    for named in NAMED_BY.get(name, ()):
        target = deployed(explorer, named, target)
    proxy = deployed(explorer, contract, target, unread)
    answer = explorer.verify(proxy, COMPILED_SOURCE, VERSION, contractName=contract)
    assert answer.status_code == 200, answer.json
    stated = explorer.contract(proxy).json["proxy"]
    assert stated is None or stated["evidence"] == "claim"
    explorer.send(proxy, calldata("over(uint256)", 5))
    record = explorer.contract(proxy).json["proxy"]
    assert (record["implementation"], record["evidence"]) == (many, "trace")
    page = explorer.get(f"/address/{proxy}?tab=contract")
    is_named = stated is not None and stated["implementation"] == unread
    warning = "It says that its implementation is {}, and passed calls on to another one."
    assert (record.get("warning") == warning.format(unread)) is is_named
    assert (warning.format(unread) in page) is is_named
    shown = explorer.get(f"/api/v2/smart-contracts/{proxy}")["implementations"]
    assert [row["address_hash"].lower() for row in shown] == [many]
