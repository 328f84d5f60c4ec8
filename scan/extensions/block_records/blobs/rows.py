"""Blobs of a block's transactions (EIP-4844), by their versioned hashes. Pure."""

from collections.abc import Iterator
from itertools import count
from typing import Annotated, NamedTuple

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.column_types import BIGINT, COMPUTED, HASH, INTEGER, PROVEN, Column
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.sparse_tables import SparseTable
from scan.indexer.hooks import Rows


class Blob(NamedTuple):
    """A blob that a transaction carried; a row of the table blobs."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    blob_index: Annotated[int, Column(INTEGER, PROVEN)]  # in its transaction
    versioned_hash: Annotated[bytes, Column(HASH, PROVEN)]


def blobs_of(block: DecodedBlock) -> Iterator[Blob]:
    ordinals = count(block.number << PLACE_BITS)
    for transaction in [t for t in block.transactions if t.blob_versioned_hashes]:
        for index, versioned_hash in enumerate(transaction.blob_versioned_hashes or ()):
            position = block.number, transaction.transaction_index, index
            yield Blob(next(ordinals), *position, versioned_hash)


HOOKS = Rows(tables={"blobs": SparseTable(Blob, lambda block, _: blobs_of(block))})
