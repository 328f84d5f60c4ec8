"""Messages of EIP-712 that descriptors describe, and those that they do not."""

import copy
import json

import pytest
from eth_abi import encode

from scan.extensions.clear_signing.tests.exchange import ANN, TRANSFER, field
from scan.extensions.clear_signing.tests.test_calls_to_sign import SAFE, deployed, transfer
from scan.extensions.contract_details.decoder.typed_data import parse
from tests.support.lists import post

KEY = (
    "Batch(Details[] details,address spender,uint256 deadline,bytes call)"
    "Details(address token,uint160 amount)"
)
TYPES = {
    "EIP712Domain": [
        {"name": "name", "type": "string"},
        {"name": "chainId", "type": "uint256"},
        {"name": "verifyingContract", "type": "address"},
    ],
    "Batch": [
        {"name": "details", "type": "Details[]"},
        {"name": "spender", "type": "address"},
        {"name": "deadline", "type": "uint256"},
        {"name": "call", "type": "bytes"},
    ],
    "Details": [{"name": "token", "type": "address"}, {"name": "amount", "type": "uint160"}],
}
APPROVE = {
    "intent": "Approve",
    "interpolatedIntent": "Approve {spender} until {deadline}",
    "fields": [
        {"path": "details.[]", "fields": [field("amount", "tokenAmount", tokenPath="token")]},
        field("spender", "addressName"),
        field("deadline", "date", encoding="timestamp"),
    ],
}
SHOWN = "Approve 0x00000000000000000000000000000000000A11cE until 2027-01-15 08:00:00 UTC"


def message(chain, **domain):
    own = {"name": "Permits", "chainId": 31337, "verifyingContract": chain.exchange, **domain}
    details = [{"token": chain.exchange, "amount": amount} for amount in (1, "2500000")]
    values = {"details": details, "spender": ANN, "deadline": 1_800_000_000, "call": "0x"}
    return {"types": TYPES, "domain": own, "primaryType": "Batch", "message": values}


def descriptor(chain, key=KEY, format_=APPROVE, **bound):
    deployments = [{"chainId": 31337, "address": chain.exchange}]
    return {
        "context": {"eip712": {"deployments": deployments, **bound}},
        "metadata": {"owner": "Example"},
        "display": {"formats": {key: format_}},
    }


def decoded(client, data, **more):
    return post(client, "/decode", typedData=data, **more)["clearSigning"]


def test_a_message_is_a_sentence_with_labels(chain, client_of):
    client = client_of(permits=descriptor(chain, domain={"name": "Permits"}))
    described = decoded(client, message(chain))
    assert described["interpolatedIntent"] == SHOWN
    assert (described["owner"], described["descriptor"]) == ("Example", "permits.json")
    values = [shown["value"] for shown in described["fields"]]
    assert values[:2] == ["0.000001 BET", "2.5 BET"]
    page = client.get("/decode", query_string={"data": json.dumps(message(chain))})
    assert "What the message is for" in page.text and "2.5 BET" in page.text


CONTEXTS = [
    ({"domain": {"name": "Permits", "chainId": "31337"}}, True),
    ({"domain": {"name": "permits"}}, False),
    ({"domain": {"version": "1"}}, False),
    ({"domain": {"chainId": 1}}, False),
    ({"domain": {"chainId": True}}, False),
    ({"domainSeparator": "0x" + "11" * 32}, False),
    ({"deployments": [{"chainId": 1, "address": ANN}]}, False),
    ({"deployments": [{"chainId": 31337, "address": ANN}]}, False),
]


@pytest.mark.parametrize(("bound", "fits"), CONTEXTS)
def test_all_that_the_context_says_has_to_be_true(chain, client_of, bound, fits):
    client = client_of(permits=descriptor(chain, **bound))
    assert (decoded(client, message(chain)) is not None) == fits


DOMAINS = [
    ({"domain": {"name": "Permits"}}, True),
    ({"domain": {"verifyingContract": "exchange"}}, True),
    ({"domainSeparator": "separator"}, True),
    ({"domain": {}}, False),
    ({}, False),
]


@pytest.mark.parametrize(("bound", "fits"), DOMAINS)
def test_a_domain_is_enough_and_nothing_at_all_is_not(chain, client_of, bound, fits):
    separator = parse(message(chain)).message.domain_separator.hex()
    checksummed = chain.exchange.upper().replace("X", "x")
    values = {'"exchange"': f'"{checksummed}"', '"separator"': f'"0x{separator}"'}
    text = json.dumps(bound)
    for name, value in values.items():
        text = text.replace(name, value)
    document = descriptor(chain)
    document["context"]["eip712"] = json.loads(text)
    assert (decoded(client_of(permits=document), message(chain)) is not None) == fits


@pytest.mark.parametrize(
    "domain",
    [{"chainId": 1}, {"verifyingContract": ANN}, {"chainId": None}, {"verifyingContract": None}],
)
def test_a_message_of_another_chain_or_contract_is_not_described(chain, client_of, domain):
    data = copy.deepcopy(message(chain, **domain))
    [absent] = domain
    if domain[absent] is None:
        del data["domain"][absent]
        own = [one for one in TYPES["EIP712Domain"] if one["name"] != absent]
        data["types"] = {**TYPES, "EIP712Domain": own}
    assert decoded(client_of(permits=descriptor(chain)), data) is None


OTHER_KEYS = [
    KEY.replace("uint160", "uint256"),
    KEY.replace(" spender", " owner"),
    KEY.partition(")")[0] + ")",
    "Batch",
    "",
]


@pytest.mark.parametrize("key", OTHER_KEYS)
def test_the_types_have_to_be_those_of_the_key(chain, client_of, key):
    assert decoded(client_of(permits=descriptor(chain, key)), message(chain)) is None


SCHEMA = {"primaryType": "Batch", "types": TYPES}
OTHER_TYPES = {**TYPES, "Details": [{"name": "token", "type": "address"}]}


SCHEMAS = [
    ([{"primaryType": 7}, "https://example.org/a.json", SCHEMA], True),
    ([{"primaryType": "Batch", "types": OTHER_TYPES}], False),
    ({"primaryType": "Batch"}, False),
]


@pytest.mark.parametrize(("schemas", "fits"), SCHEMAS)
def test_schemas_of_the_first_version_name_the_types(chain, client_of, schemas, fits):
    client = client_of(permits=descriptor(chain, "Batch", schemas=schemas))
    assert (decoded(client, message(chain)) is not None) == fits


def test_a_proxy_verifies_messages_of_its_implementation(chain, client_of):
    proxy = deployed(chain, "Proxy", encode(["address"], [chain.exchange]).hex())
    client = client_of(permits=descriptor(chain))
    described = decoded(client, message(chain, verifyingContract=proxy))
    assert described["interpolatedIntent"] == SHOWN


def test_signers_and_calls_in_messages_are_shown(chain, client_of):
    fields = [
        field("@.from", "addressName"),
        field("@.value", "amount"),
        field("call", "calldata", calleePath="@.to", spenderPath="@.from"),
    ]
    send = {"intent": "Send", "interpolatedIntent": "Send to {to}", "fields": [field("to")]}
    batch = {"intent": "Batch", "fields": fields}
    client = client_of(
        permits=descriptor(chain, format_=batch), t=chain.descriptor({TRANSFER: send})
    )
    data = message(chain)
    data["message"]["call"] = f"0x{transfer().hex()}"
    assert decoded(client, data) is None  # who signs is not known
    sender, value, call = decoded(client, data, **{"from": SAFE})["fields"]
    assert sender["address"] == SAFE and value["value"] == "0 ETH"
    assert call["clearSigning"]["interpolatedIntent"].startswith("Send to 0x0000")


HOSTILE = [
    {"domainSeparator": "0x12"},
    {"deployments": [{"address": "0x12"}]},
    {"deployments": 7},
    {"domain": 7},
    {"schemas": [{"primaryType": "A", "types": {"A": 7}}, 7, None]},
]


@pytest.mark.parametrize("bound", HOSTILE)
def test_hostile_contexts_break_nothing(chain, client_of, bound):
    hostile = descriptor(chain, **bound)
    hostile["display"]["formats"] = {"x" * 500: {}, "Batch": {"fields": 7}}
    client = client_of(a=hostile, permits=descriptor(chain))
    assert decoded(client, message(chain))["descriptor"] == "permits.json"
