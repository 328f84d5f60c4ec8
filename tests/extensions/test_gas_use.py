"""Where the gas of a transaction went, beside the node's own trace, and what calls usually take."""

import statistics
from collections import defaultdict, namedtuple

import pytest

from scan.extensions.contract_details.tests.builds.projects import STANDARD, STORE_PATH, creation_of
from tests.support import faulty_node
from tests.support.anvil import calldata
from tests.support.explorer import behind
from tests.support.lists import get

FAILING = 101  # an amount that the store does not keep


class Stores(namedtuple("Stores", "explorer store factory sent")):
    """A store that calls a library, verified; and what was sent to it."""

    def get(self, path):
        return get(self.explorer.client, path)


def verified_of(explorer, name, arguments=""):
    creation = creation_of(name, explorer.deploy(creation_of("Halves")))
    return explorer.verified(STANDARD, "0.8.28", f"{STORE_PATH}:{name}", arguments, creation)


@pytest.fixture(scope="module")
def stores(explorer):
    store, factory = verified_of(explorer, "Store", f"{5:064x}"), verified_of(explorer, "Factory")
    amounts = (7, 0, 9, FAILING, 12, 100, 3)
    sent = [
        explorer.send(store, calldata("keep(uint256)", amount), gas=100_000) for amount in amounts
    ]
    sent.append(explorer.send(factory, calldata("make(uint256)", 3), gas=2_000_000))
    yield Stores(explorer, store, factory, sent)


def walk(call):
    yield call
    for inner in call.get("calls", ()):
        yield from walk(inner)


@pytest.mark.parametrize("number", range(8))
def test_the_gas_of_functions_is_that_of_the_trace(stores, number):
    sent = stores.sent[number]
    anvil = stores.explorer.anvil
    trace = anvil.call("debug_traceTransaction", sent, {"tracer": "callTracer"})
    used = int(anvil.receipt_of(sent)["gasUsed"], 16)
    trace["gasUsed"] = hex(used)
    expected = defaultdict(lambda: [0, 0, 0])
    for call in walk(trace):
        inside = sum(int(inner["gasUsed"], 16) for inner in call.get("calls", ()))
        of_address = expected[call["to"]]
        of_address[0] += 1
        of_address[1] += max(0, int(call["gasUsed"], 16) - inside)
        of_address[2] += int(call["gasUsed"], 16)
    gas = stores.get(f"/transactions/{sent}/gas")
    assert gas["gasUsed"] == str(used)
    assert {
        f["address"]: [f["calls"], int(f["ownGas"]), int(f["totalGas"])] for f in gas["functions"]
    } == expected
    assert gas["callCount"] == sum(calls for calls, _, _ in expected.values())
    own = [int(f["ownGas"]) for f in gas["functions"]]
    assert own == sorted(own, reverse=True)


def test_functions_have_their_signatures(stores):
    functions = stores.get(f"/transactions/{stores.sent[0]}/gas")["functions"]
    names = {f["address"]: f["function"] for f in functions}
    assert names[stores.store] == "keep(uint256)"
    created = stores.get(f"/transactions/{stores.sent[-1]}/gas")["functions"]
    assert [f["methodId"] for f in created if f["function"] is None] == [None]  # the creation


def test_what_calls_of_a_method_usually_take(stores):
    [method] = stores.get(f"/contracts/{stores.store}/gas")["methods"]
    receipts = [stores.explorer.anvil.receipt_of(sent) for sent in stores.sent[:-1]]
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


def test_a_contract_that_nobody_called(stores):
    assert stores.get(f"/contracts/0x{'00' * 19}99/gas") == {"methods": []}
    assert stores.explorer.client.get("/api/v1/contracts/0x12/gas").status_code == 400


def test_the_tab_shows_calls_as_boxes(stores):
    page = stores.explorer.get(f"/tx/{stores.sent[-1]}?tab=gas")
    assert page.count('<rect class="c') == 2
    assert '<svg x="0.0%" y="0" width="100.0%" height="25">' in page
    assert "make: " in page
    page = stores.explorer.get(f"/tx/{stores.sent[0]}?tab=gas")
    assert "keep(uint256)</code> usually uses" in page
    assert "its newest 6 successful calls" in page


def test_a_trace_without_gas(stores):
    def alter(call, answer):
        if call["method"] == "debug_traceTransaction" and "result" in answer:
            for inner in walk(answer["result"]):
                inner.pop("gasUsed", None)

    with behind(stores.explorer.settings, faulty_node.altering(alter)) as (client, _):
        answer = client.get(f"/api/v1/transactions/{stores.sent[-1]}/gas")
        page = client.get(f"/tx/{stores.sent[-1]}?tab=gas")
    factory, created = answer.json["functions"]
    assert factory["totalGas"] == answer.json["gasUsed"]
    assert [factory["ownGas"], created["ownGas"], created["totalGas"]] == [None, None, None]
    assert page.text.count('<span class="quiet">not known</span>') == 3
