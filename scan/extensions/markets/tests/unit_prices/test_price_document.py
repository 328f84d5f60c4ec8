"""Documents with unit prices: what is read, and what is refused with its reason."""

import json
from decimal import Decimal

import pytest

from scan.extensions.markets.unit_prices.price_source import MAX_BYTES, MAX_TOKENS, BadPrices, parse

pytestmark = pytest.mark.check

TOKEN = "0x" + "aB" * 20
GIVEN = {"currency": "USD", "time": "2026-01-31T23:59:59Z", "coin": 3011.25, "tokens": {TOKEN: "1"}}


def test_numbers_are_exact_and_addresses_lower_case():
    digits = "1.000000000000000000000000000001"
    prices = parse(json.dumps(GIVEN).replace("3011.25", digits).encode(), "here")
    assert prices[:5] == ("USD", "here", GIVEN["time"], Decimal(digits), {TOKEN.lower(): 1})
    assert (prices.min_depth, prices.pools) == (1000, {})
    assert parse(json.dumps({**GIVEN, "minDepth": "0.5"}).encode(), "").min_depth == Decimal("0.5")
    history = parse(json.dumps({**GIVEN, "history": f"{TOKEN}/{TOKEN}"}).encode(), "").history
    assert (prices.history, history) == (None, f"{TOKEN}/{TOKEN}".lower())
    assert parse(b'{"currency":"EUR","time":"2026-01-31T23:59:59Z"}', "").coin is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        *(({"currency": bad}, "currency") for bad in (None, "", "D" * 13, "a\u202eb")),
        *(
            ({"time": bad}, "time")
            for bad in (1, "2026-02-30T00:00:00Z", "2026-01-31T23:59:59+01:00")
        ),
        *(
            ({"coin": bad}, "price")
            for bad in ("-1", "1e9", True, [], "9" * 21, "٣", "0." + "1" * 31)
        ),
        ({"coin": float("inf")}, "JSON"),
        ({"minDepth": "-1"}, "price"),
        *(({"history": bad}, "history") for bad in (1, TOKEN, f"{TOKEN}/{TOKEN}\n")),
        ({"tokens": {TOKEN: None}}, "price"),
        ({"tokens": {"0x12": "1"}}, "address"),
        ({"tokens": []}, "tokens"),
        ({"tokens": {f"0x{number:040x}": "1" for number in range(MAX_TOKENS + 1)}}, "tokens"),
    ],
)
def test_malformed_documents_are_refused(changed, reason):
    with pytest.raises(BadPrices, match=reason):
        parse(json.dumps({**GIVEN, **changed}).encode(), "here")


@pytest.mark.parametrize(
    "document",
    [b"", b"[]", b"\xff", b"[" * 100_000, b'{"a":' * 40_000, b" " * (MAX_BYTES + 1), b'"text"'],
)
def test_hostile_bytes_are_refused(document):
    with pytest.raises(BadPrices):
        parse(document, "here")
