"""A failing line is one whose statement alone can have the reason: else its function is known."""

from pathlib import Path

import pytest

from scan.extensions.compiled_sources.refusing_statements import MAX_ALIKE
from scan.extensions.explanations.tests.transactions.ways import WAYS
from tests.support import anvil, solidity
from tests.support.explorer import standard_input

pytestmark = pytest.mark.thorough

FOLDER = Path(__file__).parent
SMALL = (FOLDER / "Small.sol").read_text()
ASSEMBLY = (FOLDER / "Assembly.sol").read_text()
NOWHERE = None
BY_IR = WAYS["IR optimized"]


def location_of_small(explorer, source, settings, function, argument):
    standard = standard_input({"Small.sol": source}, **settings)
    address = explorer.verified(standard, "0.8.28", "Small.sol:Small")
    data = anvil.calldata(f"{function}(uint256)", argument)
    return explorer.transact(address, data, gas=200_000)["error"]["location"]


@pytest.mark.parametrize(
    ("source", "settings", "function", "argument", "mark"),
    [
        (SMALL, BY_IR, "f", 0, "f0"),
        (SMALL, BY_IR, "f", 1, "f1"),
        (SMALL, BY_IR, "g", 0, "g0"),
        (SMALL, BY_IR, "g", 1, "g1"),
        ((FOLDER / "Pointer.sol").read_text(), BY_IR, "f", 0, NOWHERE),
        (ASSEMBLY, BY_IR, "f", 0, NOWHERE),
        (ASSEMBLY, BY_IR, "g", 0, NOWHERE),
        (
            (FOLDER / "Stripped.sol").read_text(),
            {**BY_IR, "debug": {"revertStrings": "strip"}},
            "f",
            0,
            NOWHERE,
        ),
    ],
)
def test_a_line_needs_one_statement_that_agrees(
    explorer, source, settings, function, argument, mark
):
    """Else, as where a pointer may be to any function, the function is known alone."""
    location = location_of_small(explorer, source, settings, function, argument)
    line = mark and solidity.marked_line(source, f"// {mark}")
    assert (location["line"], location["function"]) == (line, function), location


@pytest.mark.parametrize(("more", "mark"), [(0, "a7;"), (1, NOWHERE)])
def test_of_too_many_statements_that_are_alike_none_is_named(explorer, more, mark):
    """The map tells them apart: how many are looked for in it is bounded."""
    alike = range(MAX_ALIKE + more)
    checks = [f'require(n != {n}, "alike"); // a{n};' for n in alike]
    head = ("pragma solidity ^0.8.20;", "contract Small {", "uint256 kept;")
    source = "\n".join([*head, "function f(uint256 n) external {", *checks, "kept = n;", "}}"])
    location = location_of_small(explorer, source, WAYS["optimized"], "f", 7)
    line = mark and solidity.marked_line(source, f"// {mark}")
    assert (location["line"], location["function"]) == (line, "f"), location
