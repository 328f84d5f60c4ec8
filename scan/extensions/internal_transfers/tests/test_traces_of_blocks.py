"""Blocks of real chains, with their traces."""

import msgspec
import orjson
import pytest

from scan.ethereum.block_hashing import has_its_hash
from scan.ethereum.block_validation import check_body
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.extensions.internal_transfers.traces import read_call_traces
from tests.ethereum.test_blocks import decode_block

pytestmark = pytest.mark.check


def test_ordinary_blocks_have_their_hashes_and_traces():
    """Those that benchmarks read."""
    from bench.chain import Chain

    chain = Chain.of(9)
    for number in (7, 8):
        texts = chain.block(number), chain.receipts(number)
        block = decode_block(*map(orjson.loads, texts), number)
        assert len(block.transactions) == 150
        header = read_json(msgspec.Raw(texts[0]), BlockJson, number)
        assert has_its_hash(header)
        receipts = read_json(msgspec.Raw(texts[1]), ReceiptsJson, number)
        assert not check_body(header, receipts).contradiction
        traces = read_call_traces(block, orjson.loads(chain.traces(number)))
        assert traces.created and len(traces.transfers) > 10
