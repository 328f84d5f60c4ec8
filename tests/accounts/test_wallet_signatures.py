"""SPEC 5.3: what a wallet signs, and which bytes are its signature."""

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import given
from hypothesis import strategies as st

from scan.accounts.signed_key_requests import key_request_message
from scan.accounts.wallet_signatures import (
    MalformedSignature,
    message_hash,
    parse_signature,
)
from scan.ethereum.signatures import CURVE_ORDER, recover_signer

pytestmark = pytest.mark.check

WALLET = Account.from_key("0x" + "4c" * 32)
OWNER = bytes.fromhex(WALLET.address[2:])
MESSAGE = key_request_message(OWNER, 1_700_000_000_000)
HASH = message_hash(MESSAGE)
SIGNED = bytes(WALLET.sign_message(encode_defunct(text=MESSAGE)).signature)


def rsv(r: int, s: int, v: int) -> bytes:
    return r.to_bytes(32) + s.to_bytes(32) + bytes([v])


def compact(signature: bytes) -> bytes:
    y_parity = signature[64] - 27
    return signature[:32] + bytes([signature[32] | y_parity << 7]) + signature[33:64]


def test_message_is_the_three_lines_with_the_address_in_lower_case():
    assert (
        f"Scan API Key Request\nAddress: {WALLET.address.lower()}\nTimestamp: 1700000000000"
    ) == MESSAGE


def test_message_hash_is_what_the_wallet_signed():
    assert message_hash(MESSAGE) == bytes(
        WALLET.sign_message(encode_defunct(text=MESSAGE)).message_hash
    )


@pytest.mark.parametrize("base", [0, 27])
def test_both_spellings_of_v_recover_the_owner(base):
    signature = SIGNED[:64] + bytes([SIGNED[64] - 27 + base])
    assert recover_signer(HASH, parse_signature(signature)) == OWNER


@given(st.integers(1, CURVE_ORDER - 1), st.integers(0, 2**48))
def test_compact_signatures_recover_whoever_signed(private_key, timestamp_ms):
    wallet = Account.from_key(private_key.to_bytes(32))
    owner = bytes.fromhex(wallet.address[2:])
    message = key_request_message(owner, timestamp_ms)
    signature = bytes(wallet.sign_message(encode_defunct(text=message)).signature)
    assert recover_signer(message_hash(message), parse_signature(compact(signature))) == owner


R, S, V = int.from_bytes(SIGNED[:32]), int.from_bytes(SIGNED[32:64]), SIGNED[64]


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (b"", "not 0"),
        (SIGNED[:63], "not 63"),
        (SIGNED + b"\0", "not 66"),
        (SIGNED + bytes(32), "not 97"),
        (rsv(R, S, 2), "v must be"),
        (rsv(R, S, 26), "v must be"),
        (rsv(R, S, 29), "v must be"),
        (rsv(R, S, 35), "v must be"),
        (rsv(0, S, V), "r is outside"),
        (rsv(CURVE_ORDER, S, V), "r is outside"),
        (rsv(2**256 - 1, S, V), "r is outside"),
        (rsv(R, 0, V), "s is outside"),
        (rsv(R, CURVE_ORDER, V), "s is outside"),
        (rsv(R, CURVE_ORDER - S, 55 - V), "upper half"),
        (bytes(64), "r is outside"),
    ],
)
def test_what_no_wallet_makes_is_refused(signature, reason):
    with pytest.raises(MalformedSignature, match=reason):
        parse_signature(signature)


def test_the_refused_high_s_would_have_recovered_the_owner():
    """So refusing it is what makes a signature unique, not recovery."""
    parsed = parse_signature(SIGNED)._replace(s=CURVE_ORDER - S, y_parity=28 - V)
    assert recover_signer(HASH, parsed) == OWNER


def test_r_that_is_no_point_of_the_curve_recovers_nobody():
    assert recover_signer(HASH, parse_signature(rsv(5, 1, 27))) is None
    assert recover_signer(HASH, parse_signature(rsv(1, 1, 27))) not in (None, OWNER)


@given(st.binary(min_size=0, max_size=100))
def test_any_bytes_are_refused_or_recover_an_address_or_nobody(data):
    try:
        signature = parse_signature(data)
    except MalformedSignature:
        return
    assert recover_signer(HASH, signature) != OWNER
