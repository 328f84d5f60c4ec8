"""Refusals in libraries, free functions, operators, inherited constructors, modifiers and where
others are passed on: none has a line of another."""

from pathlib import Path

import pytest
from eth_utils import keccak

from tests.support.explorer import compiled, linked, standard_input
from tests.support.many_functions import VERSION

pytestmark = pytest.mark.thorough

SOURCE = Path(__file__).with_name("FurtherRefusals.sol").read_text()
AT = {
    name: number
    for number, line in enumerate(SOURCE.split("\n"), 1)
    for name in line.partition("// at: ")[2].split(", ")
    if name
}
OPTIMIZED = {"enabled": True, "runs": 200}
WAYS = {
    "plain": {"optimizer": {"enabled": False}},
    "optimized": {"optimizer": OPTIMIZED},
    "many runs": {"optimizer": OPTIMIZED | {"runs": 1_000_000}},
    "IR": {"optimizer": {"enabled": False}, "viaIR": True},
    "IR optimized": {"optimizer": OPTIMIZED, "viaIR": True},
    "IR many runs": {"optimizer": OPTIMIZED | {"runs": 1_000_000}, "viaIR": True},
}
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
    name: (f"0x{keccak(text=f'{function}(uint256)')[:4].hex()}{int(n):064x}", 0)
    for name, function, n in (call.split(":") for call in _CALLS.split())
}
SLICED = keccak(text="sliced(bytes,uint256)")[:4].hex()
CALLS |= {
    "slicedIndex": (f"0x{SLICED}{64:064x}{5:064x}{1:064x}{'ab':0<64}", 0),
    "receiveText": ("0x", 1),
    "receiveError": ("0x", 2),
    "fallbackText": ("0x12345678", 0),
    "fallbackError": ("0x" + 101 * "ab", 0),
}
CREATIONS = {
    "inheritedConstructor": 1000,
    "inheritedConstructorError": 1001,
    "middleConstructor": 2000,
    "ownConstructor": 3000,
}
# What passes a refusal on has one inside: the other's line is as right.
INSIDE = {"bubbled": "twinSameOther", "rethrownText": "twinOther"}


# How many refusals at least have their line: of the others the function is known.
LINES = {
    "plain": 66,
    "optimized": 60,
    "many runs": 60,
    "IR": 60,
    "IR optimized": 27,
    "IR many runs": 27,
}
LONG = [pytest.param(way, marks=pytest.mark.long) for way in WAYS if way != "IR optimized"]


@pytest.mark.parametrize("way", ["IR optimized", *LONG])
def test_no_refusal_has_the_line_of_another(explorer, way):
    standard = standard_input({"Further.sol": SOURCE}, **WAYS[way])
    made = {
        name: compiled(VERSION, standard, "Further.sol", name).creation
        for name in ("Stored", "Twin", "Further")
    }
    verified = {
        name: explorer.verified(standard, VERSION, f"Further.sol:{name}")
        for name in ("Stored", "Twin")
    }
    creation = linked(made["Further"], verified["Stored"])
    twin = f"{int(verified['Twin'], 16):064x}"
    address = explorer.verified(
        standard, VERSION, "Further.sol:Further", f"{7:064x}{twin}", creation
    )
    anvil, sent = explorer.anvil, {}
    for name, (data, value) in CALLS.items():
        fields = {"data": data, "value": hex(value), "gas": 500_000}
        sent[name] = anvil.send(anvil.accounts[0], address, **fields)
    for name, kind in CREATIONS.items():
        data = f"0x{creation}{kind:064x}{twin}"
        sent[name] = anvil.send(anvil.accounts[0], None, data=data, gas=9_000_000)
    receipts = [anvil.receipt_of(hash_) for hash_ in sent.values()]
    assert {receipt["status"] for receipt in receipts} == {"0x0"}
    explorer.wait_for_block(int(receipts[-1]["blockNumber"], 16))
    located = {
        name: explorer.client.get(f"/api/v1/transactions/{hash_}").json["error"]["location"]
        for name, hash_ in sent.items()
    }
    assert all(location["function"] for location in located.values())
    lines = {name: location["line"] for name, location in located.items() if location["line"]}
    wrong = {
        name: line
        for name, line in lines.items()
        if line not in (AT[name], AT.get(INSIDE.get(name)))
    }
    assert wrong == {}
    assert len(lines) >= LINES[way], {*located} - {*lines}
