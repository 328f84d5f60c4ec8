"""The other actions, beside what the node says."""

import json

import pytest

from scan import parameters
from scan.contracts.account_state import CALL_GAS
from scan.extensions.etherscan.replies import RpcReply
from scan.extensions.etherscan.tests.conftest import Asking
from tests.support import database, faulty_node, indexing, serving
from tests.support.explorer import behind

UNSEEN = "0x" + "9d" * 20


def test_block_by_time(ask, truth):
    no_block = "Error! No closest block found"
    times = [parameters.time_s(block["timestamp"], "") for block in truth.blocks[::-1]]
    for time_s in sorted({times[0] - 1, times[0], *times[::7], times[5] + 1, times[-1] + 1}):
        before = [n for n, block_time in enumerate(times) if block_time <= time_s]
        after = [n for n, block_time in enumerate(times) if block_time >= time_s]
        nearest = {"before": max(before, default=no_block), "after": min(after, default=no_block)}
        for closest, number in nearest.items():
            body = ask("block", "getblocknobytime", timestamp=time_s, closest=closest)
            assert body["result"] == str(number)
    body = ask("block", "getblocknobytime", timestamp=times[5] * 1000, closest="before")
    assert body["status"] == "0" and "milliseconds" in body["result"]


def test_creations_have_their_code(ask, indexed, scenario):
    """What a transaction sent, and what a trace has of a contract's; others are left out."""
    pair = scenario.stage.pools["v2 harbor/weth"].address.lower()
    [(transaction_hash, sent), *_] = scenario.truth.created.items()
    addresses = {"contractaddresses": f"{pair},{sent},{UNSEEN}"}
    rows = ask.result("contract", "getcontractcreation", **addresses)
    of_pair, of_sent = sorted(rows, key=lambda row: row["contractAddress"] != pair)
    creation = scenario.anvil.call("eth_getTransactionByHash", transaction_hash)["input"]
    assert of_sent["creationBytecode"] == creation
    assert of_pair["creationBytecode"].startswith("0x60")
    untraced = Asking(indexed.client(traces="off"))
    [without] = untraced.result("contract", "getcontractcreation", contractaddresses=pair)
    assert without == of_pair | {"creationBytecode": ""}


def test_a_contract_of_several_blocks_was_created_once(clone, indexed_template, scenario):
    """One that was destroyed and created again has a row of contracts for each block."""
    pair = scenario.stage.pools["v2 harbor/weth"].address.lower()
    again = (
        "INSERT INTO contracts SELECT address, block_number + 1, code_hash FROM contracts"
        " WHERE address = %s"
    )
    url = clone(indexed_template)
    database.execute(url, again, bytes.fromhex(pair[2:]))
    ask = Asking(indexing.client_over(url, scenario.anvil.url))
    [row] = ask.result("contract", "getcontractcreation", contractaddresses=pair)
    receipt = scenario.anvil.call("eth_getTransactionReceipt", row["txHash"])
    assert int(row["blockNumber"]) == int(receipt["blockNumber"], 16)


def test_proxy_methods_are_the_nodes(ask, scenario):
    node, token = scenario.anvil, scenario.stage.contracts["harbor"]
    person = scenario.stage.people[1]
    call = token.data("balanceOf", person)
    of_the_node = (
        ("eth_blockNumber", {}, ()),
        ("eth_getBlockByNumber", {"tag": "0x9", "boolean": "true"}, ("0x9", True)),
        ("eth_getBlockByNumber", {"tag": "latest", "boolean": "false"}, ("latest", False)),
        ("eth_getBlockByNumber", {"tag": "latest"}, ("latest", False)),
        ("eth_getBlockTransactionCountByNumber", {"tag": "0x9"}, ("0x9",)),
        ("eth_getUncleByBlockNumberAndIndex", {"tag": "0x9", "index": "0x0"}, ("0x9", "0x0")),
        ("eth_getTransactionCount", {"address": person, "tag": "latest"}, (person, "latest")),
        ("eth_getCode", {"address": token.address}, (token.address, "latest")),
        (
            "eth_getStorageAt",
            {"address": token.address, "position": "0x1", "tag": "latest"},
            (token.address, "0x1", "latest"),
        ),
        ("eth_call", {"to": token.address, "data": call}, ({"to": token.address, "data": call},)),
        ("eth_estimateGas", {"to": token.address, "data": call, "from": person},
         ({"to": token.address, "data": call, "from": person},)),
        ("eth_gasPrice", {}, ()),
    )  # fmt: skip
    for action, query, params in of_the_node:
        expected = {"jsonrpc": "2.0", "id": 1, "result": node.call(action, *params)}
        assert ask("proxy", action, **query) == expected


@pytest.mark.thorough
def test_transactions_and_receipts_are_the_nodes_and_need_none(
    indexed, indexed_without_bodies, scenario
):
    """But for anvil's blobs, their price where there are none, and times of receipts as numbers."""
    node = scenario.anvil
    own = {"blobs", "cellProofs", "commitments", "blobGasPrice", "blockTimestamp"}
    alone, of_node = (
        Asking(index.client(rpc_urls=(url,)))
        for index, url in ((indexed, serving.NOWHERE), (indexed_without_bodies, node.url))
    )
    types = set()
    for transaction_hash in [sent["hash"] for sent in scenario.truth.transactions]:
        for action in ("eth_getTransactionByHash", "eth_getTransactionReceipt"):
            expected = node.call(action, transaction_hash)
            made = alone("proxy", action, txhash=transaction_hash)["result"]
            assert made == {name: expected.get(name) for name in made}, transaction_hash
            assert {*expected} - {*made} <= own
            types.add(made["type"])
    assert types == {"0x0", "0x1", "0x2", "0x3", "0x4"}
    position = {"tag": made["blockNumber"], "index": made["transactionIndex"]}
    by_position = "eth_getTransactionByBlockNumberAndIndex"
    counted = alone("proxy", "eth_getBlockTransactionCountByNumber", **position)["result"]
    assert counted == node.call("eth_getBlockTransactionCountByNumber", made["blockNumber"])
    sent = alone("proxy", "eth_getTransactionByHash", txhash=transaction_hash)
    assert alone("proxy", by_position, **position) == sent
    of_hash = {"txhash": made["transactionHash"]}
    for action, query in ((by_position, position), ("eth_getTransactionReceipt", of_hash)):
        assert of_node("proxy", action, **query)["result"]["blockHash"] == made["blockHash"]
    for query in ({"tag": "latest", "index": "0x0"}, {"tag": "0xfffffff", "index": "0x0"}):
        assert alone("proxy", by_position, **query)["status"] == "0"


def test_what_the_node_says_of_transactions_that_are_not_indexed_is_not_cached(client):
    for action, query, is_stored in (
        ("eth_getBlockTransactionCountByNumber", {"tag": "0x9"}, True),
        ("eth_getBlockTransactionCountByNumber", {"tag": "0xffffff"}, False),
        ("eth_getTransactionByHash", {"txhash": "0x" + 64 * "7"}, False),
        ("eth_getTransactionReceipt", {"txhash": "0x" + 64 * "7"}, False),
        ("eth_getTransactionByBlockNumberAndIndex", {"tag": "0xffffff", "index": "0x0"}, False),
    ):
        response = client.get("/api", query_string={"module": "proxy", "action": action, **query})
        assert response.status_code == 200 and ("ETag" in response.headers) == is_stored, action


def test_transactions_are_sent_only_where_the_operator_says_so(ask, indexed):
    body = ask("proxy", "eth_sendRawTransaction", hex="0x02")
    assert "SCAN_SEND_TRANSACTIONS" in body["result"]
    sending = indexed.client(sends_transactions=True)
    body = Asking(sending)("proxy", "eth_sendRawTransaction", hex="0x02")
    assert body["jsonrpc"] == "2.0" and "error" in body  # the node's own


def test_nothing_is_believed_of_a_node_with_other_blocks(indexed_without_bodies, scenario, anvil):
    anvil.mine(scenario.anvil.head())
    ask = Asking(indexed_without_bodies.client(rpc_urls=(anvil.url,)))
    person, token = scenario.stage.people[1], scenario.stage.contracts["harbor"].address
    for module, action, query in (
        ("account", "txlist", {"address": person}),
        ("account", "balance", {"address": person, "tag": "0x5"}),
        ("account", "balancehistory", {"address": person, "blockno": 5}),
        ("account", "tokenbalance", {"contractaddress": token, "address": person}),
        ("stats", "tokensupplyhistory", {"contractaddress": token, "blockno": 60}),
        ("logs", "getLogs", {"address": token}),
        ("logs", "getLogs", {"topic0": "0x" + 64 * "0"}),
        ("contract", "getcontractcreation", {"contractaddresses": token}),
    ):
        body = ask(module, action, **query)
        assert (body["status"], body["message"]) == ("0", "NOTOK"), body
    assert "error" in ask("proxy", "eth_getTransactionCount", address=person, tag="0x5")


@pytest.mark.check
@pytest.mark.parametrize("value", [2**70, "\ud800", {"data": ["\udfff\0", -(2**64)]}])
def test_whatever_json_a_node_gives_is_passed_on(value):
    assert json.loads(RpcReply("result", value).body())["result"] == value


def test_a_token_gets_no_more_gas_for_its_balances_than_elsewhere(explorer):
    """Without a limit a contract that burns it takes the node's time, for one request after
    another."""
    token = explorer.place("5a60005260206000f3")  # returns the gas that is left
    ask = Asking(explorer.client)
    gas = ask.result("account", "tokenbalance", contractaddress=token, address=token)
    assert 900_000 < int(gas) < CALL_GAS
    assert int(ask.result("stats", "tokensupply", contractaddress=token)) < CALL_GAS


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(faulty_node.node_error(-32000, "missing trie node 1234 (path )"), id="pruned"),
        pytest.param(faulty_node.null_results, id="null"),
        pytest.param(faulty_node.cut_connection, id="cut"),
    ],
)
def test_what_the_node_does_not_say_is_an_error_and_not_cached(
    indexed_without_bodies, scenario, fault
):
    person, token = scenario.stage.people[3], scenario.stage.contracts["harbor"].address
    calls = [
        ("account", "balance", {"address": person, "tag": "0x5"}),
        ("account", "balance", {"address": UNSEEN}),
        ("account", "balancemulti", {"address": person, "tag": "5"}),
        ("account", "tokenbalance", {"contractaddress": token, "address": person}),
        ("account", "txlist", {"address": scenario.stage.people[1]}),
        ("logs", "getLogs", {"address": token}),
        ("contract", "getcontractcreation", {"contractaddresses": token}),
    ]
    with behind(indexed_without_bodies.settings, fault) as (client, node):
        ask = Asking(client)
        for module, action, parameters in calls:
            body = ask(module, action, **parameters)
            assert body["status"] == "0" and not isinstance(body["result"], list), body
        # Stored, and of the newest block.
        assert ask.result("account", "balance", address=scenario.stage.people[1])
        assert ask.rows("token", "tokenholderlist", contractaddress=token)
        node.fault = None
        for module, action, parameters in calls:
            assert ask.result(module, action, **parameters)
