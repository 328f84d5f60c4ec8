"""Blocks as nodes tell them: every type of transaction, old receipts, and what is malformed."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.ethereum import blocks
from tests.support.node_objects import (
    BLOCK_HASH,
    CREATED,
    HASHES,
    SENDER,
    a_block,
    a_receipt,
    a_transaction,
    decode_block,
    without_missing,
)

pytestmark = pytest.mark.check


def a_log(index, **changes):
    fields = {"logIndex": hex(index), "address": CREATED, "topics": [HASHES[0]], "data": "0x01"}
    return without_missing(fields | changes)


def decode_one(transaction, receipt, **block):
    [decoded] = decode_block(a_block([transaction], **block), [receipt], 7).transactions
    return decoded


@pytest.mark.parametrize(
    ("receipt", "block", "status"),
    [
        ({"status": "0x1"}, {}, True),
        ({"status": "0x0"}, {}, False),
        ({"status": ..., "root": "0x" + 64 * "e"}, {"baseFeePerGas": ...}, True),
        ({"status": ...}, {"baseFeePerGas": ...}, True),
    ],
)
def test_status(receipt, block, status):
    assert decode_one(a_transaction(), a_receipt(**receipt), **block).status is status


def test_old_receipts_have_the_price_of_their_transaction():
    assert decode_one(a_transaction(), a_receipt(effectiveGasPrice=None)).gas_price == 10**9


def test_blobs_are_part_of_the_fee():
    blobs = {"type": "0x3", "blobVersionedHashes": HASHES}
    decoded = decode_one(a_transaction(**blobs), a_receipt(blobGasPrice="0x9"))
    assert decoded.fee == 2 * 10**9 * 21_000 + 2 * 131_072 * 9
    assert decoded.blob_gas_price == b"\x09"
    plain = decode_one(a_transaction(), a_receipt(blobGasPrice="0x9"))  # as some nodes give it
    assert (plain.fee, plain.blob_gas_price) == (2 * 10**9 * 21_000, None)


@pytest.mark.parametrize(
    ("transaction", "receipt", "ran"),
    [({}, {}, False), ({"input": "0x00"}, {}, True), ({}, {"gasUsed": "0x5209"}, True)],
)
def test_plain_transfers_run_no_code(transaction, receipt, ran):
    assert decode_one(a_transaction(**transaction), a_receipt(**receipt)).ran_code is ran


WRONG_BLOCKS = (
    *({"number": number} for number in ("0x8", "7", 7)),
    *({"transactions": transactions} for transactions in (None, [HASHES[0]], {})),
    *({"size": f"0x{2**63:x}"}, {"parentHash": ...}, {"miner": "0x" + 38 * "9"}),
    *({"timestamp": "0x" + 16 * "f"}, {"gasLimit": "0x" + 65 * "1"}, {"baseFeePerGas": "7"}),
)
WRONG_TRANSACTIONS = (
    *({"from": ...}, {"to": "0x"}, {"to": "0x" + 40 * "g"}, {"nonce": "0x1" + 64 * "0"}),
    *({"value": value} for value in ("-0x1", "0x1\n", 1)),
    *({"input": text} for text in ("0x0", "a9059cbb")),
    *({"hash": HASHES[1]}, {"blockHash": HASHES[0]}, {"transactionIndex": "0x1"}),
    *({"blobVersionedHashes": ["0x01"]}, {"type": "0x100"}, {"maxFeePerGas": "0xg"}),
)
WRONG_RECEIPTS = (
    *([], [{}, {}], [None], None, [{"status": "success"}]),
    *([{"logs": logs}] for logs in (..., None, [{}], [a_log(1), a_log(1)], [a_log(1), a_log(0)])),
    *(
        [{"logs": [a_log(0, **of_log)]}]
        for of_log in ({"topics": ["0x00"]}, {"topics": HASHES * 3})
    ),
    *([{"logs": [a_log(2**31)]}], [{"logs": [a_log(0, address=None)]}], [{"gasUsed": ...}]),
    *([{"blockHash": HASHES[0]}], [{"transactionHash": HASHES[1]}], [{"transactionIndex": "0x1"}]),
    [{"cumulativeGasUsed": 21_000}],
)


@pytest.mark.parametrize(
    ("block", "transaction", "receipts"),
    [
        *((wrong, {}, [{}]) for wrong in WRONG_BLOCKS),
        *(({}, wrong, [{}]) for wrong in WRONG_TRANSACTIONS),
        *(({}, {}, wrong) for wrong in WRONG_RECEIPTS),
        ({"hash": BLOCK_HASH[:-1]}, {"blockHash": BLOCK_HASH[:-1]}, [{}]),
        ({}, {"gasPrice": ..., "type": "0x2"}, [{"effectiveGasPrice": ...}]),
    ],
    ids=str,
)
def test_what_contradicts_itself_is_malformed(block, transaction, receipts):
    raw_block = a_block([a_transaction(**transaction)]) | block
    raw_receipts = receipts and [r if r is None else a_receipt(**r) for r in receipts]
    with pytest.raises(blocks.MalformedBlock, match=r"^block 7: "):
        decode_block(without_missing(raw_block), raw_receipts, 7)


@pytest.mark.parametrize("answer", [None, [], {"number": "0x7"}])
def test_what_is_no_block_is_malformed(answer):
    with pytest.raises(blocks.MalformedBlock):
        decode_block(answer, [], 7)


def test_a_block_may_have_no_size():
    assert decode_block(a_block([], size=None), [], 7).size is None


def paths(json_, path=()):
    """Of every value inside."""
    inside = []
    for key, value in json_.items() if isinstance(json_, dict) else enumerate(json_):
        inside.append((*path, key))
        if isinstance(value, dict | list):
            inside += paths(value, (*path, key))
    return inside


WHOLE = (
    a_block(
        [
            a_transaction(0, type="0x3", nonce="0x1", blobVersionedHashes=[HASHES[1]]),
            a_transaction(1, to=None, type="0x2", maxFeePerGas="0x9", gas="0xffff"),
        ],
        size="0x7ff",
        withdrawals=[
            {"index": "0x7", "validatorIndex": "0x2a", "address": SENDER, "amount": "0x9"}
        ],
    ),
    [
        a_receipt(0, logs=[a_log(0), a_log(3, topics=[])], blobGasPrice="0x3", type="0x3"),
        a_receipt(1, contractAddress=CREATED, cumulativeGasUsed="0xa410"),
    ],
)


# What a node must not give, or seldom does.
@given(
    st.sampled_from([p for p in paths(WHOLE) if len(p) > 1]),
    st.sampled_from(
        [
            *(..., None, 3, [], {}),
            *("", "0x", "0xg", "1", "0X1", "0x" + "f" * 65, "0x1_0", " 0x1", "0x٣"),
        ]
    ),
)
def test_whatever_is_refused_is_malformed(path, junk):
    """One value anywhere is replaced by junk, or left out."""
    with suppress(blocks.MalformedBlock):
        decode_block(*replaced(json.loads(json.dumps(WHOLE)), path, junk), 7)


def replaced(json_, path, junk):
    """A value with another one at a place inside, or without what is there."""
    *way, key = path
    container = json_
    for inside in way:
        container = container[inside]
    if junk is ...:
        del container[key]
    else:
        container[key] = junk
    return json_
