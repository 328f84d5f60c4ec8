"""Simulated calls beside the transactions that were sent, nodes that offer less, and bad input."""

from collections import Counter

import pytest

from scan.extensions.simulation.request import ANONYMOUS_GAS
from scan.extensions.simulation.tests import simulating
from scan.extensions.simulation.tests.simulating import NOTHING, SPENDER, simulate, token_call, word
from scan.queries.reader import ProcessorWait
from tests.support import expected, faulty_node, indexing, refusals


@pytest.fixture
def own_client(indexed, scenario_node):
    return indexed.client(rpc_urls=(scenario_node.url,))


def alone(scenario):
    """Transactions whose block has no other one, so that the state before them is a block's."""
    counts = Counter(t["blockNumber"] for t in scenario.truth.transactions)
    return [t for t in scenario.truth.transactions if counts[t["blockNumber"]] == 1]


def call_of(scenario, sent):
    of_node = scenario.anvil.call("eth_getTransactionByHash", sent["hash"])
    return {
        "from": sent["fromAddress"],
        "to": sent["toAddress"],
        "value": sent["value"],
        "data": of_node["input"],
        "gas": of_node["gas"],
    }


def test_a_simulation_is_the_transaction_that_was_then_sent(client, scenario):
    # Calls have neither access lists nor authorizations, and need less gas.
    compared = [t for t in alone(scenario) if int(t["gasLimit"] or 0) <= ANONYMOUS_GAS]
    chosen = {t["hash"]: t for t in compared[:: max(1, len(compared) // 40)]}
    of_node = [scenario.anvil.call("eth_getTransactionByHash", sent) for sent in chosen]
    lists = ("accessList", "authorizationList")
    plain = [chosen[t["hash"]] for t in of_node if not any(map(t.get, lists))]
    pools = {trade["pairAddress"] for trade in scenario.truth.dex_trades}

    def like(frame):
        """Without gas, which the nodes' traces of calls and of transactions give differently."""
        names = ("traceAddress", "type", "fromAddress", "toAddress", "value", "input", "output")
        return (*(frame[name] for name in names), (frame["error"] or {}).get("reason"))

    def moved(record):
        names = ("tokenAddress", "tokenType", "fromAddress", "toAddress", "value", "tokenId")
        return tuple(record.get(name) for name in names)

    created, seen = [], Counter()
    for sent in plain:
        block = sent["blockNumber"] - 1
        [outcome] = simulate(client, call_of(scenario, sent), block=block, trace=True)
        at = (sent["hash"], outcome["error"])
        assert outcome["status"] is sent["status"], at
        assert outcome["gasUsed"] == sent["gasUsed"], at
        assert outcome["missing"] == []
        path = f"/api/v1/transactions/{sent['hash']}"
        trace = client.get(f"{path}/trace").json
        assert [*map(like, outcome["frames"])] == [*map(like, trace["frames"])], at
        changed = {a["address"]: a for a in client.get(f"{path}/state-changes").json["accounts"]}
        for account in outcome["accounts"]:
            own, sent_ = account["storage"], changed[account["address"]]["storage"]
            # Pools store the time of their block, and calls see the one before.
            names = (
                ("slot", "before") if account["address"] in pools else ("slot", "before", "after")
            )
            assert [[s[n] for n in names] for s in own] == [[s[n] for n in names] for s in sent_], (
                at
            )
        stored = {a for a, change in changed.items() if change["storage"]}
        assert stored <= {a["address"] for a in outcome["accounts"]}, at
        tokens = [moved(t) for t in outcome["transfers"] if t["tokenAddress"] is not None]
        transfers, inside = (
            [record for record in records if record["transactionHash"] == sent["hash"]]
            for records in (scenario.truth.token_transfers, scenario.truth.internal_transfers)
        )
        assert Counter(tokens) == Counter(map(moved, transfers)), at
        coin = [moved(t)[2:5] for t in outcome["transfers"] if t["tokenAddress"] is None]
        expected = [moved(t)[2:5] for t in inside if t["value"] != "0"]
        recipient = sent["toAddress"] or sent["contractAddress"]
        by_itself = (sent["fromAddress"], recipient, sent["value"])
        expected += [by_itself] * (sent["status"] and sent["value"] != "0")
        assert Counter(coin) == Counter(expected), at
        created.append((outcome["frames"][0]["toAddress"], sent["contractAddress"]))
        seen[bool(sent["status"]), sent["toAddress"] is None] += 1
    contracts = [(simulated, own) for simulated, own in created if own is not None]
    assert contracts and all(simulated == own for simulated, own in contracts)
    assert {(True, True), (True, False)} < seen.keys(), "none failed, created a contract or ran"


def test_a_large_simulation_takes_a_place_of_its_client(client):
    """JUMPDEST PUSH1 0 JUMP: until there is no gas."""
    indexing.sources(client).get(ProcessorWait).seconds = 0.0
    places = indexing.sources(client).processor_places
    loop = {SPENDER: {"code": "0x5b600056"}}
    for gas, status in ((3_000_000, 429), (1_000_000, 200)):
        body = {"calls": [{"to": SPENDER, "gas": gas}], "overrides": loop}
        with places.place("127.0.0.1"):
            assert client.post("/api/v1/simulate", json=body).status_code == status, gas
        free = client.post("/api/v1/simulate", json=body)
        assert free.json["calls"][0]["error"]["kind"] == "out_of_gas"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("methods", "missing"),
    [
        (simulating.NO_TRACES, {"frames", "accounts"}),
        (NOTHING, {"frames", "accounts", "gasUsed", "logs", "transfers", "approvals"}),
    ],
)
def test_a_node_that_offers_less_gives_less_and_the_same(
    client, own_client, scenario_node, scenario, methods, missing
):
    _, _, moving = token_call(scenario)
    people = scenario.anvil.accounts
    failing = next(t for t in alone(scenario) if not t["status"])
    paying = {"from": people[0], "to": people[1], "value": 5}
    cases = [(moving, None), (paying, None)]
    cases.append((call_of(scenario, failing), failing["blockNumber"] - 1))
    scenario_node.fault = simulating.lacking(*methods)
    for call, block in cases:
        [whole], [less] = (simulate(c, call, block=block) for c in (client, own_client))
        assert {*less["missing"]} == (missing if less["status"] else missing - {"accounts"})
        for name in less.keys() - {"missing", *missing}:
            assert less[name] == whole[name], (name, call)
        assert (len(less["frames"]), less["accounts"]) == (1, None)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        lambda own: {**own, "from": "0x12"},
        lambda own: {**own, "post": [], "pre": {}},
        lambda own: {**own, "logs": [{}]},
        lambda own: {**own, "pre": {"0x12": {}}, "post": {}},
    ],
)
def test_a_malformed_answer_is_the_nodes_fault(own_client, scenario_node, scenario, result):
    _, _, moving = token_call(scenario)
    scenario_node.fault = faulty_node.replacing(lambda call: call["method"] in NOTHING, result)
    answer = own_client.post("/api/v1/simulate", json={"calls": [moving]})
    assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed"), answer.json


def test_a_node_that_ignores_overrides_is_refused(own_client, scenario_node, scenario):
    """It would simulate each call on the state that the first one meets."""
    _, _, moving = token_call(scenario)

    def forget(calls, forward):
        for call in calls:
            if call["method"] == "debug_traceCall":
                call["params"][2]["stateOverrides"] = {}
        return faulty_node.Reply(body=forward(calls))

    scenario_node.fault = forget
    assert simulate(own_client, moving)[0]["status"] is True
    refused = own_client.post("/api/v1/simulate", json={"calls": [moving, moving]})
    assert (refused.status_code, refused.json["code"]) == (422, "traces_unavailable")
    assert "ignores overrides" in refused.json["error"]


def test_a_node_that_refuses_is_not_quoted_with_its_url(own_client, scenario_node, scenario):
    _, _, moving = token_call(scenario)
    quoted = (-32000, "see https://a/KEY")
    scenario_node.fault = faulty_node.refuse(lambda call: call["method"] in NOTHING, *quoted)
    answer = own_client.post("/api/v1/simulate", json={"calls": [moving]})
    assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed")
    assert "KEY" not in answer.text


A = "0x" + 20 * "11"


def test_states_overrides_and_malformed_requests_are_answered_as_expected(client, scenario):
    holder, token, _ = token_call(scenario)
    names = {"A": A, "holder": holder, "token": token, "spender": SPENDER}
    names |= {"rich": scenario.anvil.accounts[0], "poor": "0x" + 20 * "77", "word": word(holder)}
    expected.compare(__file__, client, names)
    for body, kind in (("x", None), ("x", "application/json")):
        refused = client.post("/api/v1/simulate", data=body, content_type=kind)
        assert refused.status_code == (400 if kind else 415)


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("calls[0].data", {"calls": [{"to": A, "data": "0x" + "00" * (128 * 1024 + 1)}]}),
        ("overrides", {"calls": [{"to": A}], "overrides": {f"0x{n:040x}": {} for n in range(51)}}),
        (
            f"overrides.{A}.state",
            {"calls": [{"to": A}], "overrides": {A: {"state": {hex(n): 1 for n in range(1001)}}}},
        ),
    ],
)
def test_a_request_that_is_too_large_names_the_field(client, field, body):
    refusals.require_parameter(client.post("/api/v1/simulate", json=body), field)
