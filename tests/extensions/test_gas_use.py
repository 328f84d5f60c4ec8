"""Where the gas of a transaction went, beside the node's own trace, and what calls usually take."""

import statistics
from collections import defaultdict

import pytest

from scan.extensions.contract_details.tests.builds.projects import STANDARD, STORE_PATH, creation_of
from tests.support import faulty_node
from tests.support.anvil import calldata
from tests.support.explorer import behind

FAILING = 101  # an amount that the store does not keep


def verified_of(explorer, name, arguments=""):
    creation = creation_of(name, explorer.deploy(creation_of("Halves")))
    return explorer.verified(STANDARD, "0.8.28", f"{STORE_PATH}:{name}", arguments, creation)


@pytest.fixture(scope="module")
def stores(explorer):
    """A store that calls a library, verified; and what was sent to it, and at last to a factory."""
    store, factory = verified_of(explorer, "Store", f"{5:064x}"), verified_of(explorer, "Factory")
    kept = (calldata("keep(uint256)", amount) for amount in (7, 0, 9, FAILING, 12, 100, 3))
    sent = [explorer.send(store, data, gas=100_000) for data in kept]
    sent.append(explorer.send(factory, calldata("make(uint256)", 3), gas=2_000_000))
    return store, sent


def walk(call):
    yield call
    for inner in call.get("calls", ()):
        yield from walk(inner)


def test_the_gas_of_functions_is_that_of_the_trace(explorer, stores):
    anvil, (_, all_sent) = explorer.anvil, stores
    for sent in all_sent:
        trace = anvil.call("debug_traceTransaction", sent, {"tracer": "callTracer"})
        trace["gasUsed"] = anvil.receipt_of(sent)["gasUsed"]
        expected = defaultdict(lambda: [0, 0, 0])
        for call in walk(trace):
            used = int(call["gasUsed"], 16)
            inside = sum(int(inner["gasUsed"], 16) for inner in call.get("calls", ()))
            for place, amount in enumerate((1, max(0, used - inside), used)):
                expected[call["to"]][place] += amount
        gas = explorer.get(f"/api/v1/transactions/{sent}/gas")
        assert gas["gasUsed"] == str(int(trace["gasUsed"], 16))
        functions = gas["functions"]
        amounts = [[f["calls"], int(f["ownGas"]), int(f["totalGas"])] for f in functions]
        assert dict(zip([f["address"] for f in functions], amounts, strict=True)) == expected
        assert gas["callCount"] == sum(calls for calls, *_ in amounts)
        assert amounts == sorted(amounts, key=lambda of: -of[1])
    created = explorer.get(f"/api/v1/transactions/{all_sent[-1]}/gas")["functions"]
    assert [f["methodId"] for f in created if f["function"] is None] == [None]  # the creation


def test_what_calls_of_a_method_usually_take(explorer, stores):
    store, sent = stores
    [method] = explorer.get(f"/api/v1/contracts/{store}/gas")["methods"]
    receipts = [explorer.anvil.receipt_of(hash_) for hash_ in sent[:-1]]
    used = sorted(int(r["gasUsed"], 16) for r in receipts if int(r["status"], 16))
    assert method["function"] == "keep(uint256)"
    assert (method["calls"], method["failed"]) == (7, 1)
    assert int(method["median"]) == statistics.median_low(used)
    assert int(method["p90"]) == used[-1] == int(method["worst"])


def test_a_method_all_of_whose_calls_failed(explorer):
    store = verified_of(explorer, "Store", "0" * 64)
    for _ in range(2):
        explorer.send(store, calldata("keep(uint256)", FAILING), gas=100_000)
    [method] = explorer.get(f"/api/v1/contracts/{store}/gas")["methods"]
    assert (method["calls"], method["failed"]) == (2, 2)
    assert (method["median"], method["p90"], method["worst"]) == (None, None, None)
    page = explorer.get(f"/address/{store}?tab=contract&view=write")
    assert "2 calls failed." in page
    assert "usually" not in page


def test_the_tab_shows_calls_as_boxes(explorer, stores):
    _, sent = stores
    page = explorer.get(f"/tx/{sent[-1]}?tab=gas")
    assert page.count('<rect class="c') == 2 and "make: " in page
    page = explorer.get(f"/tx/{sent[0]}?tab=gas")
    assert "keep(uint256)</code> usually uses" in page
    assert "its newest 6 successful calls" in page
    assert explorer.get(f"/api/v1/contracts/0x{'00' * 19}99/gas") == {"methods": []}


def test_a_trace_without_gas(explorer, stores):
    _, sent = stores

    def alter(call, answer):
        if call["method"] == "debug_traceTransaction" and "result" in answer:
            for inner in walk(answer["result"]):
                inner.pop("gasUsed", None)

    with behind(explorer.settings, faulty_node.altering(alter)) as (client, _):
        answer = client.get(f"/api/v1/transactions/{sent[-1]}/gas")
        page = client.get(f"/tx/{sent[-1]}?tab=gas")
    factory, created = answer.json["functions"]
    assert factory["totalGas"] == answer.json["gasUsed"]
    assert [factory["ownGas"], created["ownGas"], created["totalGas"]] == [None, None, None]
    assert page.text.count('<span class="quiet">not known</span>') == 3
