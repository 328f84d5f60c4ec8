"""Calls encoded for wallets, and functions without arguments called at once, on a real node."""

import itertools

import pytest

from tests.support.anvil import calldata
from tests.support.many_functions import CHECKSUMMED, verified
from tests.support.vault import CONSTRUCTOR, OWNER, VAULT


@pytest.fixture(scope="module")
def vault(explorer):
    return verified(explorer, VAULT, "Vault", CONSTRUCTOR)


def test_an_encoded_call_is_what_the_contract_takes(explorer, vault):
    parts = [{"amount": str(2**255), "to": CHECKSUMMED}, [7, CHECKSUMMED]]
    body = {"functionName": "deposit", "args": ["hé", parts], "value": "1000000000000000001"}
    call = explorer.client.post(f"/api/v1/contracts/{vault}/encode", json=body).json
    signature = "deposit(string,(uint256,address)[])"
    sent_parts = [(2**255, CHECKSUMMED), (7, CHECKSUMMED)]
    assert call == {
        "to": vault,
        "data": calldata(signature, "hé", sent_parts),
        "value": "1000000000000000001",
        "chainId": int(explorer.anvil.call("eth_chainId"), 16),
        "function": signature,
        "stateMutability": "payable",
        "unproven": [],
    }
    before = explorer.call(vault, "total").json["result"]
    record = explorer.transact(vault, call["data"], value=int(call["value"]))
    assert record["status"] is True
    assert int(explorer.call(vault, "total").json["result"]) - int(before) == int(call["value"])
    assert explorer.call(vault, "parts", 0).json["result"] == [str(2**255), OWNER]


def test_a_call_is_tried_for_its_sender(explorer, vault):
    sender, path = explorer.anvil.accounts[1], f"/api/v1/contracts/{vault}/encode"
    body = {"functionName": "withdraw", "args": [str(10**30)]}
    assert explorer.client.post(path, json=body).status_code == 200
    refused = explorer.client.post(path, json={**body, "from": sender})
    assert (refused.status_code, refused.json["code"]) == (422, "call_reverted")
    available = explorer.call(vault, "total").json["result"]
    assert refused.json["reason"] == {
        "name": "NotEnough",
        "signature": "NotEnough(address,uint256)",
        "arguments": [
            {"name": "who", "type": "address", "value": sender},
            {"name": "available", "type": "uint256", "value": available},
        ],
    }
    body = {"functionName": "deposit", "args": ["", []], "value": str(10**40), "from": OWNER}
    poor = explorer.client.post(path, json=body)
    assert (poor.status_code, poor.json["code"]) == (422, "call_reverted"), poor.json


def test_functions_without_arguments_are_called_at_once(explorer, vault):
    explorer.wait_for_block(explorer.anvil.head())  # values are those of the newest indexed block
    answer = explorer.get(f"/api/v1/contracts/{vault}/values")
    assert answer["complete"] is True and answer["implementation"] is None
    values = {value["function"]: value for value in answer["values"]}
    expected = set("burn() megabytes() note() owner() refuse() reserves() total()".split())
    assert set(values) == expected
    assert values["owner()"]["result"] == OWNER
    names = [(output["name"], output["type"]) for output in values["reserves()"]["outputs"]]
    assert names == [("coins", "uint256"), ("count", "uint32")]
    balance = str(int(explorer.anvil.call("eth_getBalance", vault, "latest"), 16))
    counts = itertools.count()
    count = next(n for n in counts if explorer.call(vault, "parts", n).status_code != 200)
    assert values["reserves()"]["result"] == [balance, str(count)]
    assert {values[f"{name}()"]["result"] for name in ("burn", "megabytes", "refuse")} == {None}
    assert "more than is read at once" in values["megabytes()"]["error"]


def test_an_abi_of_many_functions_is_called_in_part(explorer):
    """Only so many are called that all readers together cannot keep the node busy."""
    functions = "".join(f"function f{n}() external pure returns (uint) {{ return {n}; }}\n"
                        for n in range(60))  # fmt: skip
    source = f"pragma solidity ^0.8.0; contract Wide {{ {functions} }}"
    address = verified(explorer, source, "Wide")
    answer = explorer.get(f"/api/v1/contracts/{address}/values")
    assert answer["complete"] is False and len(answer["values"]) == 40
    assert all(value["result"] == value["function"][1:-2] for value in answer["values"])
