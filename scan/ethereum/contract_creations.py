"""Contracts that a block's transactions, or contracts within them, created. Pure."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Annotated, NamedTuple

from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.column_types import ADDRESS, BIGINT, COMPUTED, INTEGER, SAID, Column
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.internal_transfers import CREATIONS, InternalTransfer


class ContractCreation(NamedTuple):
    """The creation of a contract; a row of the table contract_creations."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, COMPUTED)]
    address: Annotated[bytes, Column(ADDRESS, COMPUTED)]
    creator: Annotated[bytes, Column(ADDRESS, COMPUTED)]  # the transaction's sender
    # The contract that created it; None where the transaction did.
    factory: Annotated[bytes | None, Column(ADDRESS, SAID)]


def creations_in(
    block: DecodedBlock, internal_transfers: Sequence[InternalTransfer]
) -> Iterator[ContractCreation]:
    """Yield the creations of a block in the order of the calls.

    Creations by contracts are read from the internal transfers: without traces they are missing.
    """
    ordinals = count(block.number << PLACE_BITS)
    created = sorted(_created(block, internal_transfers), key=lambda contract: contract[0])
    for index, address, factory in islice(created, 1 << PLACE_BITS):
        position = next(ordinals), block.number, index
        yield ContractCreation(*position, address, block.transactions[index].from_address, factory)


def _created(
    block: DecodedBlock, internal_transfers: Sequence[InternalTransfer]
) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Yield transaction index, contract and factory: creations by transactions first."""
    for transaction in block.transactions:
        if transaction.contract_address and transaction.status:
            yield transaction.transaction_index, transaction.contract_address, None
    for transfer in internal_transfers:
        if transfer.type in CREATIONS:
            yield transfer.transaction_index, transfer.to_address, transfer.from_address
