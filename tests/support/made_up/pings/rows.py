from collections.abc import Iterator
from typing import Annotated, NamedTuple

from scan.ethereum import blocks, sparse_tables
from scan.ethereum.column_types import ADDRESS, BIGINT, COMPUTED, INTEGER, Column
from scan.ethereum.forms.form import PLACE_BITS
from scan.indexer.hooks import Rows

PINGED = bytes.fromhex("dd" * 20)


class Ping(NamedTuple):
    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, COMPUTED)]
    pinger: Annotated[bytes, Column(ADDRESS, COMPUTED)]


def pings(block: blocks.DecodedBlock) -> Iterator[Ping]:
    sent = (t for t in block.transactions if t.to_address == PINGED)
    for ordinal, t in enumerate(sent, start=block.number << PLACE_BITS):
        yield Ping(ordinal, block.number, t.transaction_index, t.from_address)


HOOKS = Rows(tables={"pings": sparse_tables.SparseTable(Ping, lambda block, _: pings(block))})
