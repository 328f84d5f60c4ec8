"""Calls of a contract on a chain, described: formats, paths, and what does not fit."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from eth_abi import encode
from eth_utils import keccak
from flask.testing import FlaskClient

from app import create_app
from scan.extensions.clear_signing.settings import Settings
from scan.extensions.clear_signing.value_paths import MAX_VALUES
from tests.support.explorer import Explorer, compiled, standard_input

SOURCE = """
pragma solidity ^0.8.20;

contract Exchange {
    struct Leg { address token; uint256 amount; uint8 mode; }
    event Transfer(address indexed from, address indexed to, uint256 value);
    string public name = "Betting";
    string public symbol = "BET";
    uint8 public constant decimals = 6;
    uint256 public constant totalSupply = 1000000;
    mapping(address => uint256) public balanceOf;

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address, uint256) external pure returns (bool) { return true; }

    function trade(Leg[] calldata, address, uint64, uint32, bytes calldata, int16, string calldata)
        external payable {}
}
"""
VERSION, PATH = "0.8.28", "contracts/Exchange.sol"
LEGS = "(address token,uint256 amount,uint8 mode)[] legs"
REST = "address to,uint64 deadline,uint32 wait,bytes route,int16 fee,string note"
TRADE = f"trade({LEGS},{REST})"
TYPES = ["(address,uint256,uint8)[]", "address", "uint64", "uint32", "bytes", "int16", "string"]
TRANSFER = "transfer(address to,uint256 value)"
SEND = {
    "intent": "Send",
    "interpolatedIntent": "Send {value} to {to} {{now}}",
    "fields": [
        {
            "path": "#.value",
            "label": "Amount",
            "format": "tokenAmount",
            "params": {"tokenPath": "@.to"},
        },
        {"path": "to", "label": "To", "format": "addressName"},
    ],
}
NATIVE = "0x" + "ee" * 20
ANN = "0x00000000000000000000000000000000000a11ce"
SENT_WEI = 5 * 10**17

Document = Mapping[str, Any]


class Chain(NamedTuple):
    explorer: Explorer
    exchange: str

    def descriptor(self, formats: Document, **more: Any) -> dict[str, Any]:
        deployment = {"chainId": 31337, "address": self.exchange}
        return {
            "context": {"contract": {"deployments": [deployment]}},
            "metadata": {"owner": "Example", "contractName": "Exchange"},
            "display": {"formats": formats},
            **more,
        }

    def transfer(self, value: int = 1_500_000) -> str:
        return self.call("transfer(address,uint256)", ["address", "uint256"], [ANN, value])

    def trade(self, *values: Any) -> str:
        return self.call(f"trade({','.join(TYPES)})", TYPES, values, value=hex(SENT_WEI))

    def call(self, signature: str, types: Any, values: Any, **fields: Any) -> str:
        data = keccak(text=signature)[:4] + encode(types, values)
        return self.explorer.send(self.exchange, f"0x{data.hex()}", **fields)

    def trade_of(self, legs: int = 2, deadline: int = 1_800_000_000, note: str = "hi") -> str:
        of_leg = [(self.exchange, 10**6 * (n + 1), n % 3) for n in range(legs)]
        route = bytes.fromhex(self.exchange[2:]) + b"\1\2"
        return self.trade(of_leg, ANN, deadline, 8250, route, -25, note)


ClientOf = Callable[..., FlaskClient]


@pytest.fixture(scope="module")
def chain(explorer: Explorer) -> Iterator[Chain]:
    output = compiled(VERSION, standard_input({PATH: SOURCE}), PATH, "Exchange")
    yield Chain(explorer, explorer.deploy(output.creation))


@pytest.fixture
def client_of(chain: Chain, tmp_path: Path) -> ClientOf:
    """A client of the service with these files in its folder of descriptors."""

    def client(**files: Document | str) -> FlaskClient:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (tmp_path / f"{name}.json").write_text(text)
        own = {**chain.explorer.settings.of_extensions, Settings: Settings(tmp_path)}
        return create_app(replace(chain.explorer.settings, of_extensions=own)).test_client()

    return client


def signing(client: FlaskClient, transaction: str) -> Any:
    answer = client.get(f"/api/v1/transactions/{transaction}")
    assert answer.status_code == 200, answer.json
    return answer.json["clearSigning"]


def shown(client: FlaskClient, transaction: str) -> list[tuple[str, str, str]]:
    described = signing(client, transaction)
    assert described is not None
    return [(f["label"], f["value"], f["format"]) for f in described["fields"]]


def test_a_transfer_is_a_sentence_with_labels(chain: Chain, client_of: ClientOf) -> None:
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


def test_without_a_folder_there_is_none(chain: Chain) -> None:
    assert signing(chain.explorer.client, chain.transfer()) is None


def field(path: str, format_: str = "raw", **params: Any) -> dict[str, Any]:
    return {"path": path, "label": path[:30], "format": format_, "params": params}


FIELDS: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "raw values": (
        [field(p) for p in ("deadline", "fee", "note", "route", "to", "@.chainId")],
        [
            ("1800000000", "raw"),
            ("-25", "raw"),
            ("“hi”", "raw"),
            ("0x{exchange}0102", "raw"),
            ("0x00000000000000000000000000000000000A11cE", "raw"),
            ("31337", "raw"),
        ],
    ),
    "times": (
        [
            field("deadline", "date", encoding="timestamp"),
            field("deadline", "date", encoding="blockheight"),
            field("wait", "duration"),
        ],
        [("2027-01-15 08:00:00 UTC", "date"), ("1800000000", "raw"), ("02:17:30", "duration")],
    ),
    "units": (
        [
            field("fee", "unit", base="%", decimals=2),
            field("wait", "unit", base="s", prefix=True),
            field("wait", "unit", base="s", decimals=6, prefix=True),
            field("wait", "unit", base="s", decimals=10**9),
        ],
        [("-0.25%", "unit"), ("8.25ks", "unit"), ("8.25ms", "unit"), ("8250", "raw")],
    ),
    "the coin": ([field("@.value", "amount")], [("0.5 ETH", "amount")]),
    "elements": (
        [
            field("legs.[-1].amount", "tokenAmount", tokenPath="legs.[-1].token"),
            field("legs[0].mode", "enum", **{"$ref": "$.metadata.enums.modes"}),
            field("legs.[].mode", "enum", **{"$ref": "$.metadata.enums.modes"}),
        ],
        [("2 BET", "tokenAmount"), ("fast", "enum"), ("fast", "enum"), ("1", "raw")],
    ),
    "parameters beside each element": (
        [{"path": "legs.[]", "fields": [field("amount", "tokenAmount", tokenPath="token")]}],
        [("1 BET", "tokenAmount"), ("2 BET", "tokenAmount")],
    ),
    "slices": (
        [
            field("wait", "tokenAmount", tokenPath="route.[:20]"),
            field("route.[-2:]"),
            field("legs.[1:].amount"),
        ],
        [("0.00825 BET", "tokenAmount"), ("0x0102", "raw"), ("2000000", "raw")],
    ),
    "constants and thresholds": (
        [
            field(
                "wait",
                "tokenAmount",
                token="$.metadata.constants.coin",
                nativeCurrencyAddress=["$.metadata.constants.coin"],
            ),
            field("wait", "tokenAmount", tokenPath="@.to", threshold="0x2000"),
            field("wait", "tokenAmount", tokenPath="@.to", threshold=8250, message="All"),
            field("wait", "tokenAmount", tokenPath="@.to", threshold="8251"),
            field(
                "wait",
                "tokenAmount",
                token={"map": "$.metadata.maps.tokens", "keyPath": "@.chainId"},
            ),
            {"label": "Of", "value": "$.metadata.constants.coin"},
        ],
        [
            ("0.00000000000000825 ETH", "tokenAmount"),
            ("Unlimited BET", "tokenAmount"),
            ("All BET", "tokenAmount"),
            ("0.00825 BET", "tokenAmount"),
            ("0.00825 BET", "tokenAmount"),
            (NATIVE, "raw"),
        ],
    ),
    "other formats": (
        [
            field("@.to", "tokenTicker"),
            field("wait", "nftName", collectionPath="@.to"),
            field("@.chainId", "chainId"),
            field("to", "addressName", senderAddress=[ANN]),
            {
                "path": "to",
                "$ref": "$.display.definitions.who",
                "params": {"senderAddress": NATIVE},
            },
        ],
        [
            ("BET", "tokenTicker"),
            ("“Betting” ({short}) #8250", "nftName"),
            ("Chain 31337", "chainId"),
            ("Sender", "addressName"),
            ("0x00000000000000000000000000000000000A11cE", "addressName"),
        ],
    ),
    "formats that do not fit": (
        [
            field("note", "amount"),
            field("to", "date", encoding="timestamp"),
            field("fee", "amount"),
            field("wait", "addressName"),
            field("wait", "tokenAmount"),
            field("wait", "tokenAmount", tokenPath="to"),
            field("wait", "tokenAmount", tokenPath="@.to", chainId=1),
            field("route", "calldata"),
            field("wait", "no such format"),
            {**field("wait", "duration"), "encryption": {"scheme": "fhevm"}},
        ],
        [
            ("“hi”", "raw"),
            ("0x00000000000000000000000000000000000A11cE", "raw"),
            ("-25", "raw"),
            *[("8250", "raw")] * 4,
            ("0x{exchange}0102", "raw"),
            *[("8250", "raw")] * 2,
        ],
    ),
    "rules of visibility": (
        [
            {**field("wait"), "visible": "never"},
            {**field("wait", "duration"), "visible": {"ifNotIn": [8250]}},
            {**field("fee"), "visible": {"ifNotIn": ["8250"]}},
            {**field("wait"), "visible": {"mustMatch": ["1", 8250]}},
        ],
        [("-25", "raw")],
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_values_are_shown_as_their_formats_say(
    chain: Chain, client_of: ClientOf, name: str
) -> None:
    fields, expected = FIELDS[name]
    document = chain.descriptor({TRADE: {"intent": {"Do": "trade"}, "fields": fields}})
    document["metadata"] |= {
        "enums": {"modes": {"0": "fast"}},
        "constants": {"coin": NATIVE},
        "maps": {"tokens": {"values": {"31337": chain.exchange}}},
    }
    document["display"]["definitions"] = {"who": {"label": "Who", "format": "addressName"}}
    client = client_of(trade=document)
    sent = chain.trade_of()
    short = f"{chain.exchange[:8]}…{chain.exchange[-4:]}"
    filled = [(v.format(exchange=chain.exchange[2:], short=short), f) for v, f in expected]
    assert [(value, format_) for _, value, format_ in shown(client, sent)] == filled
    assert signing(client, sent)["intent"] == "Do: trade"
    assert client.get(f"/tx/{sent}").status_code == 200


def test_names_of_arguments_may_be_the_abis(chain: Chain, client_of: ClientOf) -> None:
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


@pytest.mark.parametrize(
    "change",
    [
        {"fields": [field("nothing")]},
        {"fields": [field("to.member")]},
        {"fields": [field("to.[0]")]},
        {"fields": [field("value", "tokenAmount", tokenPath="nothing")]},
        {"fields": [field("@.nothing")]},
        {"fields": [{**field("value"), "visible": {"mustMatch": ["2"]}}]},
        {"fields": [field("value", "enum", token={"map": "$.metadata.m", "keyPath": "to"})]},
        {"fields": [field("to")], "required": ["value"]},
    ],
)
def test_what_does_not_fit_as_a_whole_is_left_out(
    chain: Chain, client_of: ClientOf, change: Document
) -> None:
    document = chain.descriptor({TRANSFER: {**SEND, **change}})
    document["metadata"]["m"] = {"values": {}}
    client = client_of(token=document)
    assert signing(client, sent := chain.transfer()) is None
    assert "What the call is for" not in client.get(f"/tx/{sent}").text


@pytest.mark.parametrize(
    "sentence",
    ["Send {nothing}", "Send {value", "Send }", "{from} {to}", "{value.[0]}", "{}", "{ value }"],
)
def test_a_sentence_that_does_not_fit_leaves_the_intent(
    chain: Chain, client_of: ClientOf, sentence: str
) -> None:
    client = client_of(token=chain.descriptor({TRANSFER: {**SEND, "interpolatedIntent": sentence}}))
    described = signing(client, chain.transfer())
    assert (described["intent"], described["interpolatedIntent"]) == ("Send", None)


def test_a_sentence_with_a_value_that_is_raw_for_want_of_a_format_is_left_out(
    chain: Chain, client_of: ClientOf
) -> None:
    unknown = {**SEND, "fields": [field("value", "amount"), field("to", "tokenTicker")]}
    described = signing(client_of(t=chain.descriptor({TRANSFER: unknown})), chain.transfer())
    assert described["interpolatedIntent"] is None and described["fields"][1]["format"] == "raw"


def test_another_chain_address_or_function_has_none(chain: Chain, client_of: ClientOf) -> None:
    elsewhere = chain.descriptor({TRANSFER: SEND})
    elsewhere["context"]["contract"]["deployments"] = [
        {"chainId": 1, "address": chain.exchange},
        {"chainId": 31337, "address": NATIVE},
    ]
    client = client_of(elsewhere=elsewhere, trade=chain.descriptor({TRADE: SEND}))
    assert signing(client, chain.transfer()) is None
    assert signing(client, chain.explorer.anvil.receipt_of(_coin(chain))["transactionHash"]) is None


def _coin(chain: Chain) -> str:
    return chain.explorer.send(ANN, "0x", value="0x1")


def test_another_function_with_the_same_selector_is_not_described(
    chain: Chain, client_of: ClientOf
) -> None:
    """A function with the same selector as transfer() is another one."""
    other, signature = "many_msg_babbage(bytes1 value)", "transfer(address,uint256)"
    assert keccak(text="many_msg_babbage(bytes1)")[:4] == keccak(text=signature)[:4]
    document = chain.descriptor({other: {"intent": "Nothing", "fields": [field("value")]}})
    assert signing(client_of(t=document), chain.transfer()) is None


def test_values_are_bounded(chain: Chain, client_of: ClientOf) -> None:
    document = chain.descriptor({TRADE: {"intent": "Trade", "fields": [field("legs.[].amount")]}})
    client = client_of(trade=document)
    assert len(shown(client, chain.trade_of(legs=MAX_VALUES))) == MAX_VALUES
    assert signing(client, chain.trade_of(legs=MAX_VALUES + 1)) is None


def test_texts_are_cut_and_visible(chain: Chain, client_of: ClientOf) -> None:
    hostile = "\u202e<b>" + "x" * 1000
    document = chain.descriptor(
        {TRADE: {"intent": hostile, "fields": [{**field("note"), "label": hostile}]}},
        metadata={"owner": hostile, "contractName": 7},
    )
    client = client_of(trade=document)
    sent = chain.trade_of(note="\u202e” and all is well <i>" + "y" * 1000)
    described = signing(client, sent)
    [only] = described["fields"]
    assert (len(only["label"]), len(described["owner"]), len(described["intent"])) == (
        100,
        100,
        300,
    )
    assert len(only["value"]) < 210 and only["value"].startswith("“ and all is well <i>y")
    assert "\u202e" not in json.dumps(described, ensure_ascii=False)
    page = client.get(f"/tx/{sent}").text
    assert "<b>x" not in page and "<i>y" not in page


def test_the_largest_numbers_are_shown(chain: Chain, client_of: ClientOf) -> None:
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
    assert [format_ for _, _, format_ in shown(client, sent)] == [
        "duration",
        "raw",
        "unit",
        "unit",
        "tokenAmount",
        "amount",
        "chainId",
    ]
    assert all(len(value) <= 210 for _, value, _ in shown(client, sent))
    assert client.get(f"/tx/{sent}").status_code == 200
