"""Decoded blocks as the rows of their files. Pure.

What contracts are is not known here: events in the form of a transfer or a swap are candidates,
beside what is needed to decide about their contracts in the chain's order.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow

from scan.bulk.columns import (
    ADDRESS,
    BLOCK_NUMBER,
    BOOLEAN,
    HASH,
    INDEX,
    KINDS,
    TEXT,
    UINT256,
    ColumnFormat,
    make_table,
)
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.events import WRAPPING, duplicate_wraps, swap_event, trade, transfer_event
from scan.indexer.block_rows import possible_contracts
from scan.indexer.block_source import FetchedBlock
from scan.indexer.log_selection import LogSelection

# Events in the form of a transfer, one row a moved id: what TransferLog has, with its words.
TRANSFER_EVENTS = {
    "block_number": ColumnFormat(BLOCK_NUMBER),
    "transaction_index": ColumnFormat(INDEX),
    "log_index": ColumnFormat(INDEX),
    "batch_index": ColumnFormat(INDEX),
    "token_address": ColumnFormat(ADDRESS),
    "from_address": ColumnFormat(ADDRESS),
    "to_address": ColumnFormat(ADDRESS),
    "shape": ColumnFormat(TEXT),
    "is_duplicate": ColumnFormat(BOOLEAN),
    "id": ColumnFormat(UINT256),
    "amount": ColumnFormat(UINT256),
}
# Events in the form of a swap. Which of the pool's tokens went in depends on the amounts alone.
SWAP_EVENTS = {
    "block_number": ColumnFormat(BLOCK_NUMBER),
    "log_index": ColumnFormat(INDEX),
    "transaction_index": ColumnFormat(INDEX),
    "pool_address": ColumnFormat(ADDRESS),
    "maker": ColumnFormat(ADDRESS),
    "is_token0_in": ColumnFormat(BOOLEAN),
    "amount_in": ColumnFormat(UINT256),
    "amount_out": ColumnFormat(UINT256),
}
# Where something is to be found out about contracts. `code` where an address may have code,
# `created` where it was created; `is_first` is the first of these two in the file. `transfer`,
# `wrap` and `swap` are where a contract first emitted an event of that form in the file.
CONTRACT_SIGHTS = {
    "block_number": ColumnFormat(BLOCK_NUMBER),
    "block_hash": ColumnFormat(HASH),
    "address": ColumnFormat(ADDRESS),
    "sight": ColumnFormat(TEXT),
    "is_first": ColumnFormat(BOOLEAN),
    "log_index": ColumnFormat(INDEX, is_nullable=True),
    "form": ColumnFormat(TEXT, is_nullable=True),  # a TransferShape, or a swap's family
}
SPOOLED = {
    "transactions": KINDS["transactions"],
    "internal_transfers": KINDS["internal_transfers"],
    "withdrawals": KINDS["withdrawals"],
    "log_emitters": KINDS["log_emitters"],
    "logs": KINDS["logs"],
    "transfer_events": TRANSFER_EVENTS,
    "swap_events": SWAP_EVENTS,
    "contract_sights": CONTRACT_SIGHTS,
    "blocks": KINDS["blocks"],  # the last: its file says that the others are there
}
# Stand for a pool's tokens while only the direction is to be known.
_TOKEN0, _TOKEN1 = b"0", b"1"
MAX_ROWS = 50_000  # as Python's objects, which take 20 times as much as columns

Rows = list[tuple[Any, ...]]


class RangeTables:
    """The tables of consecutive blocks, grown block by block; as Arrow's columns they are small."""

    def __init__(self, selection: LogSelection) -> None:
        self._selection = selection
        self._tables: dict[str, list[pyarrow.Table]] = {kind: [] for kind in SPOOLED}
        self._rows: dict[str, Rows] = {kind: [] for kind in SPOOLED}
        self._sights = _Sights()

    def add(self, blocks: Sequence[FetchedBlock]) -> None:
        """Raises OverflowError or pyarrow's errors for values outside of their columns."""
        for fetched in blocks:
            _add_block(self._rows, self._sights, fetched, self._selection)
        if sum(map(len, self._rows.values())) >= MAX_ROWS:
            self._make_tables()

    def finish(self) -> dict[str, pyarrow.Table]:
        """A table of each kind in SPOOLED."""
        self._make_tables()
        return {kind: pyarrow.concat_tables(tables) for kind, tables in self._tables.items()}

    def _make_tables(self) -> None:
        for kind, columns in SPOOLED.items():
            rows = self._rows[kind]
            values = zip(*rows, strict=True) if rows else ([] for _ in columns)
            table = make_table(columns, dict(zip(columns, map(list, values), strict=True)))
            self._tables[kind].append(table)
            rows.clear()


class _Sights:
    """Rows of CONTRACT_SIGHTS, of which those of earlier blocks decide which is the first."""

    def __init__(self) -> None:
        self.rows: Rows = []
        self._seen: set[bytes] = set()
        self._emitted: set[tuple[bytes, str]] = set()

    def add_contract(self, block: DecodedBlock, address: bytes, is_created: bool) -> None:
        sight = "created" if is_created else "code"
        is_first = address not in self._seen
        self._seen.add(address)
        self.rows.append((block.number, block.hash, address, sight, is_first, None, None))

    def add_event(
        self, block: DecodedBlock, address: bytes, sight: str, log_index: int, form: str
    ) -> None:
        if (address, sight) not in self._emitted:
            self._emitted.add((address, sight))
            self.rows.append((block.number, block.hash, address, sight, True, log_index, form))


def _add_block(
    rows: dict[str, Rows], sights: _Sights, fetched: FetchedBlock, selection: LogSelection
) -> None:
    block = fetched.block
    number = block.number
    emitted = dict.fromkeys([*(log.address for log in block.logs), *fetched.created])
    stored = [] if selection.stored == "none" else [e for e in block.logs if selection.stores(e)]
    rows["transactions"] += [(number, *t) for t in block.transactions]
    rows["internal_transfers"] += [(number, *t) for t in fetched.internal_transfers]
    rows["withdrawals"] += [(number, *w) for w in block.withdrawals or ()]
    rows["log_emitters"] += [(address, number) for address in emitted]
    rows["logs"] += [
        (
            number,
            log.log_index,
            log.transaction_index,
            log.topics[0] if log.topics else None,
            log.address,
            b"".join(log.topics[1:]),
            log.data,
        )
        for log in stored
    ]
    _add_events(rows, sights, block)
    addresses, created = possible_contracts(fetched)
    for address in addresses:
        sights.add_contract(block, address, address in created)
    rows["contract_sights"] += sights.rows
    sights.rows.clear()
    rows["blocks"].append(
        (
            number,
            block.timestamp_s,
            block.hash,
            block.parent_hash,
            block.miner,
            block.gas_used,
            block.gas_limit,
            str(sum(t.gas_price for t in block.transactions)),
            block.base_fee_per_gas,
            None if block.withdrawals is None else len(block.withdrawals),
            fetched.is_traced,
            block.size,
            len(block.transactions),
            len(fetched.internal_transfers),
            len(stored),
            None,
            None,
        )
    )


def _add_events(rows: dict[str, Rows], sights: _Sights, block: DecodedBlock) -> None:
    number, transfers = block.number, []
    for log in block.logs:
        if (event := transfer_event(log)) is not None:
            transfers.append(event)
        elif (swap := swap_event(log)) is not None:
            maker = block.transactions[swap.transaction_index].from_address
            swapped = trade(swap, _TOKEN0, _TOKEN1)
            rows["swap_events"].append(
                (
                    number,
                    swap.log_index,
                    swap.transaction_index,
                    swap.pool,
                    maker,
                    swapped.token_in == _TOKEN0,
                    swapped.amount_in,
                    swapped.amount_out,
                )
            )
            sights.add_event(block, swap.pool, "swap", swap.log_index, swap.family)
    duplicates = duplicate_wraps(transfers)
    for event in transfers:
        shape, is_duplicate = event.shape.value, event.log_index in duplicates
        position = (number, event.transaction_index, event.log_index)
        rows["transfer_events"] += [
            (
                *position,
                batch_index,
                event.token,
                event.from_address,
                event.to_address,
                shape,
                is_duplicate,
                *words,
            )
            for batch_index, words in enumerate(event.words)
        ]
        sight = "wrap" if event.shape in WRAPPING else "transfer"
        sights.add_event(block, event.token, sight, event.log_index, shape)
