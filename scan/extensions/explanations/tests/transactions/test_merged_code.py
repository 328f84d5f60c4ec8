"""Code that an optimizer merged belongs to all its origins: a line is named only of functions that
the call ran."""

from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions.ways import WAYS
from tests.support.explorer import standard_input

pytestmark = pytest.mark.thorough

VERSION, PATH = "0.8.28", "src/Merged.sol"
SOURCE = Path(__file__).with_name("Merged.sol").read_text()
# The input of a call that is refused, the lines that may refuse it, and their functions.
CALLS = {
    "put(address)": (1, "inherited", "put"),
    "put(uint256)": (9, "put", "put"),
    "put(uint256,uint256)": (9, "put two", "put"),
    "put(uint256,bytes32)": (9, "put bytes", "put"),
    "hooked(uint256)": (9, "hook, hooked, override", "hook, hooked"),
    "checked(uint256)": (9, "library, checked", "small, checked"),
    "guarded(uint256)": (9, "modifier, guarded", "sane, guarded"),
    "open(uint256)": (9, "open", "open"),
    "itself(uint256)": (9, "open, itself", "open, itself"),
    "add(uint256)": (9, "plus, add", "plus, add"),
    "unknown(uint256)": (9, "fallback", "fallback"),
}


def lines_of(marks):
    """The marked lines, with the declarations before them."""
    source, allowed = SOURCE.split("\n"), set()
    for mark in marks.split(", "):
        [marked] = [n for n, text in enumerate(source, 1) if text.endswith(f"// {mark}")]
        words = ("function ", "modifier ", "fallback(", "receive(")
        declared = max(n for n in range(marked) if source[n - 1].lstrip().startswith(words))
        allowed |= {*range(declared, marked + 1)}
    return allowed


def lines_of_failure(marks, is_generated):
    """Where a call fails: by a statement of the source at its line, if this alone is marked so."""
    lines = SOURCE.split("\n")
    exact = {number for number in lines_of(marks) if lines[number - 1].endswith(marks)}
    return exact if len(exact) == 1 and not is_generated else lines_of(marks)


@pytest.fixture(scope="module", params=["plain", "optimized", "small", "IR optimized"])
def deployed(request, explorer):
    standard = standard_input({PATH: SOURCE}, **WAYS[request.param], evmVersion="cancun")
    return explorer, explorer.verified(standard, VERSION, f"{PATH}:Merged")


@pytest.mark.parametrize("signature", CALLS)
def test_a_failure_has_a_line_of_a_function_that_ran(deployed, signature):
    """Of functions that refuse with equal words, and by overloads, inherited and internal ones."""
    explorer, address = deployed
    argument, marks, functions = CALLS[signature]
    data = f"0x{keccak(text=signature)[:4].hex()}{argument:064x}{argument:064x}"
    location = explorer.transact(address, data, gas=150_000)["error"]["location"]
    assert location["function"] in functions.split(", "), location
    assert location["line"] in {None, *lines_of_failure(marks, location["generated"])}, location


def test_coin_without_input_is_received(deployed):
    explorer, address = deployed
    location = explorer.transact(address, "0x", gas=50_000, value="0x1")["error"]["location"]
    assert location["function"] == "receive", location
    assert location["line"] in {None, *lines_of("receive")}, location
