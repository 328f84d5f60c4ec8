"""Variables in structs at the slots of namespaces (ERC-7201), and enum members by their names."""

import json
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.compiled_sources import compiler_layouts
from scan.extensions.explanations.storage.layout import MALFORMED_LAYOUT, read_solidity
from scan.extensions.explanations.tests.storage.conftest import deploy
from tests.support import anvil, expected


def test_members_of_namespaces_are_named_as_expected(explorer):
    # As OpenZeppelin's upgradeable contracts keep their state, since version 5.
    folder = Path(__file__).with_name("namespaces")
    sources = {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*.sol"))}
    token = deploy(explorer, sources, "Upgradeable.sol", "Token")
    who = "0x" + 18 * "5e" + "0abc"
    names = {"WHO": who, "Token": token.address}
    for name, (signature, *values) in {
        "set": ("set(address,uint256)", who, 12),
        "own": ("own(address)", who),
        "corrupt": ("corrupt()",),  # a value that no member has is a number
    }.items():
        data = anvil.calldata(signature, *values)
        names[name] = explorer.send(token.address, data, gas=1_000_000)
    expected.compare(__file__, explorer.client, names)
    inner = int.from_bytes(keccak(text="example.storage.Owned")) - 1
    slot = int.from_bytes(keccak(inner.to_bytes(32))) & ~0xFF
    [entry] = token.storage(variable="erc7201:example.storage.Owned.since").json["variables"]
    assert (int(entry["slot"], 16), entry["offset"], entry["type"]) == (slot, 20, "uint64")


@pytest.mark.check
def test_the_slot_of_the_erc():
    """The example of ERC-7201."""
    expected = 0x183A6125C38840424C4A85FA12BAB2AB606C4B6D0E7CC73C0C06BA5300EAB500
    assert compiler_layouts.slot_of("example.main") == expected


PLAIN = {
    "storage": [{"label": "a", "type": "t_enum(E)1", "slot": "0", "offset": 0}],
    "types": {"t_enum(E)1": {"encoding": "inplace", "label": "enum E", "numberOfBytes": "1"}},
}
HOSTILE = {
    "enums that are none": {"enums": 5},
    "members that are none": {"enums": {"enum E": 5}},
    "namespaces that are none": {"namespaces": [1]},
    "variables that are none": {"namespaces": {"storage": 7, "types": {}}},
    "types that are none": {"namespaces": {"storage": [], "types": 7}},
    "a slot outside of the storage": {
        "namespaces": {"storage": [{**PLAIN["storage"][0], "slot": str(2**256)}], "types": {}}
    },
}


@pytest.mark.check
@pytest.mark.parametrize("names", HOSTILE.values(), ids=HOSTILE)
def test_malformed_names_are_no_layout(names):
    with pytest.raises(MALFORMED_LAYOUT):
        read_solidity(json.dumps({**PLAIN, **names}))


DECLARATIONS = {
    "an id with spaces": ("/// @custom:storage-location erc7201:a b", "uint256 x;"),
    "another formula": ("/// @custom:storage-location erc9999:a.b", "uint256 x;"),
    "a long id": (f"/// @custom:storage-location erc7201:{'a' * 300}", "uint256 x;"),
    "no member that can be laid out": ("/// @custom:storage-location erc7201:a.b", "S[] x;"),
    "markup": ('/// @custom:storage-location erc7201:<b>"\\', "uint256 x;"),
}


@pytest.mark.parametrize("declaration", DECLARATIONS.values(), ids=DECLARATIONS)
def test_hostile_declarations_verify(explorer, declaration):
    comment, members = declaration
    source = f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract A {{
    {comment}
    struct S {{ {members} }}
    uint256 public plain = {len(comment)};
}}
"""
    assert deploy(explorer, {"A.sol": source}, "A.sol", "A").values()["plain"] == str(len(comment))
