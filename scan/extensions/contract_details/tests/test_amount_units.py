"""Amounts with units, read by the server for calls and by the script for what a wallet sends."""

import json
import subprocess
from functools import partial

import pytest

from scan.contracts.abi import parse_type
from scan.extensions.contract_details import contract_functions
from scan.pages.site import FOLDER
from tests.support import WAIT_S

pytestmark = pytest.mark.check

UNITS = contract_functions.amount_units(
    "ETH",
    [
        {"symbol": "USDC", "decimals": 6},
        *({"symbol": symbol, "decimals": 18} for symbol in ("CAKE", "cake")),
    ],
).all


def in_script(calls, expression):
    """What the page's script makes of each of `calls`: its value, or the text of its error."""
    run = f"""
    const document = {{
      currentScript: {{src: "http://a/static/x/y.js"}}, getElementById: () => null,
    }};
    {(FOLDER / "contract-write.js").read_text()}
    const units = {json.dumps(UNITS)};
    console.log(JSON.stringify({json.dumps(calls)}.map((call) => {{
      try {{ return [{expression}, null]; }} catch (error) {{ return [null, error.message]; }}
    }})));"""
    return json.loads(subprocess.check_output(["node", "-e", run], timeout=WAIT_S))


def test_server_and_script_read_the_same_amounts():
    read = ["1.5 ether", "3 gwei", " 2.5  USDC ", "0 wei", "-1.25 ETH", "000.10 USDC", "1.5 cake"]
    refused = (
        "1|1.5|0x12|| |ether|1.5ether|.5 ether|1. ether|1e3 wei|1,5 ETH|1 Ether|1 usdc|1.5 wei|"
        "1.0000001 USDC|1 __proto__|1 toString|\u0661 wei|1 CAKE|-1.50| 1.5 |1.5.5|1\tether|"
        "1 ether ether|--1 wei|1 \u00a0ETH"
    )

    def by_server(text):
        try:
            number = contract_functions.in_base_units(text, UNITS)
            return [None if number is None else str(number), None]
        except ValueError as error:
            return [None, str(error)]

    amounts = [*read, *refused.split("|"), "1 ether\n", "7" * 78 + " ether", "7" * 79 + " wei"]
    expected = [by_server(text) for text in amounts]
    assert expected[:3] == [["1500000000000000000", None], ["3000000000", None], ["2500000", None]]
    assert sum(number is not None for number, _ in expected) == 7
    assert in_script(amounts, "amountUnits.parse(call, units)") == expected


ORDER = {
    "type": "tuple",
    "components": [
        {"name": "amount", "type": "uint256"},
        {"name": "note", "type": "string"},
        {"name": "limits", "type": "int256[2][]"},
    ],
}


def test_amounts_inside_arrays_and_tuples_are_read_by_the_types_of_their_integers():
    number = f"[{10**40}, 1e3, -2.5e-1, null]"  # which stays as it is written
    inside = [
        ({"type": "uint256[]"}, '["1.5 ether", 7, "3"]', ["1500000000000000000", 7, "3"]),
        (
            ORDER,
            '["2 USDC", "2 USDC", [["1 gwei", -5]]]',
            ["2000000", "2 USDC", [["1000000000", -5]]],
        ),
        (
            {**ORDER, "type": "tuple[]"},
            '[{"note": "1 ether \\" 9", "amount": "1 wei", "more": "1 wei"}, "1 wei"]',
            [{"note": '1 ether " 9', "amount": "1", "more": "1 wei"}, "1 wei"],
        ),
        # What has no integers with units stays as it is written.
        ({"type": "string[]"}, '["1.5 ether"]', ["1.5 ether"]),
        ({"type": "uint256[]"}, '{"0": "1 ether"}', {"0": "1 ether"}),
    ]
    cases = [*inside, ({"type": "uint256[]"}, number, json.loads(number))]
    calls = [[text, contract_functions.shape_of(parse_type(type_))] for type_, text, _ in cases]
    expected = [value for *_, value in cases]
    in_service = contract_functions.in_base_units_within
    assert expected == [in_service(json.loads(text), shape, UNITS) for text, shape in calls]
    in_page = in_script(calls, "amountUnits.within(call[0], call[1], units)")
    in_page = [shown for shown, _ in in_page]
    assert in_page.pop() == number
    # The script has integers as text, which keeps all their digits.
    as_text = partial(json.loads, parse_int=str)
    assert [*map(as_text, in_page)] == [*map(as_text, map(json.dumps, expected[:-1]))]


def test_text_beside_amounts_stays_as_it_is_written():
    shape = contract_functions.shape_of(parse_type(ORDER))
    text = contract_functions.in_base_units_of_text('["1 wei", "na\u00efve", []]', shape, UNITS)
    assert text == '["1", "na\u00efve", []]'


@pytest.mark.parametrize(
    ("symbol", "decimals", "units"),
    [
        ("USDC", 6, {"ETH": 18, "USDC": 6}),
        ("ETH", 18, {"ETH": 18}),
        ("eth", 6, {}),  # beside it, the coin's symbol could be taken for the token's
        ("Ether", 6, {"ETH": 18}),
        ("WEI", 18, {"ETH": 18}),
        ("two words", 6, {"ETH": 18}),
        ("123", 6, {"ETH": 18}),
        ("\u202eCDSU", 6, {"ETH": 18}),
        ("x" * 31, 6, {"ETH": 18}),
        (None, 6, {"ETH": 18}),
    ],
)
def test_a_token_misleads_by_no_unit(symbol, decimals, units):
    fixed = {"wei": 0, "gwei": 9, "ether": 18}
    known = contract_functions.amount_units("ETH", [{"symbol": symbol, "decimals": decimals}]).all
    assert known == fixed | units
