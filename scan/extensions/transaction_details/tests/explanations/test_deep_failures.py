"""A cause deeper inside than lines are read, and more failed calls than lines are read of."""

from pathlib import Path

import pytest

from scan.extensions.transaction_details.explanations.failure_locations import MAX_LOCATIONS
from scan.extensions.transaction_details.gas_use.gas_of_calls import MAX_DEPTH
from scan.extensions.transaction_details.tests.explanations.test_failure_locations import VERSION
from tests.support.anvil import calldata
from tests.support.explorer import standard_input

PATH = "src/Deep.sol"
SOURCE = Path(__file__).with_name("Deep.sol").read_text()
BOTTOM, CALL, MANY = 6, 8, 15


@pytest.fixture(scope="module")
def deep(explorer):
    standard = standard_input({PATH: SOURCE}, evmVersion="cancun")
    return explorer.verified(standard, VERSION, f"{PATH}:Deep")


def test_the_line_is_that_of_the_innermost_call(explorer, deep):
    sent = explorer.send(deep, calldata("down(uint256)", MAX_LOCATIONS + 5), gas=1_000_000)
    error = explorer.client.get(f"/api/v1/transactions/{sent}").json["error"]
    assert error["reverting"]["depth"] == MAX_LOCATIONS + 5
    assert error["location"]["line"] == BOTTOM
    frames = explorer.client.get(f"/api/v1/transactions/{sent}/trace").json["frames"]
    lines = [(frame["error"]["location"] or {}).get("line") for frame in frames]
    assert lines == [None] * 6 + [CALL] * (MAX_LOCATIONS - 1) + [BOTTOM]


def test_the_line_of_a_simulated_call_is_that_of_the_innermost(explorer, deep):
    body = {"calls": [{"to": deep, "data": calldata("down(uint256)", MAX_LOCATIONS + 5)}]}
    [outcome] = explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert outcome["error"]["location"]["line"] == BOTTOM


def test_failed_calls_inside_do_not_take_the_place_of_the_cause(explorer, deep):
    sent = explorer.send(deep, calldata("many(uint256)", MAX_LOCATIONS + 5), gas=1_000_000)
    frames = explorer.client.get(f"/api/v1/transactions/{sent}/trace").json["frames"]
    lines = [(frame["error"]["location"] or {}).get("line") for frame in frames]
    assert lines == [MANY] + [BOTTOM] * (MAX_LOCATIONS - 1) + [None] * 6


def test_the_picture_of_the_gas_says_that_it_has_not_all_calls(explorer, deep):
    sent = explorer.send(deep, calldata("down(uint256)", MAX_DEPTH + 5), gas=1_000_000)
    page = explorer.client.get(f"/tx/{sent}?tab=gas").text
    assert f"{MAX_DEPTH + 6} calls in total; the picture has {MAX_DEPTH} of them" in page
    sent = explorer.send(deep, calldata("down(uint256)", 3), gas=1_000_000)
    page = explorer.client.get(f"/tx/{sent}?tab=gas").text
    assert "4 calls in total. The outermost" in page
