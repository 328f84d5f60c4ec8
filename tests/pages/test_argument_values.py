"""Decoded values, as pages show them."""

import pytest

from scan.contracts.abi_decoding import Argument
from scan.pages.records import MOST_LISTED, listed_values, shown_value

pytestmark = pytest.mark.check

LARGEST, COIN = 2**256 - 1, {"type": "BEP20", "decimals": 6}
TRANSFER, APPROVE = "transfer(address,uint256)", "approve(address,uint256)"
POWER, DEPOSIT = "1.157…·10⁷⁷", "Deposit(address,uint256)"


@pytest.mark.parametrize(
    ("type_", "value", "name", "context", "text", "has_raw"),
    [
        ("uint256", "1500000", "", (1, TRANSFER, COIN), "1.5", True),
        ("uint256", "1500000", "", (1, TRANSFER, {**COIN, "type": "BEP721"}), "1,500,000", True),
        ("uint256", "1500000", "", (0, "stake(uint256)", COIN), "1,500,000", True),
        ("uint256", "7", "", (1, TRANSFER, {**COIN, "decimals": 255}), "7·10⁻²⁵⁵", True),
        ("uint256", str(LARGEST), "", (1, TRANSFER, COIN), "largest uint256", True),
        ("uint256", str(LARGEST - 1), "", (1, APPROVE, COIN), "unlimited", True),
        ("uint256", str(2**255 - 1), "", (1, APPROVE, COIN), "5.789…·10⁷⁰", True),
        ("uint256", str(LARGEST - 1), "", (1, APPROVE, {**COIN, "type": "BEP721"}), POWER, True),
        ("uint256", "2800000", "", (1, DEPOSIT, {**COIN, "wraps": True}), "2.8", True),
        ("uint256", "2800000", "", (1, DEPOSIT, COIN), "2,800,000", True),
        ("int256", "-1234567", "", (0,), "-1,234,567", True),
        ("uint256", "1700000000", "_deadline", (0,), "2023-11-14 22:13:20 UTC", True),
        ("uint256", "17", "deadline", (0,), "17", False),
        ("uint256", str(10**60), "x", (0,), "1·10⁶⁰", True),
        ("uint256", str(LARGEST - 1), "id", (0,), str(LARGEST - 1), False),
        ("int256", str(1 - 2**255), "", (0,), "-5.789…·10⁷⁶", True),
        ("uint256[]", ["12345678"], "", (0,), '["12345678"]', False),
    ],
)
def test_decoded_numbers_are_shown_in_units(type_, value, name, context, text, has_raw):
    shown = shown_value(Argument(name, type_, value), *context)
    assert (shown.text, shown.raw) == (text, value if has_raw else None)


def test_a_result_has_the_units_of_its_token():
    supply = shown_value(Argument("", "uint256", "5"), 0, "totalSupply()", COIN, is_result=True)
    assert (supply.text, supply.raw) == ("0.000005", "5")


@pytest.mark.parametrize(
    ("type_", "value", "is_hashed", "listed"),
    [
        ("uint256[2]", ["1", "2"], False, ["1", "2"]),
        ("address[]", ["0xa"] * 900, False, ["0xa"] * MOST_LISTED),
        ("address[][]", [["0xa"]], False, []),
        ("address[]", "0xa", True, []),
        ("address[]", None, False, []),
    ],
)
def test_arrays_of_simple_values_are_lists_up_to_a_bound(type_, value, is_hashed, listed):
    assert [*listed_values(Argument("", type_, value, is_hashed))] == listed
