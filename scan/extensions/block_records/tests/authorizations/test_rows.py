"""Authorizations as nodes tell them: what no account can have signed, and what is malformed."""

import pytest

from scan.ethereum.block_decoder import decode_block
from scan.ethereum.blocks import MalformedBlock
from scan.extensions.block_records.rows import authorizations_in
from tests.support.node_objects import a_block, a_receipt, a_transaction, an_authorization

pytestmark = pytest.mark.check

LARGEST = "0x" + 64 * "f"
HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0


def authorizations_of(fields):
    return authorizations_in(decode_block(a_block([a_transaction(**fields)]), [a_receipt()], 7))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"chainId": "0x0", "s": hex(HALF_ORDER)}, None),
        ({"chainId": LARGEST}, "wrong_chain"),
        ({"nonce": hex(2**64 - 2)}, None),
        ({"nonce": hex(2**64 - 1)}, "nonce_limit"),
        ({"s": hex(HALF_ORDER + 1)}, "invalid_signature"),
        ({"yParity": "0x2"}, "invalid_signature"),
        *(({part: value}, "invalid_signature") for part in "rs" for value in ("0x0", LARGEST)),
        ({"r": "0x5"}, "invalid_signature"),  # no point of the curve
    ],
)
def test_authorizations_that_no_account_can_make_valid(changes, fault):
    fields = {"type": "0x4", "chainId": "0x1", "authorizationList": [an_authorization(**changes)]}
    [entry] = authorizations_of(fields)
    assert entry.fault == fault
    assert (entry.authority is None) == (fault == "invalid_signature")
    # Only the encoding of this type has the list: a node may write anything there in another.
    assert not authorizations_of(fields | {"type": "0x2"})


IMPOSSIBLE = [
    {"nonce": hex(2**64)},
    {"r": LARGEST + "0"},
    {"address": "0x" + 38 * "1"},
    *({name: value} for name in ("chainId", "nonce", "s") for value in (None, 1, "0x", ...)),
]


@pytest.mark.parametrize(
    "entries", [*([an_authorization(**changes)] for changes in IMPOSSIBLE), [7], {"a": 1}]
)
def test_authorizations_that_no_transaction_can_have_are_malformed(entries):
    with pytest.raises(MalformedBlock):
        authorizations_of({"type": "0x4", "chainId": "0x1", "authorizationList": entries})
