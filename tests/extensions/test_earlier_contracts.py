"""Contracts that ended, and others at their address: what was called then is decoded by what stood
there then, and data that was sent before and after is no call."""

import csv
import os
import re
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
        return self.send(self.address, calldata("pay(uint256,uint256)", 7, fee))

    def end(self):
        return self.send(self.address, calldata("end()"))

    def get(self, path):
        return super().get(f"{path}{'&' if '?' in path else '?'}_={self.head}")

    def price(self, amount, block):
        path = f"/api/v1/contracts/{self.address}/call?block={block}"
        body = {"functionName": "price", "args": [amount]}
        return self.client.post(path, json=body).json

    def descriptions(self, paid, refused):
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


PAY, TRANSFER = "pay(uint256,uint256)", "transfer(address,uint256)"
PAY_DATA = calldata(PAY, 7, 8)


def forms_of_call(client, sent):
    """By form, whether it says that a transaction called a function, named `pay` or `transfer`."""

    def get(path):
        return client.get(f"{path}{'&' if '?' in path else '?'}_={time.monotonic()}")

    own = get(f"/api/v1/transactions/{sent}").json
    single = get(f"/api/v2/transactions/{sent}").json
    to, name = own["toAddress"], ("pay" if own["methodId"] == PAY_DATA[:10] else "transfer")
    [listed] = [
        one
        for one in get(f"/api/v2/addresses/{to}/transactions").json["items"]
        if one["hash"] == sent
    ]
    [move] = [
        one
        for one in get(f"/api/v2/advanced-filters?to_address_hashes_to_include={to}").json["items"]
        if one["hash"] == sent and one["token"] is None
    ]
    [row] = csv_rows(get(f"/api/v2/addresses/{to}/transactions/csv").text, sent)
    [entry] = re.findall(
        rf"<entry>(?:(?!</entry>).)*/tx/{sent}.*?</entry>", get(f"/address/{to}/feed").text, re.S
    )
    page, row_of_list = get(f"/tx/{sent}").text, get(f"/address/{to}").text
    [row_of_list] = [part for part in row_of_list.split("<tr")[1:] if sent in part]
    trace = get(f"/api/v1/transactions/{sent}/trace").json["frames"]
    return {
        "method": own["method"] is not None and own["method"]["name"] == name,
        "summary": own["summary"]["text"].startswith("Called"),
        "trace": trace[0]["function"] is not None,
        "page": "<h2>Call</h2>" in page,
        "row": f">{name}</code>" in row_of_list,
        "feed": f"{name}, " in entry,
        "blockscout": single["method"] == name,
        "decoded": single["decoded_input"] is not None,
        "kinds": "contract_call" in single["transaction_types"],
        "listed": listed["method"] == name,
        "kinds in list": "contract_call" in listed["transaction_types"],
        "advanced": (move["type"], move["method"]) == ("contract_interaction", name),
        "csv": name in row,
    }


def csv_rows(text, sent):
    return [row for row in csv.reader(text.splitlines()) if sent in row]


def are_calls(client, sent):
    """What all forms say alike of a transaction."""
    forms = forms_of_call(client, sent)
    assert len({*forms.values()}) == 1, forms
    return forms["method"]


@pytest.fixture
def mortal(older_anvil, places, solc_dir):
    compilers = {"solc_dir": solc_dir, "path": os.environ["PATH"]}
    with Verified(older_anvil, places, follows=True, **compilers) as mortal:
        yield mortal


def test_what_a_contract_did_is_decoded_by_the_code_that_it_had(mortal):
    mortal.bear("First", SOURCE)
    paid, refused = mortal.pay(8), mortal.pay(0)
    first, stood = mortal.descriptions(paid, refused), mortal.head
    values = [("amount", "7"), ("fee", "8")]
    assert first == [
        ("pay(uint256,uint256)", values),
        ("Paid(uint256,uint256)", values),
        "pay(uint256 amount, uint256 fee)",
        "amount",
    ]
    mortal.end()
    assert mortal.descriptions(paid, refused) == first
    assert mortal.price(1, "latest")["code"] == "not_found"

    source = SOURCE
    swapped = {
        "contract First": "contract Second",
        "amount, uint256 fee": "fee, uint256 amount",
        "Refused(uint256 amount": "Refused(uint256 fee",
        "returns (int": "returns (uint",
        "-5": "5",
    }
    for before, after in swapped.items():
        source = source.replace(before, after)
    mortal.bear("Second", source)
    other = mortal.descriptions(mortal.pay(8), mortal.pay(0))
    assert mortal.descriptions(paid, refused) == first
    assert [name for name, _ in other[1][1]] == ["fee", "amount"]
    assert other[2:] == ["pay(uint256 fee, uint256 amount)", "fee"]
    assert mortal.price(1, stood)["result"] == "-5"
    assert mortal.price(1, "latest")["result"] == "5"
    for block, name in (stood, "amount"), ("latest", "fee"):
        assert mortal.price(0, block)["error"] == f"The call reverted: Refused({name}=0)"


@pytest.mark.thorough
def test_data_is_a_call_where_code_stood_at_its_block_and_index(mortal):
    client = mortal.client

    def send(**fields):
        return mortal.send(mortal.address, PAY_DATA, value=5, **fields)

    early = send()
    sender, price = mortal.anvil.accounts[1], 10**11
    in_block = {"data": PAY_DATA, "value": 5, "gasPrice": price}
    earlier_in_block = mortal.anvil.send(sender, mortal.address, **in_block)
    mortal.bear("First", SOURCE)
    first, created = (
        int(mortal.anvil.receipt_of(earlier_in_block)[name], 16)
        for name in ("transactionIndex", "blockNumber")
    )
    assert first == 0
    [born] = mortal.sql(
        "SELECT block_number, transaction_index FROM contract_creations WHERE address = %s",
        bytes.fromhex(mortal.address[2:]),
    )
    assert born == (created, 1)
    paid = mortal.pay(8)
    mortal.end()
    late = send()
    assert [are_calls(client, sent) for sent in (early, earlier_in_block, paid, late)] == [
        False, False, True, False,
    ]  # fmt: skip
    rows = mortal.get(f"/api?module=account&action=txlist&address={mortal.address}")["result"]
    named = {row["hash"] for row in rows if row["functionName"].startswith("pay")}
    assert named == {paid}
    methods = mortal.get(f"/api/v1/contracts/{mortal.address}/gas")["methods"]
    assert {one["methodId"]: one["calls"] for one in methods} == {
        PAY_DATA[:10]: 1,
        calldata("end()"): 1,
    }


@pytest.mark.thorough
def test_data_for_an_account_without_code_is_no_call(mortal):
    receiver, other = mortal.anvil.accounts[5:7]
    transfer = calldata(TRANSFER, other, 5)
    sent = mortal.send(receiver, transfer, value=7)
    assert not are_calls(mortal.client, sent)
    summary = mortal.get(f"/api/v1/transactions/{sent}")["summary"]["text"]
    assert "68 bytes of data" in summary
    assert mortal.get(f"/api/v1/contracts/{receiver}/gas")["methods"] == []
