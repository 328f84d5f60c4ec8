"""POST /api/eth-rpc, as Blockscout has it: the node's methods as JSON-RPC."""

import json

from scan.ethereum import request_node
from scan.extensions.etherscan import proxy


def request_of(method, *params, id_=1):
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": [*params]}


def rpc(client, body, status=200):
    response = client.post("/api/eth-rpc", data=json.dumps(body))
    assert response.status_code == status
    return response.get_json()


def test_json_rpc_takes_the_methods_of_the_proxy_by_position(client, scenario):
    unseen = "0x" + "9d" * 20
    node, token = scenario.anvil, scenario.stage.contracts["harbor"]
    person, block = scenario.stage.people[1], node.call("eth_getBlockByNumber", "0x9", False)
    call = {"to": token.address, "data": token.data("balanceOf", person)}
    transfer = {"from": unseen, "to": token.address, "input": token.data("transfer", person, 1)}
    requests = [
        request_of(method, *params, id_=f"{number}")
        for number, (method, params) in enumerate(
            (
                ("eth_chainId", []),
                ("eth_getBlockByHash", [block["hash"], True]),
                ("eth_getBalance", [person, "latest"]),
                ("eth_getStorageAt", [token.address, "0x1", "latest"]),
                ("eth_getTransactionByHash", ["0x" + 64 * "7"]),
                ("eth_call", [call, "latest"]),
                ("eth_estimateGas", [{**call, "from": person}]),
                ("eth_maxPriorityFeePerGas", []),
            )
        )
    ]
    expected = [
        {"jsonrpc": "2.0", "id": r["id"], "result": node.call(r["method"], *r["params"])}
        for r in requests
    ]
    assert [rpc(client, request) for request in requests] == expected
    batches = [rpc(client, requests[first : first + 5]) for first in range(0, len(requests), 5)]
    assert [answer for batch in batches for answer in batch] == expected
    for id_ in (7, None, 1.5):
        request = request_of("eth_call", transfer, "latest", id_=id_)
        reverted, taken = rpc(client, [request, requests[0]])
        assert reverted["id"] == id_ and reverted["error"]["data"].startswith("0x")
        assert taken == expected[0]


def test_json_rpc_finds_logs_as_the_node_does(client, scenario, monkeypatch):
    node, token = scenario.anvil, scenario.stage.contracts["harbor"].address
    all_logs = node.call("eth_getLogs", {"fromBlock": "0x0", "address": token})
    first, *_, last = all_logs
    topics = [log["topics"] for log in all_logs]
    parties = [*dict.fromkeys(topic[2] for topic in topics)][:3]
    filters = [
        {"address": token, "fromBlock": "earliest", "toBlock": "latest"},
        {"address": [token.upper().replace("X", "x"), token], "fromBlock": "0x0"},
        {"fromBlock": 0, "address": token, "topics": [topics[0][0], None, parties]},
        {"fromBlock": "0x0", "topics": [[topics[0][0]], [topics[-1][1]]], "address": None},
        {"fromBlock": "0x0", "topics": [topics[0][0], [None, topics[-1][1]]], "address": token},
        {"address": token, "fromBlock": last["blockNumber"], "toBlock": first["blockNumber"]},
        {"blockHash": first["blockHash"], "topics": []},
        {},
        *(
            {"address": token, "fromBlock": first, "toBlock": tag}
            for tag in ("earliest", "finalized", "safe", "pending")
            for first in ("earliest", tag)
        ),
    ]
    for filter_ in filters:
        answer = rpc(client, request_of("eth_getLogs", filter_))
        in_hex = filter_ | ({"fromBlock": "0x0"} if filter_.get("fromBlock") == 0 else {})
        assert answer["result"] == node.call("eth_getLogs", in_hex), filter_
    request = request_of("eth_getLogs", filters[0])
    for bound in ((request_node, "BUDGET_S", 0.0), (proxy, "MOST_ROWS", len(all_logs) - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(*bound)
            assert rpc(client, request)["error"]["code"] == -32005


def test_json_rpc_bounds_what_it_reads(client):
    request = {"id": 1, "jsonrpc": "2.0", "method": "eth_chainId"}
    assert rpc(client, [request] * 6, 413)["error"].endswith("Max batch size is 5")
    assert rpc(client, []) == []
    for body in (b"", b"{", b"\xff", b"[" * 1000):
        response = client.post("/api/eth-rpc", data=body)
        assert response.status_code == 400 and response.get_json()["jsonrpc"] == "2.0"
    assert client.get("/api/eth-rpc").status_code == 405
