"""Where code passes calls on, by a run of it: proxies as compilers make them, and hostile code."""

import pytest

from scan.contracts.proxy_contracts import BEACON_SLOT, IMPLEMENTATION_SLOT, NOT_DELEGATING
from tests.contracts.test_proxy_kinds import FALLBACK, SLOTS, expect, followed, is_a_proxy, word
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import VERSION

HOSTILE = {
    "a loop": "5b5f56",
    "a loop of powers": "5b5f1960ff190a5f56",
    "memory of 2^64 bytes": "5f67ffffffffffffffff52",
    "hashes of much memory": "5b61f000600020505f56",
    "copies of much memory": "5b61f00060006000375f56",
    "reads of ever new slots": "5b5a4354505f545f5260205f20545f525f56",
    "calls of itself": "5b5f5f5f5f5f305af1505f56",
    "a stack without end": "5b5f5f5f56",
    "jumps into data": "6002565b5b" + "605b" * 9,
}


@pytest.mark.check
@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_runs_of_hostile_code_end(code):
    """All of them have what looks like a DELEGATECALL to come; the node is asked for nothing."""
    assert followed(bytes.fromhex(code + "f4")) is NOT_DELEGATING


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
        "to = to_; admin = msg.sender;",
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


@pytest.mark.thorough
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
    for kind, text in (
        ("other", source),
        ("immutable", in_code.replace("self.to", "to")),
        ("other", source + many_functions),
    ):
        text = text.replace("(to: address)", "(to_: address)").replace("= to\n", "= to_\n")
        proxy = explorer.deploy(vyper.creation_of("0.4.3", text), word(many)[2:])
        page = explorer.client.get(f"/address/{proxy}?tab=contract&view=read").text
        assert is_a_proxy(kind) in page and f"/address/{many}" in page and "over(" in page


WARNING = "Its slot of EIP-1967 names {}, to which its code passes no calls on."


def proxy_contract(name):
    return f"P{[*COMPILED].index(name)}"


def deployed(explorer, contract, *addresses):
    code = compiled(VERSION, standard_input({"P.sol": COMPILED_SOURCE}), "P.sol", contract)
    return explorer.deploy(code.creation, "".join(word(address)[2:] for address in addresses))


@pytest.mark.thorough
def test_the_record_of_a_contract_warns_of_a_slot_that_its_code_does_not_read(explorer, many):
    unread, contract = explorer.place("6001600c"), proxy_contract("openzeppelin")
    proxy = deployed(explorer, contract, many, unread)
    answer = explorer.verify(proxy, COMPILED_SOURCE, VERSION, contractName=contract)
    assert answer.status_code == 200, answer.json
    record = {"type": "openzeppelin", "implementation": many, "warning": WARNING.format(unread)}
    assert explorer.contract(proxy).json["proxy"] == record


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMPILED)
def test_a_slot_that_the_code_does_not_read_is_not_believed(explorer, many, name):
    """The page warns of it."""
    unread = explorer.place("6001600c")
    target = many
    for contract in NAMED_BY.get(name, ()):
        target = deployed(explorer, contract, target)
    proxy = deployed(explorer, proxy_contract(name), target, unread)
    expect(explorer, proxy, name.split()[0], many)
    path = f"/address/{proxy}?tab=contract"
    assert WARNING.format(unread) in explorer.client.get(path).text
    explorer.anvil.call("anvil_setStorageAt", proxy, IMPLEMENTATION_SLOT, "0x" + 64 * "0")
    explorer.anvil.mine()
    explorer.wait_for_block(explorer.anvil.head())
    assert "names 0x" not in explorer.client.get(path).text
