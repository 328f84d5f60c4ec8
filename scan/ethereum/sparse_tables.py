"""Tables of which few blocks have rows: each row follows from its block, with its traces, alone.
Pure.

Extensions bring them (TABLES in rows.py): the head's writer, bulk, exports and the audit read what
is declared here. The core's are contracts that transactions created, withdrawals of validators
(EIP-4895), and the record of a transfer inside a transaction, which an extension reads from traces.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from scan.cached_values import cached_property
from scan.ethereum.blocks import WEI_PER_GWEI, DecodedBlock, Withdrawal, require
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    COMPUTED,
    INTEGER,
    SAID,
    SMALLINT,
    UINT256,
    Column,
    annotated_columns,
)
from scan.ethereum.forms.form import BURN, PLACE_BITS, Credit, numbered
from scan.hex import data, quantity


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


RowsOfBlock = Callable[[DecodedBlock, Sequence[InternalTransfer]], Iterable[tuple[Any, ...]]]


class SparseTable:
    """A table's rows: `record` is the NamedTuple of a row, with an annotated Column for each field,
    and `rows` returns a block's. Where `emitters` are given, a block without a log of any of these
    addresses has no row. Columns
    that are `filled_later` are of no record: the chain's state after a row's block tells them. The
    code of the addresses in the column `changed` may be another from a row's block on."""

    def __init__(
        self,
        record: type[Any],
        rows: RowsOfBlock,
        *,
        emitters: Collection[bytes] | None = None,
        filled_later: Collection[str] = (),
        changed: str | None = None,
    ) -> None:
        self.record = record
        self.rows = rows
        self.emitters = None if emitters is None else frozenset(emitters)
        self.filled_later = filled_later
        self.changed = changed

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return annotated_columns(self.record)


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
    created: list[tuple[int, bytes, bytes | None]] = [
        (transaction.transaction_index, transaction.contract_address, None)
        for transaction in block.transactions
        if transaction.contract_address and transaction.status
    ]
    created += [
        (transfer.transaction_index, transfer.to_address, transfer.from_address)
        for transfer in internal_transfers
        if transfer.type in CREATIONS
    ]
    created.sort(key=lambda contract: contract[0])
    first = block.number << PLACE_BITS
    for ordinal, (index, address, factory) in enumerate(created[: 1 << PLACE_BITS], first):
        creator = block.transactions[index].from_address
        yield ContractCreation(ordinal, block.number, index, address, creator, factory)


def burns_in(
    block: DecodedBlock, internal_transfers: Sequence[InternalTransfer]
) -> tuple[Credit, ...]:
    """Return the burns of a block, after its other credits, by traces that name both parties.

    A contract burns where it was created in the same transaction (EIP-6780), before Cancun any
    contract, and since Amsterdam none (EIP-8246).
    """
    destroyed = [
        transfer
        for transfer in internal_transfers
        if transfer.type is TransferType.SELFDESTRUCT
        and transfer.from_address == transfer.to_address
    ]
    if not destroyed or block.block_access_list_hash is not None:
        return ()
    created = {(c.transaction_index, c.address) for c in creations_in(block, internal_transfers)}
    burns = [
        (transfer.transaction_index, BURN, transfer.from_address, transfer.value)
        for transfer in destroyed
        if not block.keeps_destroyed
        or (transfer.transaction_index, transfer.from_address) in created
    ]
    return numbered(block, burns, len(block.credits))


def decode_withdrawals(block: Any, number: int) -> list[Withdrawal] | None:
    """Return the withdrawals of block `number`, given as a struct; None where it cannot have any,
    also where its node gives an empty list. Raises BadHex, MalformedBlock."""
    entries = block.withdrawals
    if entries is None or not (entries or block.withdrawalsRoot):
        return None
    withdrawals = [
        Withdrawal(
            withdrawal_index=quantity(entry["index"]),
            validator_index=quantity(entry["validatorIndex"]),
            address=data(entry["address"], 20),
            amount_wei=quantity(entry["amount"]) * WEI_PER_GWEI,
        )
        for entry in entries
    ]
    for withdrawal in withdrawals:
        largest = max(withdrawal.withdrawal_index, withdrawal.validator_index)
        require(largest < 2**63, number, "a withdrawal's index is beyond 63 bits")
        is_bounded = withdrawal.amount_wei < 2**64 * WEI_PER_GWEI
        require(is_bounded, number, "a withdrawal is beyond 64 bits")
    follow = all(a.withdrawal_index < b.withdrawal_index for a, b in pairwise(withdrawals))
    require(follow, number, "its withdrawals are not in order")
    return withdrawals
