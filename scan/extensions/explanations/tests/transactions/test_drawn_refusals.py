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
    "require(n != {n}, Odd(n));",
    'require(n != {n}, string(abi.encodePacked("{text}", "!")));',
    'for (uint256 i; i < 3; i++) require(n != {n} || i != 2, "{text}");',
    "unchecked {{ if (n - {n} == 0) revert {error}(); }}",
    "kept = n == {n} ? _computed({n}) : n;",
    'if (n == {n}) try this.boom() {{ kept = 1; }} catch {{ revert("{text}"); }}',
    "if (n == {n}) this.boom();",
    "if (n == {n}) {{ (bool done, ) = address(this).delegatecall(hex'00');"
    ' require(done, "{text}"); }}',
    "if (n == {n}) new Child(n, {n});",
    "if (n == {n}) kept = pairs[n + 9].inner.a;",
    "if (n == {n}) kept = uint256(Kind(n + 200));",
    "if (n == {n}) {{ function() internal zero; zero(); }}",
    "if (n == {n}) list.pop();",
    "if (n == {n}) kept = abi.decode(hex'01', (uint256));",
    "if (n == {n}) Child(address(0x1234)).ping();",
    "if (n == {n}) payable(address(this)).transfer(1);",
    "freely(n, {n});",
    "n.check({n});",
    "hooked(n, {n});",
    "_guarded(n, {n});",
    "_pointed(n == {n} ? _refuse : _allow, n);",
)
# Those that refuse elsewhere, by the beginning of the statement.
ELSEWHERE = {
    "_shared": "shared",
    "kept = n == ": "computed",
    "if (n == {n}) this.boom": "boom",
    "freely": "free",
    "n.check": "library",
    "hooked": "base",
    "_guarded": "guard",
    "_pointed": "pointed",
}
TEXTS = ("no", "not now", "a text of more than thirty-two bytes, which takes two words")
ERRORS = ("Zero", "Other")
HEAD = """pragma solidity ^0.8.4;
error Loose(uint256 n);
function freely(uint256 n, uint256 own) pure {
    if (n == own) revert Loose(n); // free
}
library Checks {
    function check(uint256 n, uint256 own) internal pure {
        require(n != own, "no"); // library
    }
}
contract Child {
    constructor(uint256 n, uint256 own) {
        require(n != own, "not now");
    }
    function ping() external {}
}
abstract contract Base {
    uint256 kept;
    function hooked(uint256 n, uint256 own) internal virtual {
        require(n != own, "no"); // base
        kept = own;
    }
}
contract Drawn is Base {
    using Checks for uint256;
    struct Inner { uint256 a; }
    struct Pair { Inner inner; uint256 b; }
    enum Kind { A, B }
    Pair[] pairs;
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
    function hooked(uint256 n, uint256 own) internal override {
        super.hooked(n, own);
        if (n > 1000) kept = n;
    }
    modifier guarded(uint256 n, uint256 own) {
        require(n != own, "not now"); // guard
        _;
    }
    function _guarded(uint256 n, uint256 own) internal guarded(n, own) { kept = own; }
    function boom() external { if (kept + 1 > 0) revert Other(); kept = 3; } // boom
    function _computed(uint256 n) internal view returns (uint256) {
        if (n + kept + 1 > 0) revert Zero(); // computed
        return n;
    }
    function _allow(uint256 n) internal { kept = n; }
    function _refuse(uint256 n) internal { kept = n; revert Odd(n); } // pointed
    function _pointed(function(uint256) internal run, uint256 n) internal { run(n); }
"""


def drawn(seed, version="0.8.28"):
    """A source, and the line of each refusal by its function and argument."""
    lot, lines, expected = random.Random(seed), HEAD.split("\n")[:-1], {}
    takes_errors = [*map(int, version.split("."))] >= [0, 8, 27]
    line_of = {text.partition("// ")[2]: number for number, text in enumerate(lines, 1)}
    for function in range(FUNCTIONS):
        is_sane = lot.random() < 0.5
        lines.append(f"    function f{function}(uint256 n) external {'sane(n) ' * is_sane}{{")
        for n in range(STATEMENTS):
            kind, error = lot.choice(KINDS), lot.choice(ERRORS)
            if not takes_errors:  # in require()
                kind = kind.replace("require(n != {n}, Odd(n))", "if (n == {n}) revert Odd(n)")
            selector = keccak(text=f"{error}()")[:4].hex()
            fields = {"n": n, "text": lot.choice(TEXTS), "error": error, "selector": selector}
            lines.append(f"        {kind.format(**fields)}")
            if not kind.startswith("kept = n + 1"):
                at = next((at for of, at in ELSEWHERE.items() if kind.startswith(of)), None)
                expected[function, n] = line_of[at] if at else len(lines)
        lines.append("        kept = n; }")
        if is_sane:
            expected |= {(function, n): line_of[str(n)] for n in (50, 51)}
    return "\n".join([*lines, "}"]), expected


LONG = [pytest.param(way, marks=pytest.mark.long) for way in WAYS if way != "IR optimized"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
@pytest.mark.parametrize("way", ["IR optimized", *LONG])
def test_no_refusal_of_a_drawn_contract_has_the_line_of_another(explorer, way, seed):
    version, settings = WAYS[way]
    source, expected = drawn(seed, version)
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
    assert sum(line is not None for line in lines.values()) > len(lines) // 3
    print("DRAWN", way, seed, len(lines), sum(line is not None for line in lines.values()))
