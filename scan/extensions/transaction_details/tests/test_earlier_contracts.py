"""Contracts that ended, and others at their address: what was called then is decoded by what stood
there then."""

from collections import namedtuple

import pytest

from tests.support import many_functions, solidity
from tests.support.anvil import Contract, calldata
from tests.support.explorer import compiled, explorer_over, standard_input

EVM = "shanghai"  # the last one in which SELFDESTRUCT ends a contract
SOURCE = """// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

contract First {
    event Paid(uint256 indexed amount, uint256 fee);
    error Refused(uint256 amount);
    function pay(uint256 amount, uint256 fee) external {
        if (amount * fee == 0) revert Refused(amount);
        emit Paid(amount, fee);
    }
    function price(uint256 amount) external pure returns (int256) {
        if (amount == 0) revert Refused(amount);
        return -5;
    }
    function end() external { selfdestruct(payable(msg.sender)); }
}
"""
SWAPPED = {
    "contract First": "contract Second",
    "amount, uint256 fee": "fee, uint256 amount",
    "Refused(uint256 amount": "Refused(uint256 fee",
    "returns (int": "returns (uint",
    "-5": "5",
}


class Mortal(namedtuple("Mortal", "explorer cradle address")):
    def bear(self, name, source):
        standard = standard_input({"Lives.sol": source}, evmVersion=EVM)
        made = compiled(many_functions.VERSION, standard, "Lives.sol", name)
        body = bytes.fromhex(made.runtime)
        self.explorer.send(self.cradle.address, self.cradle.data("bear", body), gas=8_000_000)
        named = {"contractName": f"Lives.sol:{name}"}
        answer = self.explorer.verify(self.address, standard, many_functions.VERSION, **named)
        assert answer.status_code == 200, answer.json

    def pay(self, fee):
        return self.explorer.send(self.address, calldata("pay(uint256,uint256)", 7, fee))

    def end(self):
        return self.explorer.send(self.address, calldata("end()"))

    def get(self, path):
        answer = self.explorer.client.get(f"{path}{'&' if '?' in path else '?'}_={self.head}")
        return answer.json

    @property
    def head(self):
        return self.explorer.anvil.head()

    def price(self, amount, block):
        path = f"/api/v1/contracts/{self.address}/call?block={block}"
        body = {"functionName": "price", "args": [amount]}
        return self.explorer.client.post(path, json=body).json

    def said(self, paid, refused):
        """What detail, list of logs and Etherscan's form say of a call, and why another failed."""
        _, event = details = [
            (one["signature"], [(a["name"], a["value"]) for a in one["arguments"]])
            for one in self.calls(paid)
        ]
        listed = self.get(f"/api/v1/logs?address={self.address}")["logs"]
        [of_list] = [log["event"] for log in listed if log["transactionHash"] == paid]
        assert [(a["name"], a["value"]) for a in of_list["arguments"]] == event[1]
        rows = self.get(f"/api?module=account&action=txlist&address={self.address}")["result"]
        [name] = [row["functionName"] for row in rows if row["hash"] == paid]
        failure = self.get(f"/api/v1/transactions/{refused}")["error"]
        return [*details, name, failure["arguments"][0]["name"]]

    def calls(self, paid):
        transaction = self.get(f"/api/v1/transactions/{paid}")
        return transaction["method"], transaction["logs"][0]["event"]


@pytest.fixture
def mortal(postgres, template, solc_dir):
    with explorer_over(postgres, template, solc_dir, hardfork=EVM) as explorer:
        cradle = Contract(
            explorer.deploy(solidity.artifact("Cradle", EVM).bytecode.hex()),
            solidity.artifact("Cradle", EVM),
        )
        call = {"to": cradle.address, "data": cradle.data("bear", bytes(2)), "gas": hex(8_000_000)}
        frame = explorer.anvil.call("debug_traceCall", call, "latest", {"tracer": "callTracer"})
        yield Mortal(explorer, cradle, frame["calls"][0]["to"])


def test_what_a_contract_did_is_decoded_by_the_code_that_it_had(mortal):
    mortal.bear("First", SOURCE)
    paid, refused = mortal.pay(8), mortal.pay(0)
    first, stood = mortal.said(paid, refused), mortal.head
    values = [("amount", "7"), ("fee", "8")]
    assert first == [
        ("pay(uint256,uint256)", values),
        ("Paid(uint256,uint256)", values),
        "pay(uint256 amount, uint256 fee)",
        "amount",
    ]
    mortal.end()
    assert mortal.said(paid, refused) == first
    assert mortal.price(1, "latest")["code"] == "not_found"

    source = SOURCE
    for before, after in SWAPPED.items():
        source = source.replace(before, after)
    mortal.bear("Second", source)
    other = mortal.said(mortal.pay(8), mortal.pay(0))
    assert mortal.said(paid, refused) == first
    assert [name for name, _ in other[1][1]] == ["fee", "amount"]
    assert other[2:] == ["pay(uint256 fee, uint256 amount)", "fee"]
    assert mortal.price(1, stood) == {"result": "-5"}
    assert mortal.price(1, "latest") == {"result": "5"}
    for block, name in (stood, "amount"), ("latest", "fee"):
        assert mortal.price(0, block)["error"] == f"The call reverted: Refused({name}=0)"
