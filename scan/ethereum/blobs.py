"""Blobs of a block's transactions (EIP-4844), by their versioned hashes. Pure."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.forms.form import PLACE_BITS


class Blob(NamedTuple):
    """A blob that a transaction carried; a row of the table blobs."""

    ordinal: int
    block_number: int
    transaction_index: int
    blob_index: int  # in its transaction
    versioned_hash: bytes


def blobs_of(block: DecodedBlock) -> Iterator[Blob]:
    ordinals = count(block.number << PLACE_BITS)
    for transaction in [t for t in block.transactions if t.blob_versioned_hashes]:
        for index, versioned_hash in enumerate(transaction.blob_versioned_hashes or ()):
            position = block.number, transaction.transaction_index, index
            yield Blob(next(ordinals), *position, versioned_hash)
