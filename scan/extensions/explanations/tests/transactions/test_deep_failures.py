"""Failures that cost much to explain: deep ones, and nodes that take long for tracers."""

from pathlib import Path

import pytest

from scan.extensions.explanations.gas_use.gas_of_calls import MAX_DEPTH
from scan.extensions.explanations.tests.transactions import test_failure_locations
from scan.extensions.explanations.tests.transactions.failing_lines import line_of
from scan.extensions.explanations.tests.transactions.test_failure_locations import VERSION
from scan.extensions.explanations.transactions.failure_locations import MAX_LOCATIONS
from scan.extensions.traces.step_traces import LEAST_STEPS, TOO_SLOW, bounded
from tests.support import explorer, faulty_node
from tests.support.anvil import calldata
from tests.support.explorer import standard_input

pytestmark = pytest.mark.thorough

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


COUNTING = """{
    step: function(log, db) {},
    fault: function(log, db) {},
    result: function(context, db) { return this.stepped; }
}"""
# With data a loop; without, a call of itself with data, 100,000 gas and no care, then the loop.
LOOPS = "0x" + "36601157" + "5f5f60015f5f30620186a0f150" + "5b601156"
ADDRESS = f"0x{0xABCDEF:040x}"


@pytest.fixture(scope="module")
def failing(explorer):  # the fixture
    return test_failure_locations.deployed(explorer, "plain")


def is_in_javascript(call):
    options = [param for param in call["params"] if isinstance(param, dict)]
    return any("Date.now()" in str(option.get("tracer")) for option in options)


answer_slowly = faulty_node.replacing(is_in_javascript, TOO_SLOW)


def test_a_tracer_ends_all_calls_when_its_time_is_over(explorer):
    def traced(most_ms, result=f"return '{TOO_SLOW}'"):
        options = bounded(COUNTING, most_ms)
        tracer = options["tracer"].replace(f"return '{TOO_SLOW}'", result)
        overrides = {ADDRESS: {"code": LOOPS}}
        call = {"to": ADDRESS, "gas": hex(300_000)}
        options = {**options, "tracer": tracer, "stateOverrides": overrides}
        return explorer.anvil.call("debug_traceCall", call, "latest", options)

    assert traced(600_000) > 2 * LEAST_STEPS
    assert traced(-1) == TOO_SLOW
    assert traced(-1, "return this.stepped") < LEAST_STEPS + 100


def test_a_simulated_call_has_its_line_where_the_tracer_is_slow(failing):
    body = {"calls": [{"to": failing.address, "data": test_failure_locations.call_of("text")}]}
    with explorer.behind(failing.explorer.settings, answer_slowly) as (client, _):
        answer = client.post("/api/v1/simulate", json=body)
    [outcome] = answer.json["calls"]
    assert outcome["error"]["location"]["line"] == line_of("text")


def test_a_transaction_has_no_line_where_the_tracer_is_slow(failing):
    sent = failing.transaction(test_failure_locations.call_of("text"))["hash"]
    listings = []

    def note(calls, forward):
        listings.extend(filter(test_failure_locations.asks_for_steps, calls))
        return answer_slowly(calls, forward)

    with explorer.behind(failing.explorer.settings, note) as (client, _):
        answer = client.get(f"/api/v1/transactions/{sent}")
    assert (answer.status_code, answer.json["error"]["location"]) == (200, None)
    assert listings == []
