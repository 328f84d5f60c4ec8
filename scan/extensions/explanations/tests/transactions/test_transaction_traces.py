"""GET /transactions/:hash/trace and /state-changes, beside the node's state and ethers."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scan.extensions.explanations.tests.transactions import conftest
from scan.extensions.explanations.tests.transactions.conftest import answer_of
from tests.support import database, expected, faulty_node, indexing, lying_node


def test_traces_are_answered_as_expected(played):
    """Calls in their order with what they took, gave and emitted; many calls and much data are cut,
    and deep ones are read flat: too deep for JSON as callTracer nests it."""
    expected.compare(__file__, played.client, conftest.names_of(played))


def test_a_page_has_events_among_the_calls_as_they_happened(played):
    tree = played.client.get(f"/tx/{played.sent['speaking']}?tab=calls").text.partition('"tree"')[2]
    inner = answer_of(played, "speaking")["frames"][1]["type"]
    order = re.findall(r'<code class="badge[^"]*">(\w+)</code>', tree)
    assert order == ["CALL", "emit", inner, "emit"]


def test_data_is_cut_at_two_mib(played):
    frames = answer_of(played, "large")["frames"]
    assert sum(len(frame["input"]) + len(frame["output"]) for frame in frames) < 2**21 + 100


@pytest.mark.parametrize("what", ["trace", "state-changes"])
def test_a_node_without_traces_is_told_apart_from_one_that_is_away(played, what):
    path = f"/api/v1/transactions/{played.sent['fine']}/{what}"
    with conftest.behind(played, conftest.NO_TRACES) as (client, node):
        requests = []
        for _ in range(2):  # with what it remembers, too
            refused = client.get(path)
            requests.append(node.requests)
            assert (refused.status_code, refused.json["code"]) == (422, "traces_unavailable")
            assert "offers no traces" in refused.json["error"]
        assert requests[1] == requests[0]  # the second was answered without asking it again
        node.fault = faulty_node.cut_connection
        away = indexing.client_over(played.url, node.url).get(path)
        assert (away.status_code, away.json["code"]) == (502, "upstream_failed")
        assert "Retry-After" in away.headers
    off = indexing.client_over(played.url, played.anvil.url, traces="off")
    refused = off.get(path)
    assert refused.status_code == 422 and "SCAN_TRACES" in refused.json["error"]


# A node that traces, but knows no tracer, as Ganache. Hardhat's node refuses the option.
STEPS = {"gas": 21000, "failed": False, "returnValue": "", "structLogs": []}
only_steps = faulty_node.before(
    faulty_node.replacing("debug_traceTransaction", STEPS), faulty_node.refuse(conftest.is_trace)
)


@pytest.mark.parametrize(
    "fault",
    [only_steps, faulty_node.refuse(conftest.is_trace, -32602, "unknown variant `callTracer`")],
    ids=["Ganache", "Hardhat"],
)
def test_steps_are_no_trace_but_a_failure_has_its_reason_from_a_call(played, fault):
    with conftest.behind(played, fault) as (client, _):
        for what in ("trace", "state-changes"):
            refused = client.get(f"/api/v1/transactions/{played.sent['fine']}/{what}")
            assert (refused.status_code, refused.json["code"]) == (422, "traces_unavailable")
        failed = client.get(f"/api/v1/transactions/{played.sent['require']}").json
        assert failed["status"] is False and failed["error"]["kind"] == "error", failed["error"]
        assert client.get("/api/v1/addresses/0x" + 40 * "1").status_code == 200  # it is not away


@pytest.mark.parametrize("kind", ["SELFDESTRUCT", "CALL", "CREATE"])
def test_a_frame_without_recipient_is_shown(played, kind):
    """Some nodes name no beneficiary of a self-destruct, and no address of a failed creation."""
    inner = {"type": kind, "from": f"0x{40 * '1'}", "value": "0x1"}
    fault = faulty_node.replacing(conftest.is_trace, lambda call: call | {"calls": [inner]})
    with conftest.behind(played, fault) as (client, _):
        shown = client.get(f"/tx/{played.sent['fine']}?tab=calls")
    assert shown.status_code == 200 and kind in shown.text
    assert ("a new contract" in shown.text) == (kind == "CREATE")


@pytest.mark.thorough
def test_megabytes_of_trace_are_not_read_and_not_asked_for_again(played):
    database.execute(played.url, "DELETE FROM transaction_failures")
    large = {"type": "CALL", "output": "0x" + 4_300_000 * "00"}
    fault = faulty_node.replacing(conftest.is_trace, large)
    with conftest.behind(played, fault) as (client, node):
        path = f"/api/v1/transactions/{played.sent['fine']}/trace"
        answer = client.get(path)
        assert answer.status_code == 422 and "larger than 8 MiB" in answer.json["error"]
        count = node.requests
        assert client.get(path).json == answer.json
        assert node.requests == count
        failed = client.get(f"/api/v1/transactions/{played.sent['silent']}").json["error"]
        assert failed["approximate"] and failed["kind"] == "revert_without_reason"


def test_threads_that_want_the_same_trace_ask_the_node_once(played):
    with faulty_node.FaultyNode(played.anvil.url) as node:
        in_flight, most = [0], [0]

        def slow(calls, forward):
            if any(call["method"] == "debug_traceTransaction" for call in calls):
                in_flight[0] += 1
                most[0] = max(most[0], in_flight[0])
                time.sleep(0.4)
                in_flight[0] -= 1
                traced.append(len(calls))
            return faulty_node.Reply(body=forward(calls))

        traced = []
        node.fault = slow
        app = indexing.client_over(played.url, node.url).application
        path = f"/api/v1/transactions/{played.sent['fine']}/trace"
        with ThreadPoolExecutor(3) as pool:
            codes = [*pool.map(lambda _: app.test_client().get(path).status_code, range(3))]
    assert most[0] == 1 and len(traced) == 1
    assert set(codes) <= {200, 429} and codes.count(200) >= 2  # two may wait for one client


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["callee's error", "speaking", "deployment"])
def test_what_a_lying_tracer_reports_is_refused_or_named_as_unproven(played, name, seed):
    """One value of each of its answers is another."""
    lies = lying_node.LyingNode(seed, 1.0, methods={"debug_traceTransaction"})
    with conftest.behind(played, lies) as (client, _):
        paths = [
            f"/api/v1/transactions/{played.sent[name]}{part}"
            for part in ("", "/trace", "/state-changes", "/gas")
        ]
        responses = {path: client.get(path) for path in paths}
        assert {r.status_code for r in responses.values()} <= {200, 422, 502}, lies.told
        shown = {path: r.json for path, r in responses.items() if r.status_code == 200}
        assert paths[0] in shown, lies.told
        for path, body in shown.items():
            true = played.client.get(path).json
            differing = {key for key in true if body[key] != true[key]}
            assert differing - {"confirmations"} <= {*body["unproven"]}, (path, lies.told)


def test_a_trace_whose_own_call_is_not_the_transactions_is_refused(played):
    lies = {
        "type": "STATICCALL",
        "from": "0x" + "12" * 20,
        "to": "0x" + "12" * 20,
        "value": "0x7",
        "input": "0x12345678",
        "error": "out of gas",
        "gas": hex(2**64),
    }
    path = f"/api/v1/transactions/{played.sent['fine']}/trace"
    for name, value in lies.items():
        lie = faulty_node.replacing(conftest.is_trace, lambda call, lie={name: value}: call | lie)
        with conftest.behind(played, lie) as (client, _):
            assert client.get(path).status_code == 502, (name, value)
