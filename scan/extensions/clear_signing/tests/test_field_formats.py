"""Values of calls as descriptors' formats show them, and formats that do not fit."""

from typing import Any

import pytest

from scan.contracts.abi import parse_type
from scan.extensions.clear_signing.descriptor_files import DoesNotFit, TypedValue, bytes_of
from scan.extensions.clear_signing.field_formats import _integer
from scan.extensions.clear_signing.tests.exchange import ANN, NATIVE, TRADE, field, shown, signing

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


@pytest.mark.parametrize("note", ["hi", "žluťoučký", 'a "quoted"', "a\nb"])
def test_texts_are_found_in_lists_as_they_are(chain, client_of, note):
    rules = [{"ifNotIn": [note]}, {"mustMatch": [note]}]
    fields = [{**field("note"), "visible": rule} for rule in rules]
    document = chain.descriptor({TRADE: {"intent": "Trade", "fields": [*fields, field("fee")]}})
    sent = chain.trade_of(note=note)
    assert shown(client_of(trade=document), sent) == [("fee", "-25", "raw")]


@pytest.mark.parametrize("name", FIELDS)
def test_values_are_shown_as_their_formats_say(chain, client_of, name):
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


@pytest.mark.check
@pytest.mark.parametrize(("type_", "value"), [("fixed168x10", "1.5"), ("Set.Kind", "1")])
def test_what_is_no_integer_and_has_no_bytes_fits_no_format(type_, value):
    typed = TypedValue(parse_type({"type": type_, "internalType": ""}), value)
    for reading in (_integer, bytes_of):
        with pytest.raises(DoesNotFit):
            reading(typed)
