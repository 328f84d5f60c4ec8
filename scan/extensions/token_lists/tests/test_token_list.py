"""Token lists as anybody may have written them."""

import json
from datetime import UTC, datetime

import pytest

from scan.errors import InvalidParameter
from scan.extensions.token_lists import token_list
from scan.extensions.token_lists.token_list import MAX_TOKENS, ListedToken

pytestmark = pytest.mark.check

USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"


def entry(**fields):
    token = {"chainId": 1, "address": USDC, "name": "USD Coin", "symbol": "USDC", "decimals": 6}
    return token | fields


def content(*tokens, **fields):
    version = {"major": 1, "minor": 2, "patch": 3}
    file = {"name": "A list", "timestamp": "2026-01-31T00:00:00Z", "version": version}
    return json.dumps(file | {"tokens": tokens} | fields).encode()


def test_tokens_of_the_chain_are_read():
    other = entry(chainId=56, address="no address of ours")
    extended = entry(logoURI="ipfs://x", tags=["stable"], extensions={"bridge": {"10": {}}})
    read = token_list.read(content(other, extended), 1)
    usdc = ListedToken(bytes.fromhex(USDC[2:]), "USD Coin", "USDC", 6, "ipfs://x")
    assert read == ("A list", [usdc], [])
    for address in (USDC.lower(), "0x" + USDC[2:].upper()):  # without letter case, no checksum
        assert token_list.read(content(entry(address=address)), 1).tokens


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"address": USDC[:-2] + "EB" + USDC[-2:]}, "40 hex digits"),
        ({"address": USDC.replace("A0b", "a0b")}, "checksum"),
        ({"name": "USD\u202eCoin"}, "name must be printable"),
        ({"name": " "}, "name must be printable"),
        ({"name": "x" * 61}, "name must"),
        ({"symbol": "US\x00DC"}, "without NUL"),
        ({"symbol": "x" * 21}, "symbol must"),
        ({"decimals": 256}, "decimals must be 0 to 255"),
        ({"decimals": 2**70}, "decimals must be 0 to 255"),
        ({"decimals": "6"}, "wrong type"),
        ({"name": None}, "wrong type"),
        ({"logoURI": "https://x/" + "y" * 2048}, "logoURI must"),
        ({"logoURI": "https://x/\n"}, "logoURI must"),
    ],
)
def test_a_malformed_token_is_left_out_with_its_reason(fields, reason):
    other = entry(address="0x" + 40 * "1")
    [refused] = token_list.read(content(other, entry(**fields)), 1).refused
    assert refused[0] == 1 and reason in refused[1]
    assert len(refused[1]) < 100


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        content(entry(), name=None),
        content("a token"),
        content(entry(chainId="1")),
        content(entry(chainId=2)),
        content(entry(address="0x12"), entry(chainId=2)),
        content(entry(), name="evil\u202e"),
        content(*[entry()] * (MAX_TOKENS + 1)),
    ],
)
def test_what_is_no_list_of_the_chain_is_refused(file):
    with pytest.raises(InvalidParameter):
        token_list.read(file, 1)


def test_a_written_list_is_read_again():
    tokens = [
        ListedToken(bytes.fromhex(USDC[2:]), "USD Coin", "USDC", 6, None),
        ListedToken(bytes(20), "Tether", "USD₮0", 18, "https://example.org/logo.png"),
    ]
    written = token_list.write(tokens, 56, datetime(2026, 1, 31, tzinfo=UTC))
    assert token_list.read(written, 56) == ("Scan", tokens, [])
    file = json.loads(written)
    assert file["tokens"][0] == entry(chainId=56)
    assert file["timestamp"] == "2026-01-31T00:00:00+00:00"
    assert file["version"] == {"major": 1, "minor": 0, "patch": 0}
