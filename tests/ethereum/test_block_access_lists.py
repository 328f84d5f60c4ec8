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
        [ALICE, [[5, [[1, 0x1234], [2, 0]]], [256, []]], [7], [[0, 9], [3, 2**255]], [[1, 4]], []],
        [BOB, [], [], [], [], [[2, b"\x60\x00"]]],
    ]
)


def in_json():
    word = "0x" + 60 * "0"
    return [
        {
            "address": "0x" + ALICE.hex(),
            "storageChanges": [
                {
                    "key": word + "0005",
                    "changes": [
                        {"index": "0x1", "value": word + "1234"},
                        {"index": "0x2", "value": word + "0000"},
                    ],
                },
                {"key": word + "0100", "changes": []},
            ],
            "storageReads": [word + "0007"],
            "balanceChanges": [
                {"index": "0x0", "value": "0x9"},
                {"index": "0x3", "value": hex(2**255)},
            ],
            "nonceChanges": [{"index": "0x1", "value": "0x4"}],
        },
        {"address": "0x" + BOB.hex(), "codeChanges": [{"index": "0x2", "code": "0x6000"}]},
    ]


def test_lists_are_encoded_and_read():
    assert encode_access_list(in_json()) == RAW
    assert balance_changes(RAW, keccak(RAW)) == {ALICE: [(0, 9), (3, 2**255)], BOB: []}
    assert balance_changes(b"\xc0", keccak(b"\xc0")) == {}


@pytest.mark.parametrize("raw", [RAW, b"", b"\xc0", RAW[:-1]], ids=shown)
def test_a_list_of_another_hash_is_refused(raw):
    with pytest.raises(ValueError, match="another hash"):
        balance_changes(raw, keccak(b"other"))


@pytest.mark.parametrize("entries", [[[ALICE]], [ALICE], [[ALICE, 1, 2, [[1]], 3]]], ids=shown)
def test_a_list_of_another_shape_is_refused(entries):
    raw = rlp.encode(entries)
    with pytest.raises(ValueError):  # of any words
        balance_changes(raw, keccak(raw))


@pytest.mark.parametrize("answer", [None, 5, [None], [5], ["0x"], [{}], [{"address": 5}]], ids=str)
def test_malformed_lists_are_refused(answer):
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        encode_access_list(answer)


OLDER_NAMES = {"index": "blockAccessIndex", "key": "slot", "code": "newCode"}
OLDER_VALUES = {"balanceChanges": "postBalance", "nonceChanges": "newNonce", "changes": "newValue"}


def renamed(value, of=""):
    """With the names of alloy-eip7928 0.3, whose indexes were numbers at first."""
    if isinstance(value, list):
        return [renamed(entry, of) for entry in value]
    if not isinstance(value, dict):
        return value
    older = {**OLDER_NAMES, "value": OLDER_VALUES.get(of, "value")}
    return {
        older.get(name, name): int(part, 16) if name == "index" else renamed(part, name)
        for name, part in value.items()
    }


def test_names_of_older_clients_are_read():
    assert "postBalance" in str(renamed(in_json()))
    assert encode_access_list(renamed(in_json())) == RAW


def test_what_a_later_fork_appends_to_an_account_is_passed_over():
    """As EIP-8268 would append the root of its storage."""
    raw = rlp.encode([[ALICE, [], [], [[1, 7]], [], [], b"r" * 32]])
    assert balance_changes(raw, keccak(raw)) == {ALICE: [(1, 7)]}
