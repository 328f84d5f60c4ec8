"""The line in which a call failed, for failures of all kinds, by several ways to compile."""

import json
from collections import namedtuple
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.explanations.tests.transactions.failing_lines import (
    FAILING,
    FUNCTIONS,
    MARKS,
    NAMES,
    PATH,
    line_of,
)
from scan.extensions.explanations.transactions.failing_steps import STRUCT_LOGS, TRACER
from scan.extensions.explanations.transactions.failure_locations import FailedCall, of_steps, read
from scan.extensions.traces.transaction_traces import TransactionTraces
from scan.queries.reader import Reader
from tests.support.database import execute
from tests.support.explorer import behind, standard_input
from tests.support.faulty_node import before, refuse, replacing

VERSION = "0.8.28"
SETTINGS = {
    "plain": {"optimizer": {"enabled": False}},
    "optimized": {"optimizer": {"enabled": True, "runs": 200}},
    "via IR": {"optimizer": {"enabled": True, "runs": 200}, "viaIR": True},
}


class Deployed(namedtuple("Deployed", "way explorer address inner")):
    def error(self, data, **fields):
        """What the API has of the failure of a call."""
        return self.transaction(data, **fields)["error"]

    def transaction(self, data, **fields):
        sent = self.explorer.send(self.address, data, gas=100_000, **fields)
        return self.explorer.client.get(f"/api/v1/transactions/{sent}").json


def call_of(name, argument=0, type_="uint256"):
    return f"0x{keccak(text=f'{name}({type_})')[:4].hex()}{argument:064x}"


def location_of(client, transaction):
    return client.get(f"/api/v1/transactions/{transaction}").json["error"]["location"]


def runs_javascript(call):
    return TRACER in call["params"]


def asks_for_steps(call):
    return STRUCT_LOGS in call["params"]


def deployed(explorer, way):
    standard = standard_input({PATH: FAILING}, **SETTINGS[way], evmVersion="cancun")

    inner = explorer.verified(standard, VERSION, f"{PATH}:Inner", f"{5:064x}")
    outer = explorer.verified(standard, VERSION, f"{PATH}:Failing", f"{int(inner, 16):064x}")
    return Deployed(way, explorer, outer, inner)


WAYS = [
    pytest.param(way, marks=pytest.mark.long if way != "plain" else (), id=way) for way in SETTINGS
]


@pytest.fixture(scope="module", params=WAYS)
def failing(request, explorer):
    yield deployed(explorer, request.param)


@pytest.fixture(scope="module")
def optimized(explorer):
    return deployed(explorer, "optimized")


MERGED = """
    bare caught gas inLibrary inModifier inPrivate lowLevel named notThere revertText
""".split()


def expected_line(name, mark):
    """The marked line; of a loop any line may be the last."""
    marked, lines = line_of(mark), FAILING.split("\n")
    if name != "gas":
        return range(marked, marked + 1)
    first = next(n for n, text in enumerate(lines) if "for (uint256 i" in text)
    return range(first + 1, marked + 1)


@pytest.mark.parametrize("name", NAMES)
def test_the_line_of_each_kind_of_failure(failing, name):
    require_line(failing, name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MERGED)
def test_the_line_that_led_to_code_which_optimisers_merge(optimized, name):
    require_line(optimized, name)


def require_line(failing, name):
    error = failing.error(call_of(name))
    location = error["location"]
    mark = {"passOn": "inner", "reentered": "text"}.get(name) or MARKS.get(name, name)
    assert location is not None, error
    assert location["file"] == PATH
    expected = {"passOn": "refuse", "reentered": "text"}.get(name) or FUNCTIONS.get(name, name)
    if location["line"] is None:
        assert failing.way != "plain" and location["function"] in (expected, name)
        return
    assert location["line"] in expected_line(name, mark), location
    assert location["function"] == expected
    assert location["source"] in FAILING.split("\n")[location["line"] - 1]


def test_a_check_that_the_compiler_generates_is_said_to_be_one(optimized):
    location = optimized.error(call_of("wrongType", 2, "bool"))["location"]
    assert (location["function"], location["generated"]) == ("wrongType", True)


def test_the_page_of_a_contract_says_how_its_code_is_optimized(optimized):
    page = optimized.explorer.client.get(f"/address/{optimized.address}?tab=contract").text
    assert "<dt>Optimizer</dt><dd>on, 200 runs</dd>" in page


def test_each_call_of_the_trace_that_failed_has_its_line(failing):
    sent = failing.transaction(call_of("caught"))["hash"]
    trace = failing.explorer.client.get(f"/api/v1/transactions/{sent}/trace").json
    own, inside = trace["frames"]
    assert own["error"]["location"]["function"] == "caught"
    assert inside["error"]["location"]["line"] in expected_line("refuse", "inner")
    assert inside["error"]["location"]["address"] == failing.inner


def test_arguments_and_coin_that_a_function_does_not_take(failing):
    """The compiler's own checks, in the function that they belong to."""
    wrong = failing.error(call_of("wrongType", 2, "bool"))["location"]
    assert wrong["function"] == "wrongType"
    assert wrong["generated"] or failing.way == "plain" or wrong["line"] is None
    paid = failing.error(call_of("notPayable"), value=hex(1))["location"]
    assert paid["function"] in ("notPayable", None)


def test_a_function_that_is_not_there(failing):
    location = failing.error("0xdeadbeef")["location"]
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


# All steps of a transaction, as geth gives them; anvil does so only where it is started to.
ALL_STEPS = Path(__file__).with_name("all_steps.js").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["passOn", "add", "created", "caught", "delegated", "gas"])
def test_steps_stand_for_a_tracer_that_the_node_does_not_run(failing, name):
    sent = failing.transaction(call_of(name))["hash"]
    expected = location_of(failing.explorer.client, sent)
    steps = failing.explorer.anvil.call("debug_traceTransaction", sent, {"tracer": ALL_STEPS})

    refusing = refuse(runs_javascript, -32000, "TypeError: tracer not found")
    fault = before(refusing, replacing(asks_for_steps, steps))
    with behind(failing.explorer.settings, fault) as (client, _):
        assert location_of(client, sent) == expected
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
    calls, steps = {(): FailedCall(address)}, lambda: {(): [0, 2, 4]}
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


class UnansweredTraces:
    """Traces that a node does not give in this request."""

    def __init__(self, error):
        self.error = error
        self.requests = 0

    def read(self, node, *_):
        self.requests += 1
        node.record_failed()
        raise self.error


NODE_ERRORS = [(Unavailable("One at a time."), 2), (UpstreamFailed("It is slow."), 1)]


@pytest.mark.parametrize(("error", "requests"), NODE_ERRORS)
def test_only_what_the_node_did_not_give_is_not_asked_again(failing, error, requests, monkeypatch):
    sources = failing.explorer.app.extensions["scan"].sources
    traces = UnansweredTraces(error)
    monkeypatch.setattr(TransactionTraces, "read", traces.read)
    calls = {(): FailedCall(bytes.fromhex(failing.address[2:]))}
    block = failing.explorer.anvil.head()
    for _ in range(2):
        reader = Reader(sources, "a")
        sent = IndexedTransaction(f"0x{requests}", block, "0x34", 0, None)
        assert read(reader, sent, calls, ()) == {}
        assert reader.has_node_failed  # so that no response without the line is cached
    assert traces.requests == requests
