"""Checks in libraries that are linked: a contract has their address alone, where other code than
that of their source may be."""

import re
from collections.abc import Iterator, Mapping

import pytest

from tests.extensions.permissions.test_permissions import (
    ACCESS,
    PATH,
    SETTINGS,
    STRANGER,
    VERSION,
    Deployed,
)
from tests.support.explorer import Explorer, compiled, standard_input

# The letters of functions are those of CHECKS. With the library's own code, a stranger may call
# those alone that begin with uTry; with the other one's, all that begin with u.
LINKED = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
library Checks {
    struct Owned { address owner; }
    function only(address owner) external view { require(msg.sender == owner); }
    function onlyOf(Owned storage owned) public view { require(msg.sender == owned.owner); }
    function isOwner(address owner) external view returns (bool) { return msg.sender == owner; }
    function note() external pure returns (bool) { return true; }
}
library Inner {
    function only(address owner) internal view { Checks.only(owner); }
    function onlyHere(address owner) internal view { require(msg.sender == owner); }
}
contract Linked {
    using Checks for address;
    using Checks for Checks.Owned;
    Checks.Owned internal owned;
    uint256 public value;
    constructor() { owned.owner = msg.sender; }
    modifier onlyOwner { Checks.only(owned.owner); _; }
    function check() internal view { Checks.only(owned.owner); }

    function uLibrary() external { Checks.only(owned.owner); value = 1; }
    function uNamed() external { Checks.only({owner: owned.owner}); value = 1; }
    function uBound() external { owned.owner.only(); value = 1; }
    function uStorage() external { owned.onlyOf(); value = 1; }
    function uModifier() external onlyOwner { value = 1; }
    function uValue() external { require(Checks.isOwner(owned.owner)); value = 1; }
    function uRevert() external { if (!owned.owner.isOwner()) revert(); value = 1; }
    function uOption() external { require(Checks.isOwner(owned.owner) || value > 9); value = 1; }
    function uInner() external { Inner.only(owned.owner); value = 1; }
    function uInside() external { check(); value = 1; }
    function uTried() external { try Checks.only(owned.owner) {} catch {} value = 1; }
    function uWritten() external { Checks.note(); require(msg.sender == owned.owner); value = 1; }
    function uWrittenOf() external {
        require(Checks.note());
        Inner.onlyHere(owned.owner);
        value = 1;
    }
    function rBefore() external { require(msg.sender == owned.owner); Checks.note(); value = 1; }
    function rInternal() external { Inner.onlyHere(owned.owner); value = 1; }
}
"""
# sstore(0, caller()), mstore(0, 1), return(0, 32)
MAKES_OWNER = "33600055600160005260206000f3"
OPEN_WITH_OTHER_CODE = {*re.findall(r"u[A-Z]\w+", LINKED)}


def linked(explorer: Explorer, library: str) -> Deployed:
    """The contract, linked to code at an address, verified by the source above."""
    given = standard_input({PATH: LINKED}, **SETTINGS, libraries={PATH: {"Checks": library}})
    address = explorer.deploy(compiled(VERSION, given, PATH, "Linked").creation)
    answer = explorer.verify(address, given, VERSION, contractName=f"{PATH}:Linked")
    assert answer.status_code == 200, answer.json
    return Deployed(explorer, address, {PATH: LINKED})


@pytest.fixture(scope="module", params=["own", "other"])
def contract(request: pytest.FixtureRequest, explorer: Explorer) -> Iterator[tuple[Deployed, bool]]:
    is_own = request.param == "own"
    given = standard_input({PATH: LINKED}, **SETTINGS)
    own = compiled(VERSION, given, PATH, "Checks").creation
    library = explorer.deploy(own) if is_own else explorer.place(MAKES_OWNER)
    yield linked(explorer, library), is_own


def test_checks_in_linked_libraries_are_not_believed(contract: tuple[Deployed, bool]) -> None:
    of, is_own = contract
    owner = of.explorer.anvil.accounts[0].lower()
    functions: Mapping[str, Mapping[str, object]] = of.functions()
    assert {name[:-2] for name in functions if name[0] == "u"} == OPEN_WITH_OTHER_CODE
    for name, function in functions.items():
        assert function["access"] == ACCESS[name[0]], function
        is_open = name == "uTried()" if is_own else name[0] == "u"
        assert of.succeeds(STRANGER, name) == is_open, name
        assert of.succeeds(owner, name), name
