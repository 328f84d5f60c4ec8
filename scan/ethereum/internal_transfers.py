"""The record of a transfer inside a transaction; an extension reads them from traces."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from scan.ethereum.column_types import ADDRESS, INTEGER, SAID, SMALLINT, UINT256, Column


class TransferType(IntEnum):
    """Kinds of transfers inside a transaction; schema.sql has their names in this order."""

    CALL = 0
    CREATE = 1
    CREATE2 = 2
    SELFDESTRUCT = 3
    TRANSFER = 4  # any of them, by a log (EIP-7708): no trace tells which


TYPE_NAMES = tuple(transfer_type.name.lower() for transfer_type in TransferType)
CREATIONS = (TransferType.CREATE, TransferType.CREATE2)


class InternalTransfer(NamedTuple):
    """A transfer of value, in wei, by a contract, or its creation of a contract, even without
    value. `transfer_index` is the place of its call in the transaction's trace, of which 0 is the
    transaction itself; where logs alone show it, it counts from 1."""

    transaction_index: Annotated[int, Column(INTEGER, SAID)]
    transfer_index: Annotated[int, Column(INTEGER, SAID)]
    type: Annotated[TransferType, Column(SMALLINT, SAID)]
    from_address: Annotated[bytes, Column(ADDRESS, SAID)]
    to_address: Annotated[bytes, Column(ADDRESS, SAID)]
    value: Annotated[int, Column(UINT256, SAID)]
