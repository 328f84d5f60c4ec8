"""What calls that are simulated, and calls of contracts that factories created, are for."""

from pathlib import Path

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts.proxy_contracts import IMPLEMENTATION_SLOT
from scan.extensions.clear_signing.tests.conftest import chain, client_of
from scan.extensions.clear_signing.tests.exchange import TRANSFER
from scan.extensions.clear_signing.tests.test_calls_to_sign import (
    PAY,
    SAFE,
    SEND,
    decoded,
    deployed,
    executed,
    inside,
    transfer,
)
from tests.support.anvil import encoded_call

__all__ = ["chain", "client_of"]
FACTORY = Path(__file__).with_name("WalletFactory.sol").read_text()


def test_a_simulated_call_is_described_unless_its_code_is_another(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    sender = chain.explorer.anvil.accounts[0]
    calls = [{"from": sender, "to": chain.exchange, "data": f"0x{transfer().hex()}"}]
    first, second = client.post("/api/v1/simulate", json={"calls": calls * 2}).json["calls"]
    assert first["clearSigning"]["interpolatedIntent"].startswith("Send 1.5 BET from 0x")
    assert first["clearSigning"] == second["clearSigning"]
    page = client.get("/simulate", query_string=calls[0])
    assert "What the call is for" in page.text and "1.5 BET" in page.text
    replaced = {"calls": calls, "overrides": {chain.exchange: {"code": "0x00"}}}
    [other] = client.post("/api/v1/simulate", json=replaced).json["calls"]
    assert (other["clearSigning"], other["clearSignedCalls"]) == (None, [])
    around = {"from": sender, "to": SAFE, "data": f"0x{executed(chain.exchange, transfer()).hex()}"}
    [kept] = client.post("/api/v1/simulate", json={"calls": [around]}).json["calls"]
    assert [path for path, _ in inside(kept)] == [[0]]
    [other] = client.post("/api/v1/simulate", json=replaced | {"calls": [around]}).json["calls"]
    assert (other["clearSigning"], other["clearSignedCalls"]) == (None, [])
    creation = {"calls": [{"data": "0x00"}]}
    assert client.post("/api/v1/simulate", json=creation).json["calls"][0]["clearSigning"] is None


def test_a_proxy_is_described_unless_its_implementation_is_another(chain, client_of):
    proxy = deployed(chain, "Proxy", encode(["address"], [chain.exchange]).hex())
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    body = {"calls": [{"to": proxy, "data": f"0x{transfer().hex()}"}]}
    [own] = client.post("/api/v1/simulate", json=body).json["calls"]
    assert own["clearSigning"] is not None
    body["overrides"] = {proxy: {"stateDiff": {IMPLEMENTATION_SLOT: SAFE}}}
    [other] = client.post("/api/v1/simulate", json=body).json["calls"]
    assert other["clearSigning"] is None


CREATED = [
    ("make()", "Made(address,uint256)", True),
    ("make()", "Made(address indexed wallet, uint256 number)", True),
    ("make()", "Named(address)", False),
    ("makeUnnamed()", "Made(address,uint256)", False),
]


@pytest.mark.parametrize(("make", "event", "is_described"), CREATED)
def test_a_contract_of_a_factory_is_described_if_its_creation_names_it(
    chain, client_of, make, event, is_described
):
    factory = deployed(chain, "Factory", source=FACTORY)
    sent = chain.explorer.send(factory, f"0x{keccak(text=make)[:4].hex()}")
    path = f"/api/v1/contract-creations?factory={factory}"
    [created] = chain.explorer.client.get(path).json["contractCreations"]
    assert created["transactionHash"] == sent
    wallet = created["address"]
    later = encoded_call("name(address)", wallet)  # too late: anybody may ask for it
    chain.explorer.send(factory, f"0x{later.hex()}")
    deployments = [{"chainId": 31337, "address": factory}]
    document = chain.descriptor({TRANSFER: PAY})
    document["context"]["contract"] = {
        "factory": {"deployments": deployments, "deployEvent": event}
    }
    client = client_of(wallet=document)
    described = decoded(client, transfer(), wallet, value="0")["clearSigning"]
    assert (described is not None) == is_described
    assert decoded(client, transfer(), chain.exchange, value="0")["clearSigning"] is None
