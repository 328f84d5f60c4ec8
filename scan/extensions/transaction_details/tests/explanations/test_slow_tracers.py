"""Nodes that take long for tracers in JavaScript, and anvil, which does not end them itself."""

import pytest

from scan.extensions.internal_transfers.step_traces import LEAST_STEPS, TOO_SLOW, bounded
from scan.extensions.transaction_details.tests.explanations import test_failure_locations
from scan.extensions.transaction_details.tests.explanations.failing_lines import line_of
from tests.support import explorer, faulty_node

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
        lines = client.get(f"/api/v1/transactions/{sent}/gas/lines")
    assert (answer.status_code, answer.json["error"]["location"]) == (200, None)
    assert "too slowly" in str(lines.json)
    assert lines.status_code == 502
    assert listings == []
