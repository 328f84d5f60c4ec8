"""Contracts drawn by lot, whose functions share texts, errors and checks: no refusal is told at the
line of another, by any way to compile them."""

import random

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions.test_reasons_and_lines import WAYS
from tests.support.explorer import standard_input

pytestmark = pytest.mark.thorough

FUNCTIONS, STATEMENTS = 10, 5
KINDS = (
    'require(n != {n}, "{text}");',
    'require(n != {n} && kept != n + 77, "{text}");',
    'if (n == {n}) revert("{text}");',
    "if (n == {n}) revert {error}();",
    "if (n != {n}) {{ kept = 1; }} else revert Odd(n);",
    "if (n == {n}) revert Odd({n});",
    "require(n != {n});",
    "assert(n != {n});",
    "if (n == {n}) kept = list[n + kept + 9];",
    "if (n == {n}) kept = 7 / (n - {n});",
    "if (n == {n}) kept = n - {n} - 1;",
    "if (n == {n}) assembly {{ revert(0, 0) }}",
    "if (n == {n}) assembly {{ mstore(0, 0x{selector}) revert(28, 4) }}",
    "_shared(n, {n});",
    'if (n == {n}) {{ string memory why = string(abi.encodePacked("{text}")); revert(why); }}',
    "kept = n + 1{n};",
)
TEXTS = ("no", "not now", "a text of more than thirty-two bytes, which takes two words")
ERRORS = ("Zero", "Other")
HEAD = """pragma solidity ^0.8.4;
contract Drawn {
    uint256 kept;
    uint256[] list;
    error Zero();
    error Other();
    error Odd(uint256 n);
    modifier sane(uint256 n) {
        require(n != 50, "no"); // 50
        _;
        if (n == 51) revert Zero(); // 51
    }
    function _shared(uint256 n, uint256 own) internal {
        require(n != own, "not now"); // shared
        kept = own;
    }
"""


def drawn(seed):
    """A source, and the line of each refusal by its function and argument."""
    lot, lines, expected = random.Random(seed), HEAD.split("\n")[:-1], {}
    line_of = {text.partition("// ")[2]: number for number, text in enumerate(lines, 1)}
    for function in range(FUNCTIONS):
        is_sane = lot.random() < 0.5
        lines.append(f"    function f{function}(uint256 n) external {'sane(n) ' * is_sane}{{")
        for n in range(STATEMENTS):
            kind, error = lot.choice(KINDS), lot.choice(ERRORS)
            selector = keccak(text=f"{error}()")[:4].hex()
            fields = {"n": n, "text": lot.choice(TEXTS), "error": error, "selector": selector}
            lines.append(f"        {kind.format(**fields)}")
            if not kind.startswith("kept"):
                is_shared = kind.startswith("_shared")
                expected[function, n] = line_of["shared"] if is_shared else len(lines)
        lines.append("        kept = n; }")
        if is_sane:
            expected |= {(function, n): line_of[str(n)] for n in (50, 51)}
    return "\n".join([*lines, "}"]), expected


LONG = [pytest.param(way, marks=pytest.mark.long) for way in WAYS if way != "IR optimized"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
@pytest.mark.parametrize("way", ["IR optimized", *LONG])
def test_no_refusal_of_a_drawn_contract_has_the_line_of_another(explorer, way, seed):
    (version, settings), (source, expected) = WAYS[way], drawn(seed)
    address = explorer.verified(
        standard_input({"Drawn.sol": source}, **settings), version, "Drawn.sol:Drawn"
    )
    anvil, sent = explorer.anvil, {}
    for function, n in expected:
        data = f"0x{keccak(text=f'f{function}(uint256)')[:4].hex()}{n:064x}"
        sent[function, n] = anvil.send(anvil.accounts[0], address, data=data, gas=300_000)
    explorer.wait_for_block(int(anvil.receipt_of([*sent.values()][-1])["blockNumber"], 16))
    lines = {}
    for key, hash_ in sent.items():
        error = explorer.client.get(f"/api/v1/transactions/{hash_}").json["error"]
        assert error is not None, (key, source)
        lines[key] = error["location"]["line"]
    wrong = {key: line for key, line in lines.items() if line not in (None, expected[key])}
    assert not wrong, (wrong, source)
    assert sum(line is not None for line in lines.values()) > len(lines) // 2
    print("DRAWN", way, seed, len(lines), sum(line is not None for line in lines.values()))
