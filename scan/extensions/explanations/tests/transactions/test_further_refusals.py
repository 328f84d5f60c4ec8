"""No refusal has a line of another: in libraries, free functions, operators, inherited
constructors, modifiers and where others are passed on; in a contract whose refusals differ, and one
whose functions, modifiers, libraries and called contracts refuse with the same words; in contracts
drawn by lot, whose functions share texts, errors and checks."""

import random
import re
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions.ways import WAYS, marked_lines
from tests.support.anvil import calldata
from tests.support.explorer import compiled, linked, standard_input
from tests.support.many_functions import VERSION

pytestmark = pytest.mark.thorough

SOURCE = Path(__file__).with_name("FurtherRefusals.sol").read_text()
AT = marked_lines(SOURCE)
_CALLS = """
    operatorPlus:operators:1 operatorSum:operators:8 operatorMinus:operators:2
    operatorDifference:operators:5 operatorSame:operators:3 freeFirst:free:0 freeSecond:free:1
    freeOwn:free:2 libraryOdd:halved:1 libraryEven:halved:2 libraryOther:halved:4
    uncheckedSum:summed:1 safeSub:subtracted:6 safeSubOwn:subtracted:0 delegatedStale:stored:0
    delegatedText:stored:1 delegatedUnderflow:stored:11 lockedTwice:inside:1 modifierBefore:middle:0
    modifierAfter:middle:1 modifierAfterError:middle:2 outerLimit:both:100 outerAfter:both:3
    bothOwn:both:4 rethrownText:rethrowing:0 rethrownPrefix:rethrowing:1 wrapped:wrapping:0
    bubbled:bubbling:1 twinOwn:twins:0 twinSameOther:twins:1 twinSameOwn:twins:2
    assembledError:assembled:0 assembledEmpty:assembled:1 insufficient:assembled:2
    insufficientOther:assembled:3 inlineSmall:inlined:1 inlineLarge:inlined:11 inlineNever:inlined:2
    shortOwn:short:1 shortInside:short:3 fixedIndex:placed:4 fixedIndexOther:placed:11
    spentBalance:spent:1 movedBalance:moved:1 loopedText:looped:9 loopedAfter:looped:3
    internalA:viaInternal:0 internalB:viaInternal:1 sentCoin:sent:1 negated:signed:0
    dividedByMinusOne:signed:1 raised:signed:256 multiplied:signed:2
    caughtBefore:caughtBefore:0 refusedText:caughtBefore:1 encodedFirst:encoded:0
    encodedSecond:encoded:1 encodedOwn:encoded:2 encodedLocked:encoded:3
"""
CALLS = {
    name: (calldata(f"{function}(uint256)", int(n)), 0)
    for name, function, n in (call.split(":") for call in _CALLS.split())
}
CALLS |= {
    "slicedIndex": (calldata("sliced(bytes,uint256)", b"\xab", 5), 0),
    "receiveText": ("0x", 1),
    "receiveError": ("0x", 2),
    "fallbackText": ("0x12345678", 0),
    "fallbackError": ("0x" + 101 * "ab", 0),
}


# How many refusals at least have their line: of the others the function is known.
LINES = {
    "plain": 66,
    "optimized": 60,
    "many runs": 60,
    "IR": 60,
    "IR optimized": 27,
    "IR many runs": 27,
}


def of(first, *others):
    """The others are run before a release alone."""
    return [first, *(pytest.param(way, marks=pytest.mark.long) for way in others if way != first)]


def require_lines(explorer, sent, at, least):
    """Each refusal has one of its lines or none, and at least so many have one."""
    locations = {key: error["location"] for key, error in explorer.errors(sent).items()}
    assert all(location["function"] for location in locations.values())
    lines = {key: location["line"] for key, location in locations.items() if location["line"]}
    assert {key: line for key, line in lines.items() if line not in at[key]} == {}
    assert len(lines) >= least, {*locations} - {*lines}


@pytest.mark.parametrize("way", of("IR optimized", *LINES))
def test_no_refusal_has_the_line_of_another(explorer, way):
    # What passes a refusal on has one inside: the other's line is as right.
    inside = {"bubbled": "twinSameOther", "rethrownText": "twinOther"}
    creations = {
        "inheritedConstructor": 1000,
        "inheritedConstructorError": 1001,
        "middleConstructor": 2000,
        "ownConstructor": 3000,
    }
    standard = standard_input({"Further.sol": SOURCE}, **WAYS[way])
    stored, twin = (
        explorer.verified(standard, VERSION, f"Further.sol:{name}") for name in ("Stored", "Twin")
    )
    creation = linked(compiled(VERSION, standard, "Further.sol", "Further").creation, stored)
    twin = f"{int(twin, 16):064x}"
    address = explorer.verified(
        standard, VERSION, "Further.sol:Further", f"{7:064x}{twin}", creation
    )
    anvil = explorer.anvil
    one = anvil.accounts[0]
    sent = {
        name: anvil.send(one, address, data=data, value=value, gas=500_000)
        for name, (data, value) in CALLS.items()
    }
    for name, kind in creations.items():
        data = f"0x{creation}{kind:064x}{twin}"
        sent[name] = anvil.send(one, None, data=data, gas=9_000_000)
    at = {name: (AT[name], AT.get(inside.get(name))) for name in sent}
    require_lines(explorer, sent, at, LINES[way])


# Of how many refusals at least the line is told, beside all; of others only the function is known.
TOLD = {
    "Vault": {"IR optimized": (24, 44), "optimized": (40, 44), "plain": (44, 44)},
    "Alike": {"IR optimized": (21, 36), "optimized": (29, 36), "plain": (36, 36)},
}


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("way", of("IR optimized", "optimized", "plain"))
def test_nor_in_contracts_of_other_designs(explorer, name, way):
    """The functions' names end with an underscore, and are the marks without it."""
    source = Path(__file__).with_name(f"{name}.sol").read_text()
    standard = standard_input({"A.sol": source}, **WAYS[way], evmVersion="paris")
    address = explorer.verified(standard, VERSION, f"A.sol:{name}")
    anvil, sent = explorer.anvil, {}
    for function, kind in re.findall(r"function (\w+)_\((\w+)[^)]*\) external", source):
        data = calldata(f"{function}_({kind})", b"\1\1" if kind == "bytes" else 0)
        sender = anvil.accounts[1 if function == "owner" else 0]
        sent[function] = anvil.send(sender, address, data=data, gas=1_000_000)
    told, count = TOLD[name][way]
    assert len(sent) == count
    at = {function: (number,) for function, number in marked_lines(source).items()}
    require_lines(explorer, sent, at, told)


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


DRAWN_WAYS = ("plain", "optimized", "many runs", "IR", "IR by steps", "older")


@pytest.mark.parametrize("seed", of(1, 2, 3))
@pytest.mark.parametrize("way", of("IR optimized", *DRAWN_WAYS))
def test_nor_in_a_drawn_contract(explorer, way, seed):
    version, settings = (VERSION, WAYS[way]) if way in WAYS else ("0.8.4", WAYS["optimized"])
    source, expected = drawn(seed, version)
    standard = standard_input({"Drawn.sol": source}, **settings)
    address = explorer.verified(standard, version, "Drawn.sol:Drawn")
    anvil, sent = explorer.anvil, {}
    for function, n in expected:
        data = calldata(f"f{function}(uint256)", n)
        sent[function, n] = anvil.send(anvil.accounts[0], address, data=data, gas=300_000)
    at = {key: (line,) for key, line in expected.items()}
    require_lines(explorer, sent, at, len(sent) // 3 + 1)
