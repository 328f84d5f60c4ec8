"""The line in which a call failed, for failures of all kinds, by several ways to compile; also of
those that cost much to explain: deep ones, and where nodes take long for tracers."""

import json
from collections import namedtuple
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.explanations.tests.transactions.ways import WAYS
from scan.extensions.explanations.transactions import failure_locations
from scan.extensions.explanations.transactions.failing_steps import STRUCT_LOGS, TRACER
from scan.extensions.explanations.transactions.failure_locations import of_steps
from scan.extensions.traces.step_traces import LEAST_STEPS, TOO_SLOW, bounded
from tests.support.anvil import calldata
from tests.support.database import execute
from tests.support.explorer import behind, standard_input
from tests.support.faulty_node import before, refuse, replacing
from tests.support.solidity import marked_line

VERSION = "0.8.28"
FAILING = Path(__file__).with_name("Failing.sol").read_text()
PATH = "src/Failing.sol"


def line_of(mark):
    return marked_line(FAILING, f"// fails: {mark}")


class Deployed(namedtuple("Deployed", "way explorer address inner")):
    def transaction(self, data):
        return self.explorer.transact(self.address, data, gas=100_000)


def call_of(name, argument=0, type_="uint256"):
    return f"0x{keccak(text=f'{name}({type_})')[:4].hex()}{argument:064x}"


def runs_javascript(call):
    return TRACER in call["params"]


def asks_for_steps(call):
    return STRUCT_LOGS in call["params"]


def deployed(explorer, way):
    standard = standard_input({PATH: FAILING}, **WAYS[way], evmVersion="cancun")
    inner = explorer.verified(standard, VERSION, f"{PATH}:Inner", f"{5:064x}")
    outer = explorer.verified(standard, VERSION, f"{PATH}:Failing", f"{int(inner, 16):064x}")
    return Deployed(way, explorer, outer, inner)


LONG = [pytest.param(way, marks=pytest.mark.long) for way in ("optimized", "IR optimized")]


@pytest.fixture(scope="module", params=["plain", *LONG])
def failing(request, explorer):
    yield deployed(explorer, request.param)


def expected_line(name, mark):
    """The marked line; of a loop any line may be the last."""
    marked, lines = line_of(mark), FAILING.split("\n")
    if name != "gas":
        return range(marked, marked + 1)
    first = next(n for n, text in enumerate(lines) if "for (uint256 i" in text)
    return range(first + 1, marked + 1)


@pytest.mark.parametrize(
    "name",
    tuple(
        "text bare plainRevert revertText custom named asserted add subtract multiply power"
        " divide modulo negate small element memoryElement fixedElement byteAt pop convert"
        " allocate pointer absent notThere passOn caught lowLevel transferred inModifier"
        " inLibrary inPrivate decoded sliced created assembled invalid gas delegated"
        " reentered".split()
    ),
)
def test_the_line_of_each_kind_of_failure(failing, name):
    # Marks of functions whose failure is elsewhere than in themselves.
    marks = {"inModifier": "modifier", "inLibrary": "library"}
    functions = {"inModifier": "onlyOwner", "inLibrary": "atMost", "inPrivate": "_two"}
    error = failing.transaction(call_of(name))["error"]
    location = error["location"]
    mark = {"passOn": "inner", "reentered": "text"}.get(name) or marks.get(name, name)
    assert location is not None, error
    assert location["file"] == PATH
    expected = {"passOn": "refuse", "reentered": "text"}.get(name) or functions.get(name, name)
    is_merged = failing.way != "plain" and location["line"] is None
    assert is_merged or location["line"] in expected_line(name, mark), location
    assert location["function"] in ((expected, name) if is_merged else (expected,))
    assert is_merged or location["source"] in FAILING.split("\n")[location["line"] - 1]


def test_a_check_that_the_compiler_generates_is_said_to_be_one(explorer):
    optimized = deployed(explorer, "optimized")
    error = optimized.transaction(call_of("wrongType", 2, "bool"))["error"]
    location = error["location"]
    assert (location["function"], location["generated"]) == ("wrongType", True)


def test_each_call_of_the_trace_that_failed_has_its_line(failing):
    sent = failing.transaction(call_of("caught"))["hash"]
    own, inside = failing.explorer.frames(sent)
    assert own["error"]["location"]["function"] == "caught"
    assert inside["error"]["location"]["line"] in expected_line("refuse", "inner")
    assert inside["error"]["location"]["address"] == failing.inner


def test_a_function_that_is_not_there(failing):
    location = failing.transaction("0xdeadbeef")["error"]["location"]
    assert (location["function"], location["source"]) == (None, "contract Failing {")


def test_the_page_shows_the_line_and_links_to_it(failing):
    sent = failing.transaction(call_of("text"))["hash"]
    page = failing.explorer.client.get(f"/tx/{sent}").text
    number = line_of("text")
    link = f"/address/{failing.address}?tab=contract&amp;file=src/Failing.sol#L{number}"
    assert link in page.replace("&file", "&amp;file")
    assert f'<span data-line="{number}" class=hit>' in page
    assert f'<span data-line="{number - 2}">' in page
    tab = failing.explorer.client.get(f"/address/{failing.address}?tab=contract&file={PATH}").text
    assert f"<span id=L{number}" in tab
    tree = failing.explorer.client.get(f"/tx/{sent}?tab=calls").text
    assert f"<bdi>{PATH}</bdi>, line {number}" in tree


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["passOn", "add", "created", "caught", "delegated", "gas"])
def test_steps_stand_for_a_tracer_that_the_node_does_not_run(failing, name):
    record = failing.transaction(call_of(name))
    sent, expected = record["hash"], record["error"]["location"]
    # All of them, as geth gives them; anvil does so only where it is started to.
    tracer = {"tracer": Path(__file__).with_name("all_steps.js").read_text()}
    steps = failing.explorer.anvil.call("debug_traceTransaction", sent, tracer)
    refusing = refuse(runs_javascript, -32000, "TypeError: tracer not found")
    fault = before(refusing, replacing(asks_for_steps, steps))
    with behind(failing.explorer.settings, fault) as (client, _):
        answer = client.get(f"/api/v1/transactions/{sent}").json
    assert answer["error"]["location"] == expected
    assert expected is not None


def test_without_either_the_line_is_not_known(failing):
    sent = failing.transaction(call_of("custom"))["hash"]
    fault = refuse(lambda call: runs_javascript(call) or asks_for_steps(call))
    with behind(failing.explorer.settings, fault) as (client, _):
        error = client.get(f"/api/v1/transactions/{sent}").json["error"]
    assert (error["name"], error["location"]) == ("Plain", None)


LIES = {
    "no steps": "[]",
    "text": '[["a", "b"]]',
    "offsets beyond the code": "[[[], [999999999]]]",
    "negative offsets": "[[[], [-5]]]",
    "too many": f"[[[], [{','.join(['0'] * 5000)}]]]",
    "no numbers": '{"structLogs": [{"depth": "x", "pc": null, "op": 5}]}',
    "depths that jump": '{"structLogs": [{"depth": 9, "pc": 0, "op": "STOP"}]}',
}


@pytest.mark.thorough
@pytest.mark.parametrize("failing", ["plain"], indirect=True)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_node_that_lies_about_steps_breaks_nothing(failing, lie):
    sent = failing.transaction(call_of("text", 7))["hash"]
    fault = replacing(lambda call: runs_javascript(call) or asks_for_steps(call), json.loads(lie))
    with behind(failing.explorer.settings, fault) as (client, _):
        answer = client.get(f"/api/v1/transactions/{sent}")
    assert answer.status_code == 200
    assert answer.json["error"]["name"] == "Error"


def test_a_simulated_call_has_the_line_in_which_it_would_fail(failing):
    call = {"to": failing.address, "data": call_of("passOn")}
    body = {"calls": [call, {"to": failing.address, "data": call_of("text", 1)}], "trace": True}
    first, second = failing.explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert first["error"]["location"]["address"] == failing.inner
    assert first["error"]["location"]["line"] in expected_line("refuse", "inner")
    own, inside = first["frames"]
    assert own["error"]["location"]["function"] == "passOn"
    assert inside["error"]["location"] == first["error"]["location"]
    assert second["error"] is None
    path = f"/simulate?to={failing.address}&data={call_of('text')}"
    page = failing.explorer.client.get(path).text
    assert f'<span data-line="{line_of("text")}" class=hit>' in page


def test_code_that_the_client_replaces_has_no_line(failing):
    call = {"to": failing.address, "data": call_of("passOn")}
    own = {failing.address: {"code": "0x60006000fd"}}  # PUSH1 0 PUSH1 0 REVERT
    body = {"calls": [call], "overrides": own}
    [outcome] = failing.explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert outcome["error"]["location"] is None
    body |= {"overrides": {failing.inner: own[failing.address]}, "trace": True}
    [outcome] = failing.explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert outcome["frames"][1]["error"]["location"] is None
    assert outcome["error"]["location"]["address"] == failing.address


def test_other_code_that_stood_there_before_has_no_line(failing):
    url, address = failing.explorer.settings.database_url, bytes.fromhex(failing.address[2:])
    sources = failing.explorer.app.extensions["scan"].sources
    calls, steps = {(): failure_locations.FailedCall(address)}, lambda: {(): [0, 2, 4]}
    [(block,)] = execute(url, "SELECT block_number FROM contracts WHERE address = %s", address)
    assert isinstance(block, int)
    assert of_steps(sources, calls, (), steps, block)
    assert of_steps(sources, calls, (), steps, block - 1) == {}
    move = "UPDATE contract_creations SET address = %s WHERE address = %s"
    execute(url, move, address[::-1], address)  # its creation is not known
    try:
        assert of_steps(sources, calls, (), steps, block - 1)  # before its code was read first
    finally:
        execute(url, move, address, address[::-1])
    earlier = (address, block - 2)
    insert = "INSERT INTO contracts (address, block_number, code_hash) VALUES (%s, %s, %s)"
    execute(url, insert, *earlier, bytes(32))
    try:
        assert of_steps(sources, calls, (), steps, block)
        assert of_steps(sources, calls, (), steps, block - 1) == {}
    finally:
        delete = "DELETE FROM contracts WHERE address = %s AND block_number = %s"
        execute(url, delete, *earlier)


@pytest.mark.thorough
def test_the_line_is_that_of_the_innermost_call(explorer):
    source = Path(__file__).with_name("Deep.sol").read_text()
    standard = standard_input({"src/Deep.sol": source}, evmVersion="cancun")
    deep = explorer.verified(standard, VERSION, "src/Deep.sol:Deep")
    most = failure_locations.MAX_LOCATIONS
    record = explorer.transact(deep, calldata("down(uint256)", most + 5), gas=1_000_000)
    error = record["error"]
    assert error["reverting"]["depth"] == most + 5
    bottom, call = 6, 8
    assert error["location"]["line"] == bottom
    frames = explorer.frames(record["hash"])
    lines = [(frame["error"]["location"] or {}).get("line") for frame in frames]
    assert lines == [None] * 6 + [call] * (most - 1) + [bottom]


@pytest.mark.thorough
def test_a_tracer_ends_all_calls_when_its_time_is_over(explorer):
    # With data a loop; without, a call of itself with data, 100,000 gas and no care, then the loop.
    loops = "0x" + "36601157" + "5f5f60015f5f30620186a0f150" + "5b601156"
    address = f"0x{0xABCDEF:040x}"
    counting = """{
        step: function(log, db) {},
        fault: function(log, db) {},
        result: function(context, db) { return this.stepped; }
    }"""

    def traced(most_ms, result=f"return '{TOO_SLOW}'"):
        options = bounded(counting, most_ms)
        tracer = options["tracer"].replace(f"return '{TOO_SLOW}'", result)
        overrides = {address: {"code": loops}}
        call = {"to": address, "gas": hex(300_000)}
        options = {**options, "tracer": tracer, "stateOverrides": overrides}
        return explorer.anvil.call("debug_traceCall", call, "latest", options)

    assert traced(600_000) > 2 * LEAST_STEPS
    assert traced(-1) == TOO_SLOW
    assert traced(-1, "return this.stepped") < LEAST_STEPS + 100


@pytest.mark.thorough
def test_a_transaction_has_no_line_where_the_tracer_is_slow(failing):
    sent = failing.transaction(call_of("text"))["hash"]
    listings = []

    def is_in_javascript(call):
        options = [param for param in call["params"] if isinstance(param, dict)]
        return any("Date.now()" in str(option.get("tracer")) for option in options)

    def note(calls, forward):
        listings.extend(filter(asks_for_steps, calls))
        return replacing(is_in_javascript, TOO_SLOW)(calls, forward)

    with behind(failing.explorer.settings, note) as (client, _):
        answer = client.get(f"/api/v1/transactions/{sent}")
    assert (answer.status_code, answer.json["error"]["location"]) == (200, None)
    assert listings == []
