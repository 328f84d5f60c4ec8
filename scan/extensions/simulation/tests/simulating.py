"""Calls to simulate, and nodes that lack methods."""

from tests.support.faulty_node import refuse

SPENDER = "0x" + 20 * "5e"
NO_TRACES = ("debug_traceCall",)
NOTHING = ("debug_traceCall", "eth_simulateV1")


def simulate(client, *calls, block=None, **more):
    query = {} if block is None else {"block": block}
    answer = client.post("/api/v1/simulate", json={"calls": [*calls], **more}, query_string=query)
    assert answer.status_code == 200, answer.json
    assert answer.json["blockNumber"] == block or block is None
    return answer.json["calls"]


def lacking(*methods):
    return refuse(lambda call: call["method"] in methods)


def token_call(scenario):
    """A holder of a token, the token, and a call that moves one unit of it."""
    truth = scenario.truth
    holders = {
        (t["address"], holder) for t in truth.tokens for holder in truth.holders[t["address"]]
    }
    sent = next(
        t
        for t in truth.token_transfers
        if t["tokenType"] == "BEP20" and (t["tokenAddress"], t["toAddress"]) in holders
    )
    holder, token = sent["toAddress"], sent["tokenAddress"]
    data = f"0xa9059cbb{word(SPENDER)}{1:064x}"
    return holder, token, {"from": holder, "to": token, "data": data}


def word(value):
    return f"{int(value, 16):064x}"
