"""Calls of a contract on a chain, described: sentences, paths, and what does not fit."""

import json

import pytest
from eth_utils import keccak

from scan.contracts import abi_decoding
from scan.extensions.clear_signing.descriptor_formats import MAX_FIELDS
from scan.extensions.clear_signing.tests.exchange import (
    ANN,
    NATIVE,
    TRADE,
    TRANSFER,
    field,
    shown,
    signing,
)
from scan.extensions.clear_signing.value_paths import MAX_VALUES
from tests.support import page_checks, serving

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}

SEND = {
    "intent": "Send",
    "interpolatedIntent": "Send {value} to {to} {{now}}",
    "fields": [
        {**field("#.value", "tokenAmount", tokenPath="@.to"), "label": "Amount"},
        {"path": "to", "label": "To", "format": "addressName"},
    ],
}


def test_a_transfer_is_a_sentence_with_labels(chain, client_of):
    client = client_of(token=chain.descriptor({TRANSFER: SEND}))
    described = signing(client, sent := chain.transfer())
    to = "0x00000000000000000000000000000000000A11cE"
    assert described["fields"] == [
        {"label": "Amount", "value": "1.5 BET", "format": "tokenAmount", "address": chain.exchange},
        {"label": "To", "value": to, "format": "addressName", "address": ANN},
    ]
    del described["fields"]
    assert described == {
        "intent": "Send",
        "interpolatedIntent": f"Send 1.5 BET to {to} {{now}}",
        "owner": "Example",
        "contractName": "Exchange",
        "descriptor": "token.json",
    }
    page = client.get(f"/tx/{sent}").text
    assert "What the call is for" in page and "token.json" in page and "1.5 BET" in page
    assert client.get(f"/tx/{sent}").status_code == 200


def test_the_page_can_be_read_on_a_phone(chain, client_of, page):
    label = {**field("note"), "label": "x" * 100}
    fields = [field("legs.[].token", "addressName"), label, field("route")]
    client = client_of(trade=chain.descriptor({TRADE: {"intent": "Trade", "fields": fields}}))
    sent = chain.trade_of(note="y" * 500)
    with serving.serving(client.application) as url:
        page.call("Emulation.setDeviceMetricsOverride", **PHONE)
        page.open(f"{url}/tx/{sent}")
        assert "Trade" in page.text("#clear-signing")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page_checks.all_violations(page) == []


def test_without_a_folder_there_is_none(chain):
    assert signing(chain.explorer.client, chain.transfer()) is None


def test_names_of_arguments_may_be_the_abis(chain, client_of):
    """As in descriptors of the first version."""
    inputs = [{"type": "address", "name": "x"}, {"type": "uint256", "name": "amount"}]
    own = [{"name": "transfer", "type": "function", "inputs": inputs}]
    for key in ("transfer(address,uint256)", "0xa9059cbb"):
        for abi, name in ((own, "amount"), ("https://example.org/abi.json", "value")):
            fields = [{**SEND["fields"][0], "path": name}]
            document = chain.descriptor(
                {key: {"interpolatedIntent": f"{{{name}}}", "fields": fields}}
            )
            document["context"]["contract"]["abi"] = abi
            described = signing(client_of(token=document), chain.transfer())
            assert described["interpolatedIntent"] == "1.5 BET", (key, name)


UNFIT = [
    {"fields": [field("nothing")]},
    {"fields": [field("to.member")]},
    {"fields": [{**field("x"), "path": "#"}]},
    {"fields": [field("to.[0]")]},
    {"fields": [field("value", "tokenAmount", tokenPath="nothing")]},
    {"fields": [field("@.nothing")]},
    {"fields": [{**field("value"), "visible": {"mustMatch": ["2"]}}]},
    {"fields": [field("value", "enum", token={"map": "$.metadata.m", "keyPath": "to"})]},
    {"fields": [field("to")], "required": ["value"]},
]


@pytest.mark.parametrize("change", UNFIT)
def test_what_does_not_fit_as_a_whole_is_left_out(chain, client_of, change):
    document = chain.descriptor({TRANSFER: {**SEND, **change}})
    document["metadata"]["m"] = {"values": {}}
    client = client_of(token=document)
    assert signing(client, sent := chain.transfer()) is None
    assert "What the call is for" not in client.get(f"/tx/{sent}").text


@pytest.mark.parametrize(
    "sentence",
    ["Send {nothing}", "Send {value", "Send }", "{from} {to}", "{value.[0]}", "{}", "{ value }"],
)
def test_a_sentence_that_does_not_fit_leaves_the_intent(chain, client_of, sentence):
    client = client_of(token=chain.descriptor({TRANSFER: {**SEND, "interpolatedIntent": sentence}}))
    described = signing(client, chain.transfer())
    assert (described["intent"], described["interpolatedIntent"]) == ("Send", None)


def test_a_sentence_with_a_value_that_is_raw_for_want_of_a_format_is_left_out(chain, client_of):
    unknown = {**SEND, "fields": [field("value", "amount"), field("to", "tokenTicker")]}
    described = signing(client_of(t=chain.descriptor({TRANSFER: unknown})), chain.transfer())
    assert described["interpolatedIntent"] is None and described["fields"][1]["format"] == "raw"


def test_another_chain_address_or_function_has_none(chain, client_of):
    elsewhere = chain.descriptor({TRANSFER: SEND})
    elsewhere["context"]["contract"]["deployments"] = [
        {"chainId": 1, "address": chain.exchange},
        {"chainId": 31337, "address": NATIVE},
    ]
    client = client_of(elsewhere=elsewhere, trade=chain.descriptor({TRADE: SEND}))
    assert signing(client, chain.transfer()) is None
    assert signing(client, chain.explorer.anvil.receipt_of(_coin(chain))["transactionHash"]) is None


def _coin(chain):
    return chain.explorer.send(ANN, "0x", value="0x1")


def test_another_function_with_the_same_selector_is_not_described(chain, client_of):
    """A function with the same selector as transfer() is another one."""
    other, signature = "many_msg_babbage(bytes1 value)", "transfer(address,uint256)"
    assert keccak(text="many_msg_babbage(bytes1)")[:4] == keccak(text=signature)[:4]
    document = chain.descriptor({other: {"intent": "Nothing", "fields": [field("value")]}})
    assert signing(client_of(t=document), chain.transfer()) is None


def test_values_are_bounded(chain, client_of):
    document = chain.descriptor({TRADE: {"intent": "Trade", "fields": [field("legs.[].amount")]}})
    client = client_of(trade=document)
    assert len(shown(client, chain.trade_of(legs=MAX_VALUES))) == MAX_VALUES
    assert signing(client, chain.trade_of(legs=MAX_VALUES + 1)) is None


def test_the_time_of_a_description_is_bounded(chain, client_of, monkeypatch):
    monkeypatch.setattr(abi_decoding, "PROCESSOR_S", 0.5)
    hidden = {"ifNotIn": [*range(10**9, 10**9 + 999), 0]}  # is looked up 40,000 times
    fields = [{"$ref": "$.display.hidden", "path": "legs.[].mode"}] * MAX_FIELDS
    document = chain.descriptor({TRADE: {"intent": "Trade", "fields": fields}})
    document["display"]["hidden"] = {"visible": hidden}
    sent = chain.trade([(chain.exchange, 1, 0)] * MAX_VALUES, ANN, 0, 0, b"", 0, "")
    assert signing(client_of(trade=document), sent) is None


def test_texts_are_cut_and_visible(chain, client_of):
    hostile = "\u202e<b>" + "x" * 1000
    document = chain.descriptor(
        {TRADE: {"intent": hostile, "fields": [{**field("note"), "label": hostile}]}},
        metadata={"owner": hostile, "contractName": 7},
    )
    client = client_of(trade=document)
    sent = chain.trade_of(note="\u202e” and all is well <i>" + "y" * 1000)
    described = signing(client, sent)
    [only] = described["fields"]
    assert [*map(len, (only["label"], described["owner"], described["intent"]))] == [100, 100, 300]
    assert len(only["value"]) < 210 and only["value"].startswith("“ and all is well <i>y")
    assert "\u202e" not in json.dumps(described, ensure_ascii=False)
    page = client.get(f"/tx/{sent}").text
    assert "<b>x" not in page and "<i>y" not in page


def test_the_largest_numbers_are_shown(chain, client_of):
    fields = [
        field("value", "duration"),
        field("value", "date", encoding="timestamp"),
        field("value", "unit", base="x", decimals=255, prefix=True),
        field("value", "unit", base="x", prefix=True),
        field("value", "tokenAmount", tokenPath="@.to", threshold="0x" + "f" * 65),
        field("value", "amount"),
        field("value", "chainId"),
    ]
    client = client_of(token=chain.descriptor({TRANSFER: {"intent": "All", "fields": fields}}))
    sent = chain.transfer(2**256 - 1)
    formats = [format_ for _, _, format_ in shown(client, sent)]
    assert formats == "duration raw unit unit tokenAmount amount chainId".split()
    assert all(len(value) <= 210 for _, value, _ in shown(client, sent))
    assert client.get(f"/tx/{sent}").status_code == 200
