"""Tables of which few blocks have rows: each row follows from its block, with its traces, alone.
Pure.

Extensions bring them (TABLES in rows.py): the head's writer, bulk, exports and the audit read what
is declared here. The core's are the records of a contract's creation, and of a transfer inside a
transaction, which an extension reads from traces.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

from scan.cached_values import cached_property
from scan.ethereum import blocks
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    BYTES,
    COMPUTED,
    INTEGER,
    SAID,
    SMALLINT,
    UINT256,
    Column,
    annotated_columns,
)


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
    """A transfer of value, in wei, by a contract, or even without value its creation of a contract,
    or its end where value came in afterwards. `transfer_index` is the place of its call in the
    transaction's trace, of which 0 is the transaction itself; where logs alone show it, it counts
    from 1."""

    transaction_index: Annotated[int, Column(INTEGER, SAID)]
    transfer_index: Annotated[int, Column(INTEGER, SAID)]
    type: Annotated[TransferType, Column(SMALLINT, SAID)]
    from_address: Annotated[bytes, Column(ADDRESS, SAID)]
    to_address: Annotated[bytes, Column(ADDRESS, SAID)]
    value: Annotated[int, Column(UINT256, SAID)]


RowsOfBlock = Callable[[blocks.DecodedBlock, Sequence[InternalTransfer]], Iterable[tuple[Any, ...]]]

LogsOfBlock = Callable[[blocks.DecodedBlock, Collection[bytes], bool], Iterable[tuple[Any, ...]]]


class SparseTable:
    """A table's rows: `record` is the NamedTuple of a row, with an annotated Column for each field,
    and `rows` returns a block's. Where `emitters` are given, a block without a log of any of these
    addresses has no row. Columns that are `filled_later` are of no record: the chain's state after
    a row's block tells them."""

    def __init__(
        self,
        record: type[Any],
        rows: RowsOfBlock,
        *,
        emitters: Collection[bytes] | None = None,
        filled_later: Collection[str] = (),
    ) -> None:
        self.record = record
        self.rows = rows
        self.emitters = None if emitters is None else frozenset(emitters)
        self.filled_later = filled_later

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return annotated_columns(self.record)


class FollowedTable(SparseTable):
    """A table of the logs of emitters that the operator chose.

    The statement `emitters_list` lists them, each with the block from which on the table has its
    logs; `begin` is one that precedes new blocks, as older ones may have been written without them.
    `logs_of` returns a block's rows, given the emitters among them and whether the table of logs
    has all of them.

    Where the list has the emitter b"", logs in the table name others: the statement `named_insert`
    adds those that a range of blocks names, and `named_list` lists those of some addresses.
    """

    def __init__(
        self,
        record: type[Any],
        logs_of: LogsOfBlock,
        *,
        emitters_list: str,
        begin: str,
        named_insert: str,
        named_list: str,
    ) -> None:
        super().__init__(record, lambda block, _: ())
        self.logs_of = logs_of
        self.emitters_list, self.begin = emitters_list, begin
        self.named_insert, self.named_list = named_insert, named_list


class DelegatedCall(NamedTuple):
    """Calls of a function that a contract passed on whole by DELEGATECALL in a block; a row of the
    table delegated_calls. `implementation` is None where it kept the last of them, or passed it on
    to several; without a selector of four bytes it is what an event of the contract names."""

    address: Annotated[bytes, Column(ADDRESS, SAID)]
    selector: Annotated[bytes, Column(BYTES, SAID)]
    block_number: Annotated[int, Column(BIGINT, SAID)]
    implementation: Annotated[bytes | None, Column(ADDRESS, SAID)]


class ContractCreation(NamedTuple):
    """The creation of a contract; a row of the table contract_creations."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, COMPUTED)]
    address: Annotated[bytes, Column(ADDRESS, COMPUTED)]
    creator: Annotated[bytes, Column(ADDRESS, COMPUTED)]  # the transaction's sender
    # The contract that created it; None where the transaction did.
    factory: Annotated[bytes | None, Column(ADDRESS, SAID)]
