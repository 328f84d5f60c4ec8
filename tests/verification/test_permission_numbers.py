"""Numbers in sources that conditions on the caller depend on: those that are known, and others."""

import pytest
from eth_utils import keccak

from tests.support.vyper import Vyper
from tests.verification.test_permissions import OWNER, functions_of
from tests.verification.test_vyper_permissions import CHECK, source_with
from tests.verification.test_vyper_permissions import functions_of as functions_of_vyper

DECLARED = """
mapping(address => uint8) levels;
uint256 constant LARGE = 256;
bytes1 constant SHORT = 0x01;
bytes32 constant LONG = 0x0100000000000000000000000000000000000000000000000000000000000000;
"""
CHECKED = "require(msg.sender == owner);"
# Equalities that hold, though the numbers in the source differ, or the other way around.
OTHERS = f"""
if (uint8(uint256(256)) == 0) return; {CHECKED}
if (uint8(LARGE) == 0) return; {CHECKED}
uint256 large = 256; if (uint8(large) == 0) return; {CHECKED}
if (1 hours == 3600) return; {CHECKED}
if (1 ether == 1000000000000000000) return; {CHECKED}
if (SHORT == LONG) return; {CHECKED}
bytes1 short = 0x01; if (short == LONG) return; {CHECKED}
if (bytes32(SHORT) == LONG) return; {CHECKED}
if (bytes32("1") != bytes32(uint256(1))) return; {CHECKED}
require(levels[msg.sender] == uint8(LARGE));
""".strip().split("\n")
KNOWN = f"""
if (uint8(uint256(255)) == 0) return; {CHECKED}
if (LARGE != 256) return; {CHECKED}
if (address(uint160(2)) == address(0)) return; {CHECKED}
if (bytes32(uint256(1)) == bytes32(LARGE)) return; {CHECKED}
require(levels[msg.sender] == uint8(1));
""".strip().split("\n")
VYPER = f"""
if convert(TWO, bool) == True: return; {CHECK}
if convert(SHORT, bytes32) == LONG: return; {CHECK}
""".strip().split("\n")
VYPER_DECLARED = f"""
TWO: constant(uint256) = 2
SHORT: constant(bytes1) = 0x01
LONG: constant(bytes32) = 0x01{"00" * 31}
has_role: HashMap[bytes32, HashMap[address, bool]]
"""


def access_of(body: str) -> str:
    function = f"function f() external {{ {body} value = 1; }}"
    access: str = functions_of(f"{OWNER} {DECLARED} {function}")["f()"]["access"]
    return access


@pytest.mark.parametrize("body", OTHERS)
def test_numbers_that_conversions_and_units_change(body: str) -> None:
    assert access_of(body) == "unrecognised"


@pytest.mark.parametrize("body", KNOWN)
def test_numbers_that_stay(body: str) -> None:
    assert access_of(body) == "restricted"


@pytest.mark.parametrize("body", VYPER)
def test_numbers_that_conversions_of_vyper_change(vyper: Vyper, body: str) -> None:
    source = f"{source_with([body])}{VYPER_DECLARED}"
    assert functions_of_vyper(vyper, source)["f0"]["access"] == "unrecognised"


def test_hashes_of_what_is_no_text_are_not_known(vyper: Vyper) -> None:
    texts = ['keccak256("x")', f"keccak256(0x{1:064x})"]
    bodies = [f"assert self.has_role[{text}][msg.sender]" for text in texts]
    functions = functions_of_vyper(vyper, f"{source_with(bodies)}{VYPER_DECLARED}")
    roles = [functions[f"f{n}"]["conditions"][0]["callers"][0]["value"] for n in range(2)]
    assert roles == [f"0x{keccak(text='x').hex()}", None]
