"""Values of calls as descriptors' formats show them, and formats that do not fit."""

import pytest

from scan.contracts.abi import parse_type
from scan.extensions.clear_signing.tests.exchange import ANN, NATIVE, TRADE, field, shown, signing
from scan.extensions.clear_signing.value_formats import _integer
from scan.extensions.clear_signing.value_paths import DoesNotFit, TypedValue, bytes_of

COIN, TO = "$.metadata.constants.coin", {"tokenPath": "@.to"}
# Fields, each with the values that it shows and their formats.
FIELDS = {
    "raw values": [
        (field("deadline"), "1800000000 raw"),
        (field("fee"), "-25 raw"),
        (field("note"), "“hi” raw"),
        (field("route"), "0x{exchange}0102 raw"),
        (field("to"), "0x00000000000000000000000000000000000A11cE raw"),
        (field("@.chainId"), "31337 raw"),
    ],
    "times": [
        (field("deadline", "date", encoding="timestamp"), "2027-01-15 08:00:00 UTC date"),
        (field("deadline", "date", encoding="blockheight"), "1800000000 raw"),
        (field("wait", "duration"), "02:17:30 duration"),
    ],
    "units": [
        (field("fee", "unit", base="%", decimals=2), "-0.25% unit"),
        (field("wait", "unit", base="s", prefix=True), "8.25ks unit"),
        (field("wait", "unit", base="s", decimals=6, prefix=True), "8.25ms unit"),
        (field("wait", "unit", base="s", decimals=10**9), "8250 raw"),
    ],
    "the coin": [(field("@.value", "amount"), "0.5 ETH amount")],
    "elements": [
        (
            field("legs.[-1].amount", "tokenAmount", tokenPath="legs.[-1].token"),
            "2 BET tokenAmount",
        ),
        (field("legs[0].mode", "enum", **{"$ref": "$.metadata.enums.modes"}), "fast enum"),
        (field("legs.[].mode", "enum", **{"$ref": "$.metadata.enums.modes"}), "fast enum", "1 raw"),
    ],
    "parameters beside each element": [
        (
            {"path": "legs.[]", "fields": [field("amount", "tokenAmount", tokenPath="token")]},
            *("1 BET tokenAmount", "2 BET tokenAmount"),
        )
    ],
    "slices": [
        (field("wait", "tokenAmount", tokenPath="route.[:20]"), "0.00825 BET tokenAmount"),
        (field("route.[-2:]"), "0x0102 raw"),
        (field("legs.[1:].amount"), "2000000 raw"),
    ],
    "constants and thresholds": [
        (
            field("wait", "tokenAmount", token=COIN, nativeCurrencyAddress=[COIN]),
            "0.00000000000000825 ETH tokenAmount",
        ),
        (field("wait", "tokenAmount", threshold="0x2000", **TO), "Unlimited BET tokenAmount"),
        (field("wait", "tokenAmount", threshold=8250, message="All", **TO), "All BET tokenAmount"),
        (field("wait", "tokenAmount", threshold="8251", **TO), "0.00825 BET tokenAmount"),
        (
            field(
                "wait", "tokenAmount", token={"map": "$.metadata.maps.t", "keyPath": "@.chainId"}
            ),
            "0.00825 BET tokenAmount",
        ),
        ({"label": "Of", "value": COIN}, f"{NATIVE} raw"),
    ],
    "other formats": [
        (field("@.to", "tokenTicker"), "BET tokenTicker"),
        (field("wait", "nftName", collectionPath="@.to"), "“Betting” ({short}) #8250 nftName"),
        (field("@.chainId", "chainId"), "Chain 31337 chainId"),
        (field("to", "addressName", senderAddress=[ANN]), "Sender addressName"),
        (
            {
                "path": "to",
                "$ref": "$.display.definitions.who",
                "params": {"senderAddress": NATIVE},
            },
            "0x00000000000000000000000000000000000A11cE addressName",
        ),
    ],
    "formats that do not fit": [
        (field("note", "amount"), "“hi” raw"),
        (
            field("to", "date", encoding="timestamp"),
            "0x00000000000000000000000000000000000A11cE raw",
        ),
        (field("fee", "amount"), "-25 raw"),
        (field("wait", "addressName"), "8250 raw"),
        (field("wait", "tokenAmount"), "8250 raw"),
        (field("wait", "tokenAmount", tokenPath="to"), "8250 raw"),
        (field("wait", "tokenAmount", chainId=1, **TO), "8250 raw"),
        (field("route", "calldata"), "0x{exchange}0102 raw"),
        (field("wait", "no such format"), "8250 raw"),
        ({**field("wait", "duration"), "encryption": {"scheme": "fhevm"}}, "8250 raw"),
    ],
    "rules of visibility": [
        ({**field("wait"), "visible": "never"},),
        ({**field("wait", "duration"), "visible": {"ifNotIn": [8250]}},),
        ({**field("fee"), "visible": {"ifNotIn": ["8250"]}}, "-25 raw"),
        ({**field("wait"), "visible": {"mustMatch": ["1", 8250]}},),
    ],
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
    fields, expected = (
        [row[0] for row in FIELDS[name]],
        [v for row in FIELDS[name] for v in row[1:]],
    )
    document = chain.descriptor({TRADE: {"intent": {"Do": "trade"}, "fields": fields}})
    document["metadata"] |= {
        "enums": {"modes": {"0": "fast"}},
        "constants": {"coin": NATIVE},
        "maps": {"t": {"values": {"31337": chain.exchange}}},
    }
    document["display"]["definitions"] = {"who": {"label": "Who", "format": "addressName"}}
    client = client_of(trade=document)
    sent = chain.trade_of()
    short = f"{chain.exchange[:8]}…{chain.exchange[-4:]}"
    filled = [value.format(exchange=chain.exchange[2:], short=short) for value in expected]
    assert [f"{value} {format_}" for _, value, format_ in shown(client, sent)] == filled
    assert signing(client, sent)["intent"] == "Do: trade"
    assert client.get(f"/tx/{sent}").status_code == 200


@pytest.mark.check
@pytest.mark.parametrize(("type_", "value"), [("fixed168x10", "1.5"), ("Set.Kind", "1")])
def test_what_is_no_integer_and_has_no_bytes_fits_no_format(type_, value):
    typed = TypedValue(parse_type({"type": type_, "internalType": ""}), value)
    for reading in (_integer, bytes_of):
        with pytest.raises(DoesNotFit):
            reading(typed)
