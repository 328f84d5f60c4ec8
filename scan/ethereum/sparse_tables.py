"""Tables of which few blocks have rows: each row follows from its block, with its traces, alone.

Extensions bring them (TABLES in rows.py): the head's writer, bulk, exports and the audit read what
is declared here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from scan.cached_values import cached_property
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.column_types import Column, annotated_columns
from scan.ethereum.internal_transfers import InternalTransfer

RowsOfBlock = Callable[[DecodedBlock, Sequence[InternalTransfer]], Iterable[tuple[Any, ...]]]


class SparseTable:
    """A table's rows: `record` is the NamedTuple of a row, with an annotated Column for each field,
    and `rows` returns a block's. Where `emitters` are given, a block without a log of any of these
    addresses has no row. Rows that are `of_traces` differ where a block was not traced. Columns
    that are `filled_later` are of no record: the chain's state after a row's block tells them."""

    def __init__(
        self,
        record: type[Any],
        rows: RowsOfBlock,
        *,
        emitters: Collection[bytes] | None = None,
        of_traces: bool = False,
        filled_later: Collection[str] = (),
    ) -> None:
        self.record = record
        self.rows = rows
        self.emitters = None if emitters is None else frozenset(emitters)
        self.of_traces = of_traces
        self.filled_later = filled_later

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return annotated_columns(self.record)

    def rows_of(
        self,
        block: DecodedBlock,
        transfers: Sequence[InternalTransfer],
        emitters: Collection[bytes],
    ) -> list[tuple[Any, ...]]:
        """Return a block's rows; `emitters` are the addresses whose logs it has."""
        if self.emitters is not None and self.emitters.isdisjoint(emitters):
            return []
        return list(self.rows(block, transfers))
