"""Blocks of a node as a file has them, and the chain that they are of."""

from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.ethereum.client import Node
from scan.indexer.block_source import BlockSource

CHAIN_ID = 31_337


def structs(url, first, last):
    source = BlockSource(Node([url]), traces="off")
    for number, pair in enumerate(source.raw_blocks(first, last), start=first):
        header, receipts = pair
        yield read_json(header, BlockJson, number), read_json(receipts, ReceiptsJson, number)
