"""Blocks decoded from bytes, as files have them, are those decoded from a node's JSON."""

import pytest

from scan.ethereum import block_decoder, block_encoding, block_hashing, client, fork_schedule
from scan.ethereum.rlp_and_tries import list_root
from scan.extensions.backfill import raw_block
from scan.extensions.backfill.tests.history_files import signed_chain
from scan.extensions.block_records.uncles.block_completion import BlockCompleter
from scan.hex import to_hex
from tests.support import faulty_node, mined_chain
from tests.support.anvil import Anvil


def test_a_block_with_blobs_is_that_of_the_node(scenario):
    """Anvil's own block has the blobs inside, so the block is given the root without them."""
    blocks = signed_chain.structs(scenario.anvil.url, 0, scenario.anvil.head())
    [(header, receipts)] = [(h, r) for h, r in blocks if any(t.blobs for t in h.transactions)]
    for transaction in header.transactions:
        transaction.blobs = None
    leaves = block_encoding.encode_transactions(header.transactions)
    header.transactionsRoot = to_hex(list_root(leaves))
    header.hash = to_hex(block_hashing.header_hash(header))
    for record in (*header.transactions, *receipts):
        record.blockHash = header.hash
    raw = raw_block.read_block(raw_block.parts_of(header, receipts, ()), int(header.number, 16))
    header.size = hex(raw.size)
    expected = block_decoder.decode_block(header, receipts, int(header.number, 16))
    assert raw_block.decode(raw, signed_chain.CHAIN_ID).block == expected
    assert expected.blob_base_fee


def test_roots_of_the_state_take_the_place_of_statuses_before_byzantium():
    with Anvil(hardfork="homestead") as anvil, faulty_node.FaultyNode(anvil.url) as proxy:
        for value in (1, 2, 3):
            anvil.send(anvil.accounts[0], anvil.accounts[1], value=value, gasPrice=10**10)
            anvil.send(anvil.accounts[0], None, data="0xfe", value=7, gasPrice=10**10)
            anvil.mine()
        proxy.fault = mined_chain.MinedChain(anvil, {2: [(1, "0x" + "22" * 20)]}, head=3)
        for header, receipts in [*signed_chain.structs(proxy.url, 1, 3)]:
            number = int(header.number, 16)
            expected = block_decoder.decode_block(header, receipts, number)
            completer = BlockCompleter(client.Node([proxy.url]), lambda: signed_chain.CHAIN_ID)
            uncles = completer.headers(expected, header)
            raw = raw_block.read_block(raw_block.parts_of(header, receipts, uncles), number)
            decoded = raw_block.decode(raw, signed_chain.CHAIN_ID)
            assert decoded.block == expected._replace(size=raw.size)
            assert not decoded.block.has_statuses
            assert [u.miner for u in decoded.uncles] == [u.miner for u in uncles]


def test_prices_of_blobs_follow_the_forks_of_their_chain():
    """By e**(excess / fraction), rounded down."""
    assert fork_schedule.blob_price(1, 1_746_612_310, 40_000_000) == 159_773
    assert fork_schedule.blob_price(1, 1_746_612_311, 40_000_000) == 2_944
    with pytest.raises(ValueError, match="beyond any price"):
        fork_schedule.blob_price(1, 0, 2**64)
