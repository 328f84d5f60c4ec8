"""Whatever blocks a node gives are decoded as field by field, or refused in every form alike."""

import json
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.ethereum import events, transport
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_hashing import has_its_hash
from scan.ethereum.block_validation import contradicting_fields
from scan.ethereum.blocks import BlockJson, DecodedBlock, MalformedBlock, ReceiptsJson, read_json
from scan.ethereum.client import NodeError, RpcError
from scan.ethereum.traces import read_call_traces, read_flat_traces
from scan.hex import to_hex
from tests.ethereum import plain_decoder

pytestmark = pytest.mark.check

FIRST = 7
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


def decode_text(chain: Any) -> list[DecodedBlock]:
    """As it comes from a node that answers as nearly all do."""
    return [
        decode_block(msgspec.Raw(orjson.dumps(block)), msgspec.Raw(orjson.dumps(receipts)), number)
        for number, (block, receipts) in enumerate(chain, start=FIRST)
    ]


def decode_parsed(chain: Any) -> list[DecodedBlock]:
    return [
        decode_block(block, receipts, number)
        for number, (block, receipts) in enumerate(chain, start=FIRST)
    ]


def decode_one_by_one(chain: Any) -> list[DecodedBlock]:
    """As blocks are read that are too large for one answer."""
    return [
        decode_block(block, iter(receipts), number)
        for number, (block, receipts) in enumerate(chain, start=FIRST)
    ]


def assert_as_field_by_field(chain: Any) -> None:
    decoded = decode_text(chain)
    assert decoded == decode_parsed(chain) == decode_one_by_one(chain)
    for found, (block, receipts) in zip(decoded, chain, strict=True):
        pairs = enumerate(zip(block["transactions"], receipts, strict=True))
        assert found.transactions == [
            plain_decoder.transaction(index, *pair) for index, pair in pairs
        ]
        assert found.logs == plain_decoder.logs(receipts)


@given(CHAINS)
def test_blocks_are_decoded_as_field_by_field(chain: Any) -> None:
    try:
        decode_parsed(chain)
    except MalformedBlock as error:  # such as a withdrawal beyond 64 bits
        assert "withdrawal" in str(error) or "size" in str(error)
    else:
        assert_as_field_by_field(chain)


def test_ordinary_blocks_are_decoded_as_field_by_field() -> None:
    from bench.chain import Chain

    chain, numbers = Chain.of(FIRST + 2), range(FIRST, FIRST + 2)
    blocks_ = [(orjson.loads(chain.block(n)), orjson.loads(chain.receipts(n))) for n in numbers]
    assert_as_field_by_field(blocks_)
    decoded = decode_text(blocks_)
    assert sum(len(block.transactions) for block in decoded) == 300
    for number, block in zip(
        numbers, decoded, strict=True
    ):  # ordinary ones agree with their hash and roots
        header = read_json(msgspec.Raw(chain.block(number)), BlockJson, number)
        receipts = read_json(msgspec.Raw(chain.receipts(number)), ReceiptsJson, number)
        assert has_its_hash(header)
        assert not contradicting_fields(header, receipts)
        traces = read_call_traces(block, orjson.loads(chain.traces("callTracer", number)))
        assert traces.created
        assert len(traces.transfers) > 10
        assert traces == read_flat_traces(block, orjson.loads(chain.traces("trace_block", number)))


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
def test_old_typeless_and_blob_transactions(
    block_fields: Any, sent_fields: Any, receipt_fields: Any
) -> None:
    block_hash = f"0x{FIRST:064x}"
    common = {"blockHash": block_hash, "transactionIndex": "0x0"}
    sent = {"from": f"0x{1:040x}", "to": f"0x{9:040x}", "value": "0x0", "gasPrice": "0x1"}
    sent |= common | {"hash": f"0x{1:064x}"} | sent_fields
    receipt = {"gasUsed": "0x5208", "transactionHash": sent["hash"], "logs": []}
    block = {"number": hex(FIRST), "hash": block_hash, "parentHash": f"0x{0:064x}"}
    block |= {"timestamp": "0x1", "miner": f"0x{2:040x}", "gasUsed": "0x1", "gasLimit": "0x1"}
    block |= block_fields | {"transactions": [sent]}
    assert_as_field_by_field([(block, [receipt | common | receipt_fields])])


def paths(json_: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of every value inside."""
    inner = json_.items() if isinstance(json_, dict) else enumerate(json_)
    inside = []
    for key, value in inner:
        inside.append((*path, key))
        if isinstance(value, dict | list | tuple):
            inside += paths(value, (*path, key))
    return inside


def decoded_or_none(decode: Any, chain: Any) -> Any:
    try:
        return decode(chain)
    except MalformedBlock:
        return None


@given(CHAINS, st.data())
def test_what_is_refused_is_refused_in_every_form(chain: Any, data: Any) -> None:
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
    parsed = decoded_or_none(decode_parsed, changed)
    assert decoded_or_none(decode_text, changed) == parsed
    if all(isinstance(receipts, list) for _, receipts in changed):
        assert decoded_or_none(decode_one_by_one, changed) == parsed
    if parsed is not None:
        assert_as_field_by_field(changed)


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{}", b"[]", b"[1]", b'[{"id":"0"}]', b'[{"id":0}]', b"[[", b'"\\ud800"'),
        *(b'[{"id":0,"result":null}]', b'{"id":0,"result":{"a":[1]}}'),
        b'[{"id":0,"result":1,"error":{"code":-32000,"message":"\\ud800"}}]',
        b'[{"id":0,"error":{"code":-32000,"message":"no"}}]',
    ],
)
def test_an_answer_read_for_its_raw_results_is_the_same_answer(text: bytes) -> None:
    def read(*, raw: bool) -> Any:
        try:
            answer = transport.read_answer(text, 1 << 20, raw=raw)
        except (NodeError, RpcError) as error:
            return repr(error)
        return answer if isinstance(answer, list) else [answer]

    def plain(item: Any) -> Any:
        if isinstance(item, dict) and isinstance(item.get("result"), msgspec.Raw):
            return item | {"result": orjson.loads(bytes(item["result"]))}
        return item

    assert [*map(plain, read(raw=True))] == [*read(raw=False)]
