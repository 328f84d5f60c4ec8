"""Blocks decoded in columns are those of decode_block(), or are left to it."""

import json
from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
import orjson
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scan.bulk.block_columns import SPOOLED, RangeTables
from scan.bulk.column_decoder import decode_columns
from scan.bulk.hex_columns import Surprising
from scan.bulk.typed_blocks import read_replies
from scan.ethereum import events
from scan.ethereum.blocks import MalformedBlock, decode_block
from scan.hex import to_hex
from scan.indexer.block_source import FetchedBlock
from scan.indexer.log_selection import NO_LOGS

FIRST = 7
SELECTION = NO_LOGS._replace(stored="all")
AMOUNTS = st.integers(0, 2**256 - 1) | st.sampled_from(
    [0, 1, 2**63, 2**64 - 1, 2**64, 2**127, 2**128, 10**38 - 1, 10**38, 2**255, 2**256 - 1]
)
QUANTITIES = AMOUNTS.map(hex)
PRICES = st.integers(0, 2**64).map(hex) | st.integers(0, 10**12).map(hex)
GAS = st.sampled_from(["0x5208", "0x0", "0xffffff"]) | st.integers(0, 2**40).map(hex)
ADDRESSES = st.integers(0, 5).map(lambda n: f"0x{n:040x}")
WORDS = ADDRESSES.map(lambda address: f"0x{address[2:]:0>64}") | AMOUNTS.map("0x{:064x}".format)
# What a node must not give, or seldom does.
JUNK = st.sampled_from(
    ["", "0x", "0xg", "x0", "1", "0X1", "0x" + "f" * 65, "0x1_0", " 0x1", "0x٣", None, 3, [], {}]
)


# First topic, topics, and words of data of the events that are decoded.
FORMS = [
    (events.TRANSFER, 3, 1),
    (events.TRANSFER, 4, 0),
    (events.TRANSFER, 1, 3),
    (events.TRANSFER_SINGLE, 4, 2),
    (events.TRANSFER_BATCH, 4, 6),
    (events.DEPOSIT, 2, 1),
    (events.WITHDRAWAL, 2, 1),
    (events.SWAP_V2, 3, 4),
    (events.SWAP_V3, 3, 5),
    (events.SWAP_PANCAKE_V3, 3, 7),
]


@st.composite
def logs(draw: Any) -> dict[str, Any]:
    topic, topics, words = draw(st.sampled_from(FORMS))
    if draw(st.integers(0, 3)) == 0:
        topics, words = draw(st.integers(0, 4)), draw(st.integers(0, 8))
    small = st.integers(0, 5).map(lambda n: f"0x{n * 32:064x}")
    data = [draw(WORDS | small) for _ in range(words)]
    odd = draw(st.sampled_from(["", "", "", "07"]))
    return {
        "address": draw(ADDRESSES),
        "topics": [to_hex(topic), *(draw(WORDS) for _ in range(topics - 1))][:topics],
        "data": "0x" + "".join(word[2:] for word in data) + odd,
        "removed": False,
    }


@st.composite
def transactions(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    transaction = {
        "from": draw(ADDRESSES),
        "to": draw(st.none() | ADDRESSES),
        "value": draw(QUANTITIES),
        "input": draw(st.binary(max_size=6).map(to_hex)),
        "gasPrice": draw(PRICES),
    }
    receipt = {
        "gasUsed": draw(GAS),
        "status": draw(st.sampled_from(["0x1", "0x0"])),
        "contractAddress": draw(st.none() | ADDRESSES),
        "logs": draw(st.lists(logs(), max_size=4)),
    }
    optional = ("nonce", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas")
    transaction |= {name: draw(QUANTITIES) for name in draw(st.sets(st.sampled_from(optional)))}
    if draw(st.booleans()):
        transaction["type"] = draw(st.sampled_from(["0x0", "0x2", "0x3", "0x7e"]))
    if draw(st.booleans()):
        receipt["effectiveGasPrice"] = draw(PRICES)
    if draw(st.booleans()):
        receipt["cumulativeGasUsed"] = draw(QUANTITIES)
    if draw(st.integers(0, 5)) == 0:
        transaction["blobVersionedHashes"] = draw(st.lists(WORDS, max_size=3))
        receipt["blobGasPrice"] = draw(PRICES)
    return transaction, receipt


@st.composite
def blocks(draw: Any, number: int = FIRST) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block and its receipts, as a node gives them."""
    block_hash = f"0x{number:064x}"
    pairs = draw(st.lists(transactions(), max_size=4))
    is_old = draw(st.integers(0, 3)) == 0  # before Byzantium receipts have a root, no status
    log_index = 0
    for index, (transaction, receipt) in enumerate(pairs):
        common = {"blockHash": block_hash, "transactionIndex": hex(index)}
        transaction |= common | {"hash": f"0x{number:032x}{index:032x}"}
        receipt |= common | {"transactionHash": transaction["hash"]}
        if is_old:
            del receipt["status"]
            receipt["root"] = f"0x{index:064x}"
        for log in receipt["logs"]:
            log_index += draw(st.integers(1, 3))
            log["logIndex"] = hex(log_index)
    block = {
        "number": hex(number),
        "hash": block_hash,
        "parentHash": f"0x{number - 1:064x}",
        "timestamp": hex(draw(st.integers(0, 2**40))),
        "miner": draw(ADDRESSES),
        "gasUsed": draw(QUANTITIES),
        "gasLimit": draw(QUANTITIES),
        "transactions": [transaction for transaction, _ in pairs],
    }
    if not is_old and draw(st.booleans()):
        block["baseFeePerGas"] = draw(PRICES)
    if draw(st.booleans()):
        block["size"] = hex(draw(st.integers(0, 2**63)))
    if draw(st.booleans()):
        block["withdrawals"] = [
            {
                "index": hex(n),
                "validatorIndex": "0x2",
                "address": draw(ADDRESSES),
                "amount": draw(st.integers(0, 2**65).map(hex)),
            }
            for n in range(draw(st.integers(0, 2)))
        ]
    return block, [receipt for _, receipt in pairs]


CHAINS = st.tuples(blocks(FIRST), blocks(FIRST + 1), blocks(FIRST + 2))


def in_columns(chain: Any) -> dict[str, pyarrow.Table]:
    """Raises Surprising, and msgspec's errors."""
    replies = [
        {"jsonrpc": "2.0", "id": number, "result": result}
        for number, result in enumerate(part for pair in chain for part in pair)
    ]
    typed = read_replies(orjson.dumps(replies), len(chain))
    assert typed is not None
    tables = RangeTables(SELECTION)
    tables.add_tables(decode_columns(typed, FIRST, SELECTION).tables)
    return tables.finish()


def one_by_one(chain: Any) -> dict[str, pyarrow.Table]:
    """Raises MalformedBlock, and OverflowError."""
    tables = RangeTables(SELECTION)
    for number, (block, receipts) in enumerate(chain, start=FIRST):
        decoded = decode_block(block, receipts, number)
        is_traced = False if any(t.ran_code for t in decoded.transactions) else None
        tables.add([FetchedBlock(decoded, [], (), is_traced)])
    return tables.finish()


def rows(tables: dict[str, pyarrow.Table], kind: str) -> Any:
    """In their order, where the order is meant."""
    listed = [tuple(row.values()) for row in tables[kind].to_pylist()]
    if kind in ("log_emitters", "code_sights", "event_sights"):
        return Counter(map(repr, listed))
    return listed


def assert_same(chain: Any) -> None:
    columns, plain = in_columns(chain), one_by_one(chain)
    for kind in SPOOLED:
        assert columns[kind].schema == plain[kind].schema
        assert rows(columns, kind) == rows(plain, kind), kind


@given(CHAINS)
@settings(max_examples=100, deadline=None)
def test_what_is_decoded_in_columns_is_what_decode_block_makes(chain: Any) -> None:
    with suppress(Surprising):  # decode_block() decides
        assert_same(chain)


def test_a_deposit_beside_its_mint_is_a_duplicate_in_columns_too() -> None:
    log = {"address": f"0x{9:040x}", "data": f"0x{5:064x}"}
    party = f"0x{1:064x}"
    deposit = log | {"topics": [to_hex(events.DEPOSIT), party]}
    mint = log | {"topics": [to_hex(events.TRANSFER), f"0x{0:064x}", party]}
    receipt_logs = [
        entry | {"logIndex": hex(n)} for n, entry in enumerate([deposit, deposit, mint])
    ]
    block_hash = f"0x{FIRST:064x}"
    common = {"blockHash": block_hash, "transactionIndex": "0x0"}
    sent = {"from": f"0x{1:040x}", "to": f"0x{9:040x}", "value": "0x0", "gasPrice": "0x1"}
    sent |= common | {"hash": f"0x{1:064x}"}
    receipt = {"gasUsed": "0x1", "status": "0x1", "transactionHash": sent["hash"]} | common
    block = {"number": hex(FIRST), "hash": block_hash, "parentHash": f"0x{0:064x}"}
    block |= {"timestamp": "0x1", "miner": f"0x{2:040x}", "gasUsed": "0x1", "gasLimit": "0x1"}
    chain = [(block | {"transactions": [sent]}, [receipt | {"logs": receipt_logs}])]
    assert_same(chain)
    duplicates = in_columns(chain)["transfer_events"]["is_duplicate"].to_pylist()
    assert duplicates == [True, False, False]


def test_ordinary_blocks_are_decoded_in_columns() -> None:
    """So that the property above is of something."""
    from bench.chain import Chain

    chain = Chain()
    blocks_ = [
        (orjson.loads(chain.block(n)), orjson.loads(chain.receipts(n)))
        for n in range(FIRST, FIRST + 3)
    ]
    assert_same(blocks_)
    assert in_columns(blocks_)["transactions"].num_rows == 450


BLOB = {"type": "0x3", "blobVersionedHashes": [f"0x{1:064x}", f"0x{2:064x}"]}


@pytest.mark.parametrize(
    ("block_fields", "sent_fields", "receipt_fields"),
    [
        ({}, {}, {"root": f"0x{1:064x}"}),  # old: no status
        ({"baseFeePerGas": "0x7"}, {"type": "0x2"}, {"status": "0x0"}),
        ({"baseFeePerGas": "0x7"}, BLOB, {"status": "0x1", "blobGasPrice": "0x9"}),
        ({}, {"value": hex(10**38)}, {"status": "0x1"}),
        ({}, {"value": hex(2**256 - 1), "input": "0x" + "ff" * 99}, {"status": "0x1"}),
    ],
)
def test_old_typeless_and_blob_transactions_are_decoded_in_columns_too(
    block_fields: Any, sent_fields: Any, receipt_fields: Any
) -> None:
    """Nothing of them is left to decode_block()."""
    block_hash = f"0x{FIRST:064x}"
    common = {"blockHash": block_hash, "transactionIndex": "0x0"}
    sent = {"from": f"0x{1:040x}", "to": f"0x{9:040x}", "value": "0x0", "gasPrice": "0x1"}
    sent |= common | {"hash": f"0x{1:064x}"} | sent_fields
    receipt = {"gasUsed": "0x5208", "transactionHash": sent["hash"], "logs": []}
    block = {"number": hex(FIRST), "hash": block_hash, "parentHash": f"0x{0:064x}"}
    block |= {"timestamp": "0x1", "miner": f"0x{2:040x}", "gasUsed": "0x1", "gasLimit": "0x1"}
    block |= block_fields | {"transactions": [sent]}
    assert_same([(block, [receipt | common | receipt_fields])])


def paths(json_: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of every value inside."""
    inner = json_.items() if isinstance(json_, dict) else enumerate(json_)
    inside = []
    for key, value in inner:
        inside.append((*path, key))
        if isinstance(value, dict | list | tuple):
            inside += paths(value, (*path, key))
    return inside


@given(CHAINS, st.data())
@settings(max_examples=100, deadline=None)
def test_what_decode_block_refuses_is_not_decoded_in_columns(chain: Any, data: Any) -> None:
    """One value anywhere is replaced by junk, or left out."""
    changed = json.loads(json.dumps(chain))
    path = data.draw(st.sampled_from(paths(changed)))
    place = changed
    for key in path[:-1]:
        place = place[key]
    if isinstance(place, dict) and data.draw(st.booleans()):
        del place[path[-1]]
    else:
        place[path[-1]] = data.draw(JUNK)
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in changed):
        return
    try:
        plain = one_by_one(changed)
    except (MalformedBlock, OverflowError):
        with pytest.raises((Surprising, msgspec.DecodeError, AssertionError)):
            in_columns(changed)
        return
    try:
        columns = in_columns(changed)
    except (Surprising, msgspec.DecodeError, AssertionError):
        return
    for kind in SPOOLED:
        assert rows(columns, kind) == rows(plain, kind), kind


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"[1]", b'[{"id":"0"}]', b'[{"id":0}]', b"[["])
def test_an_answer_that_is_none_is_left_to_the_ordinary_reader(text: bytes) -> None:
    with suppress(msgspec.DecodeError):
        assert read_replies(text, 1) is None
