"""Blocks of real chains, with their traces."""

import msgspec
import orjson
import pytest

from scan.ethereum import block_hashing, block_validation, blocks
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
        header = blocks.read_json(msgspec.Raw(texts[0]), blocks.BlockJson, number)
        assert block_hashing.has_its_hash(header)
        receipts = blocks.read_json(msgspec.Raw(texts[1]), blocks.ReceiptsJson, number)
        assert not block_validation.contradicting_fields(header, receipts)
        traces = read_call_traces(block, orjson.loads(chain.traces(number)))
        assert traces.created and len(traces.transfers) > 10
