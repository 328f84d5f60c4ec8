"""No refusal has a line of another, in contracts drawn by lot, whose functions, modifiers,
libraries and called contracts share texts, errors and checks."""

import random
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions.ways import WAYS
from tests.support.anvil import calldata
from tests.support.explorer import standard_input
from tests.support.many_functions import VERSION

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


def drawn(seed, version):
    """A source, and the line of each refusal by its function and argument."""
    lot, expected = random.Random(seed), {}
    whole = Path(__file__).with_name("Drawn.sol").read_text()
    lines = whole.split("\n")[:-2]  # without the contract's end
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


LONG = [
    pytest.param(way, seed, marks=pytest.mark.long)
    for way in ("plain", "optimized", "many runs", "IR", "IR by steps", "older", "IR optimized")
    for seed in (2, 3)
]


@pytest.mark.parametrize(("way", "seed"), [("IR optimized", 1), ("optimized", 2), *LONG])
def test_no_refusal_has_the_line_of_another(explorer, way, seed):
    """Each has its line or none, and the function that it belongs to."""
    version, settings = (VERSION, WAYS[way]) if way in WAYS else ("0.8.4", WAYS["optimized"])
    source, expected = drawn(seed, version)
    standard = standard_input({"Drawn.sol": source}, **settings)
    address = explorer.verified(standard, version, "Drawn.sol:Drawn")
    anvil, sent = explorer.anvil, {}
    for function, n in expected:
        data = calldata(f"f{function}(uint256)", n)
        sent[function, n] = anvil.send(anvil.accounts[0], address, data=data, gas=300_000)
    locations = {key: error["location"] for key, error in explorer.errors(sent).items()}
    assert all(location["function"] for location in locations.values())
    lines = {key: location["line"] for key, location in locations.items() if location["line"]}
    assert lines == {key: expected[key] for key in lines}
    assert len(lines) > len(sent) // 3
