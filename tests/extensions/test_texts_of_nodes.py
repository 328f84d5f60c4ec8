"""Texts of a node's errors, which may tell where the operator's nodes are and who may use them: no
door shows them. Of the core and all extensions."""

import logging

import pytest

from scan.ethereum.node_errors import RpcError
from tests.extensions.paths import paths_of
from tests.support import database, faulty_node
from tests.support.explorer import behind
from tests.support.indexing import Indexing, status

HIDDEN = ("an0n1", "s3cr3t", "10.1.2.3", "K3YK3Y", "node-7", "10.0.0.53", "fe80::7")
TEXT = (
    'Post "http://an0n1:s3cr3t@10.1.2.3:8545/K3YK3Y": dial tcp: lookup node-7.corp on 10.0.0.53:53,'
    " then [fe80::7]:8545 and node-7:8545, /run/node-7/geth.ipc, apikey=K3YK3Y"
)


@pytest.mark.parametrize(
    ("code", "text"),
    [pytest.param(-32000, TEXT), pytest.param(3, TEXT, marks=pytest.mark.thorough)],
)
def test_no_door_shows_how_the_nodes_are_reached(indexed, scenario, caplog, code, text):
    token, person = scenario.stage.contracts["harbor"].address, scenario.stage.people[1]
    failed = next(t["hash"] for t in scenario.truth.transactions if not t["status"])
    item = next(t for t in scenario.truth.token_transfers if t["tokenId"] is not None)
    of_chain = {"eth_chainId", "eth_blockNumber", "eth_getBlockByNumber", "eth_getBlockByHash"}
    fault = faulty_node.refuse(lambda call: call["method"] not in of_chain, code, text)
    caplog.set_level(logging.INFO)
    # Their responses do not end.
    endless = {"/live", "/socket/v2"}
    with behind(indexed.settings, fault) as (client, _):
        shown = {}
        for address in (token, person, item["tokenAddress"]):
            values = {"address": address, "address_hash": address, "transaction_hash": failed}
            values |= {"block": "9", "number": "9", "token_id": item["tokenId"]}
            shown |= {path: client.get(path) for path, _ in paths_of(client, values, endless)}
        of_block = ("", "/proof", "/tokens")
        paths = [f"/api/v1/addresses/{person}{of}?block=5" for of in of_block]
        paths += [f"/address/{token}?tab=contract", f"/address/{token}/code"]
        paths += [
            f"/api?module=proxy&action={action}&to={token}&address={person}&{of}"
            for action, of in (("eth_call", "data=0x18160ddd"), ("eth_getCode", "tag=0x5"))
        ]
        shown |= {path: client.get(path) for path in paths}
        sent = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [person, "latest"]}
        shown["rpc"] = client.post("/api/eth-rpc", json=sent)
        call = {"to": token, "from": person, "data": "0x18160ddd"}
        shown["simulated"] = client.post("/api/v1/simulate", json={"call": call})
        texts = {path: answer.get_data(as_text=True) for path, answer in shown.items()}
    told = {path: [part for part in HIDDEN if part in texts[path]] for path in texts}
    assert {path: parts for path, parts in told.items() if parts} == {}
    assert {path for path, answer in shown.items() if answer.status_code == 500} == set()
    assert not [part for part in HIDDEN if part in caplog.text]
    assert code == 3 or "the node rejected a call" in caplog.text


def refused(method):
    return faulty_node.refuse(lambda call: call["method"] == method, -32603, f"no luck: {TEXT}")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("no luck", refused("eth_getBlockReceipts")),
        ("no luck", refused("eth_blockNumber")),
        (
            "malformed",
            faulty_node.replacing("eth_blockNumber", "http://an0n1:s3cr3t@10.1.2.3/K3YK3Y"),
        ),
    ],
)
def test_readyz_has_the_reason_without_the_nodes_address(anvil, node, database_url, reason, fault):
    anvil.mine(3)
    node.fault = fault
    with Indexing(database_url, node.url):
        database.wait_for_problem(database_url, reason)
        problem = status(database_url)["problem"]
    assert not [part for part in HIDDEN if part in problem]


@pytest.mark.check
@pytest.mark.parametrize(
    "words",
    [
        "header not found",
        "insufficient changesets to revert to block #1. Available changeset range: 40..=42",
        "the method eth_call does not exist/is not available",
        "revm::handler::Error at 12.5 s",
        "execution reverted: see https://help.example/reverts, or mail@help.example",
    ],
)
def test_other_words_stay(words):
    assert RpcError(-32000, words).words == words


@pytest.mark.check
def test_a_users_password_is_hidden_in_a_contracts_words_too():
    error = RpcError(3, "execution reverted: dial http://an0n1:s3cr3t@10.1.2.3/K3YK3Y failed")
    assert error.message == "execution reverted: dial … failed"
