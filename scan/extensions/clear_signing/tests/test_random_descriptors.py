"""Descriptors with parts that are replaced at random: read and used without any other error."""

import copy
import json
import random

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts.abi_decoding import DecodingBudget, decode_call_by
from scan.extensions.clear_signing import call_description, descriptors, value_paths
from scan.extensions.clear_signing.tests.exchange import ANN, LEGS, NATIVE, REST, TYPES
from scan.extensions.transaction_details.explanations.summary_parts import Names

pytestmark = pytest.mark.check

EXCHANGE = "0x" + "ab" * 20
SIGNATURE = f"trade({','.join(TYPES)})"
SELECTOR = keccak(text=SIGNATURE)[:4]
ARGUMENTS = ([(EXCHANGE, 5, 1), (ANN, 2**255, 0)], ANN, 2**63, 8250, b"\1" * 30, -25, "hi")
TOKENS = {EXCHANGE: {"token": {"symbol": "BET", "name": "Betting", "decimals": 6}}}
FIELDS = [
    {"path": "legs.[].amount", "label": "Amount", "format": "tokenAmount",
     "params": {"tokenPath": "legs.[].token", "threshold": "0xff", "message": "All"}},
    {"path": "to", "label": "To", "format": "addressName", "visible": {"ifNotIn": [NATIVE]}},
    {"path": "deadline", "label": "Until", "format": "date", "params": {"encoding": "timestamp"}},
    {"path": "wait", "label": "Fee", "format": "unit",
     "params": {"base": "s", "decimals": 3, "prefix": True}},
    {"path": "legs", "fields": [{"path": "[0].mode", "label": "Mode", "format": "enum",
                                 "params": {"$ref": "$.metadata.enums.modes"}}]},
    {"path": "route", "format": "calldata", "label": "Inside", "params": {
        "calleePath": "to", "amountPath": "@.value", "selector": "0xa9059cbb", "chainId": 7,
        "spenderPath": "@.from"}},
    {"path": "route.[:20]", "$ref": "$.display.definitions.who"},
    {"path": "fee", "format": "nftName", "label": "Id", "params": {
        "collection": {"map": "$.metadata.maps.tokens", "keyPath": "@.chainId"}}},
]  # fmt: skip
DOCUMENT = {
    "$schema": "erc7730-v2.schema.json",
    "context": {"contract": {"deployments": [{"chainId": 7, "address": EXCHANGE}], "abi": []}},
    "metadata": {
        "owner": "Example",
        "enums": {"modes": {"0": "fast", "1": "slow"}},
        "maps": {"tokens": {"values": {"7": EXCHANGE}}},
    },
    "display": {
        "definitions": {"who": {"label": "Who", "format": "addressName", "params": {"a": "@.to"}}},
        "formats": {
            f"trade({LEGS},{REST})": {
                "intent": {"Do": "trade"},
                "interpolatedIntent": "Trade until {deadline} to {to}",
                "required": ["to"],
                "excluded": ["note"],
                "fields": FIELDS,
            }
        },
    },
}
VALUES = [
    None, True, 0, -1, 2**300, 1.5, "", "x", "$.", "$.metadata", "$.display.definitions.who", "#",
    "@.to", "legs", "legs.[]", "legs.[].[]", "route.[5:2]", "to.[0:4]", "fee.[-3:]", "{", "0x", [],
    {}, [[]], {"map": "$.metadata.maps.tokens", "keyPath": "to"}, {"mustMatch": [1]}, "\ud800",
    EXCHANGE, "tokenAmount", "unit", "duration", "amount", "chainId", "date", "enum",
    "0x" + "f" * 99,
]  # fmt: skip


def places_in(value):
    """Every container in a document with each of its keys."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in [*keys] if isinstance(value, dict | list) else ():
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places_in(value[key])


def changed(randomly):
    document = copy.deepcopy(DOCUMENT)
    for _ in range(randomly.randint(1, 3)):
        container, key = randomly.choice([*places_in(document)])
        if randomly.random() < 0.2 and isinstance(container, dict):
            container[randomly.choice(["fields", "$ref", "token", "visible", "value"])] = 7
        container[key] = copy.deepcopy(randomly.choice(VALUES))
    return document


def described(folder, document):
    (folder / "a.json").write_text(json.dumps(document))
    descriptor = descriptors.Descriptors(folder).find("7", bytes.fromhex(EXCHANGE[2:]), SELECTOR)
    if descriptor is None:
        return None
    calldata = SELECTOR + encode(TYPES, ARGUMENTS)
    method = decode_call_by(calldata, [SIGNATURE])
    known = descriptor.formats[SELECTOR]
    try:
        call = call_description.Call("7", ANN, EXCHANGE, 5, calldata, method)
        selected = call_description.select(known, call, DecodingBudget())
        inner = [call_description.call_in(value, "7") for value in selected]
        assert all(of_value is None or of_value.chain_id == "7" for of_value in inner)
    except value_paths.DoesNotFit:
        return None
    assert all(len(address) == 42 for address in call_description.addresses_in(selected))
    description = call_description.describe(descriptor, known, selected, Names(TOKENS, "ETH"))
    assert json.loads(json.dumps(description.record()))
    return description.record()


def test_the_document_itself_fits(tmp_path):
    record = described(tmp_path, DOCUMENT)
    assert record is not None and record["intent"] == "Do: trade"
    assert [f["format"] for f in record["fields"]] == [
        "tokenAmount", "raw", "addressName", "raw", "unit", "enum", "raw", "addressName", "raw",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_changed_documents_raise_nothing(tmp_path, seed):
    randomly = random.Random(seed)
    outcomes = [described(tmp_path, changed(randomly)) is not None for _ in range(150)]
    assert any(outcomes) and not all(outcomes)
