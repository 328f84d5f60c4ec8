"""Contracts that ended, and others at their address: what was called then is decoded by what stood
there then, and data that was sent before and after is no call."""

import os
import time
from pathlib import Path

import pytest

from tests.extensions.lives import EVM, Mortals, older_anvil
from tests.support import many_functions
from tests.support.anvil import calldata
from tests.support.explorer import compiled, standard_input

__all__ = ["older_anvil"]
SOURCE = Path(__file__).with_name("EarlierContract.sol").read_text()


class Verified(Mortals):
    """Contracts at one address that are verified one after the other."""

    def bear(self, name, source):
        standard = standard_input({"Lives.sol": source}, evmVersion=EVM)
        made = compiled(many_functions.VERSION, standard, "Lives.sol", name)
        body = bytes.fromhex(made.runtime)
        self.send(self.cradle.address, self.cradle.data("bear", body), gas=8_000_000)
        named = {"contractName": f"Lives.sol:{name}"}
        answer = self.verify(self.address, standard, many_functions.VERSION, **named)
        assert answer.status_code == 200, answer.json

    def pay(self, fee):
        return self.send(self.address, calldata(PAY, 7, fee))

    def end(self):
        return self.send(self.address, calldata("end()"))

    def get(self, path):
        return super().get(f"{path}{'&' if '?' in path else '?'}_={time.monotonic()}")


PAY = "pay(uint256,uint256)"


@pytest.fixture
def mortal(older_anvil, places, solc_dir):
    compilers = {"solc_dir": solc_dir, "path": os.environ["PATH"]}
    with Verified(older_anvil, places, follows=True, **compilers) as mortal:
        yield mortal


def test_what_a_contract_did_is_decoded_by_the_code_that_it_had(mortal):
    def descriptions(paid, refused):
        """What the detail and Etherscan's form say of a call, and why another failed."""
        detail, failed = mortal.transaction(paid), mortal.transaction(refused)
        decoded = (detail["method"], detail["logs"][0]["event"])
        values = [{a["name"]: a["value"] for a in one["arguments"]} for one in decoded]
        rows = mortal.get(f"/api?module=account&action=txlist&address={mortal.address}")["result"]
        [name] = [row["functionName"] for row in rows if row["hash"] == paid]
        return [*values, name, failed["error"]["arguments"][0]["name"]]

    def price(amount, block):
        path = f"/api/v1/contracts/{mortal.address}/call?block={block}"
        return mortal.client.post(path, json={"functionName": "price", "args": [amount]}).json

    mortal.bear("First", SOURCE)
    paid, refused = mortal.pay(8), mortal.pay(0)
    first, stood = descriptions(paid, refused), mortal.head
    values = {"amount": "7", "fee": "8"}
    assert first == [values, values, "pay(uint256 amount, uint256 fee)", "amount"]
    mortal.end()
    assert descriptions(paid, refused) == first
    assert price(1, "latest")["code"] == "not_found"
    source = SOURCE
    for before, after in {
        "contract First": "contract Second",
        "amount, uint256 fee": "fee, uint256 amount",
        "Refused(uint256 amount": "Refused(uint256 fee",
        "returns (int": "returns (uint",
        "-5": "5",
    }.items():
        source = source.replace(before, after)
    mortal.bear("Second", source)
    _, event, *other = descriptions(mortal.pay(8), mortal.pay(0))
    assert descriptions(paid, refused) == first
    assert ([*event], other) == (["fee", "amount"], ["pay(uint256 fee, uint256 amount)", "fee"])
    for block, result, name in (stood, "-5", "amount"), ("latest", "5", "fee"):
        assert price(1, block)["result"] == result
        assert price(0, block)["error"] == f"The call reverted: Refused({name}=0)"


@pytest.mark.thorough
def test_data_is_a_call_where_code_stood_at_its_block_and_index(mortal):
    pay_data = calldata(PAY, 7, 8)
    early = mortal.send(mortal.address, pay_data, value=5)
    in_block = {"data": pay_data, "value": 5, "gasPrice": 10**11}
    earlier_in_block = mortal.anvil.send(mortal.you, mortal.address, **in_block)
    mortal.bear("First", SOURCE)
    born = (
        "SELECT t.transaction_index, c.transaction_index FROM transactions t"
        " JOIN contract_creations c USING (block_number) WHERE t.hash = %s AND c.address = %s"
    )
    keys = (bytes.fromhex(text[2:]) for text in (earlier_in_block, mortal.address))
    assert mortal.sql(born, *keys) == [(0, 1)]
    paid = mortal.pay(8)
    mortal.end()
    late = mortal.send(mortal.address, pay_data, value=5)
    for sent in (early, earlier_in_block, paid, late):
        own, is_call = mortal.transaction(sent), sent == paid
        listed = mortal.get(f"/api/v2/addresses/{mortal.address}/transactions")["items"]
        [kinds] = [one["transaction_types"] for one in listed if one["hash"] == sent]
        assert (own["method"] is not None) is is_call
        assert own["summary"]["text"].startswith("Called") is is_call
        assert (mortal.frames(sent)[0]["function"] is not None) is is_call
        assert ("contract_call" in kinds) is is_call
    rows = mortal.get(f"/api?module=account&action=txlist&address={mortal.address}")["result"]
    assert {row["hash"] for row in rows if row["functionName"].startswith("pay")} == {paid}
    methods = mortal.get(f"/api/v1/contracts/{mortal.address}/gas")["methods"]
    calls = {one["methodId"]: one["calls"] for one in methods}
    assert calls == {pay_data[:10]: 1, calldata("end()"): 1}
