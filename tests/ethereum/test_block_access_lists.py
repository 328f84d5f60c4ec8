"""Block access lists (EIP-7928): encoded from JSON, and balances read from their bytes."""

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum.state_proofs import balance_changes, encode_access_list
from tests.support.value_names import shown

pytestmark = pytest.mark.check

ALICE, BOB = b"\x01" * 20, b"\x02" * 20
RAW = rlp.encode(
    [
        [ALICE, [[5, [[1, 0x1234]]], [256, []]], [7], [[0, 9], [3, 2**255]], [[1, 4]], []],
        [BOB, [], [], [], [], [[2, b"\x60\x00"]]],
    ]
)


# As execution-apis name fields, and as alloy-eip7928 0.3 did, whose indexes were numbers.
@pytest.mark.parametrize(
    ("index", "key", "value", "balance", "nonce", "code", "one"),
    [
        ("index", "key", "value", "value", "value", "code", "0x1"),
        ("blockAccessIndex", "slot", "newValue", "postBalance", "newNonce", "newCode", 1),
    ],
    ids=["execution-apis", "alloy"],
)
def test_lists_are_encoded_and_read(index, key, value, balance, nonce, code, one):
    word = "0x" + 60 * "0"
    answer = [
        {
            "address": "0x" + ALICE.hex(),
            "storageChanges": [
                {key: word + "0005", "changes": [{index: one, value: word + "1234"}]},
                {key: word + "0100", "changes": []},
            ],
            "storageReads": [word + "0007"],
            "balanceChanges": [{index: "0x0", balance: "0x9"}, {index: 3, balance: hex(2**255)}],
            "nonceChanges": [{index: one, nonce: "0x4"}],
        },
        {"address": "0x" + BOB.hex(), "codeChanges": [{index: "0x2", code: "0x6000"}]},
    ]
    assert encode_access_list(answer) == RAW
    assert balance_changes(RAW, keccak(RAW)) == {ALICE: [(0, 9), (3, 2**255)], BOB: []}


@pytest.mark.parametrize("raw", [RAW, b"", RAW[:-1]], ids=shown)
def test_a_list_of_another_hash_is_refused(raw):
    with pytest.raises(ValueError, match="another hash"):
        balance_changes(raw, keccak(b"other"))


@pytest.mark.parametrize("entries", [[[ALICE]], [ALICE], [[ALICE, 1, 2, [[1]], 3]]], ids=shown)
def test_a_list_of_another_shape_is_refused(entries):
    raw = rlp.encode(entries)
    with pytest.raises(ValueError):  # of any words
        balance_changes(raw, keccak(raw))


@pytest.mark.parametrize("answer", [None, 5, [None], ["0x"], [{}], [{"address": 5}]], ids=str)
def test_malformed_lists_are_refused(answer):
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        encode_access_list(answer)


def test_what_a_later_fork_appends_to_an_account_is_passed_over():
    """As EIP-8268 would append the root of its storage."""
    raw = rlp.encode([[ALICE, [], [], [[1, 7]], [], [], b"r" * 32]])
    assert balance_changes(raw, keccak(raw)) == {ALICE: [(1, 7)]}
