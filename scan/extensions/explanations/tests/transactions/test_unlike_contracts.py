"""Contracts of other designs than those of test_reasons_and_lines: one whose refusals differ, and
one whose functions, modifiers, libraries and called contracts refuse with the same words."""

import re
from pathlib import Path

import pytest
from eth_utils import keccak

from tests.support.explorer import standard_input

pytestmark = pytest.mark.thorough

OPTIMIZER = {"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "paris"}
WAYS = {
    "IR": {**OPTIMIZER, "viaIR": True},
    "optimized": OPTIMIZER,
    "plain": {"evmVersion": "paris"},
}
# Of how many refusals at least the line is told, beside all; of others only the function is known.
TOLD = {
    "Vault": {"IR": (24, 44), "optimized": (40, 44), "plain": (44, 44)},
    "Alike": {"IR": (21, 36), "optimized": (29, 36), "plain": (36, 36)},
}
LONG = [pytest.param(way, marks=pytest.mark.long) for way in WAYS if way != "IR"]


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("way", ["IR", *LONG])
def test_no_refusal_has_the_line_of_another(explorer, name, way):
    """A line's comment names the functions that fail in it, whose names end with an underscore."""
    source = (Path(__file__).parent / f"{name}.sol").read_text()
    standard = standard_input({"A.sol": source}, **WAYS[way])
    address = explorer.verified(standard, "0.8.28", f"A.sol:{name}")
    marks = [re.search(r"// (.+)$", line) for line in source.split("\n")]
    lines = {word: n for n, mark in enumerate(marks, 1) if mark for word in mark[1].split()}
    anvil, sent = explorer.anvil, {}
    for function, kind in re.findall(r"function (\w+)_\((\w+)[^)]*\) external", source):
        selector = keccak(text=f"{function}_({kind})")[:4].hex()
        words = f"{0:064x}" if kind != "bytes" else f"{32:064x}{2:064x}{'0101':0<64}"
        sender = anvil.accounts[1 if function == "owner" else 0]
        sent[function] = anvil.send(sender, address, data=f"0x{selector}{words}", gas=1_000_000)
    explorer.wait_for_block(int(anvil.receipt_of([*sent.values()][-1])["blockNumber"], 16))
    errors = {
        function: explorer.client.get(f"/api/v1/transactions/{hash_}").json["error"]
        for function, hash_ in sent.items()
    }
    error_lines = {function: error["location"]["line"] for function, error in errors.items()}
    known_lines = {function: line for function, line in error_lines.items() if line is not None}
    assert known_lines == {function: lines[function] for function in known_lines}
    told, count = TOLD[name][way]
    assert len(sent) == count and len(known_lines) >= told, len(known_lines)
