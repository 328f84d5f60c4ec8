"""The backfill of columns that a migration added, from the node, newest blocks first.

It may run beside the indexer and be killed at any time: filled rows stay, and the next run skips
them. A row is filled only from a block with the hash of its own block; the indexer writes nothing
during such a write (indexer/backfill_lock). Where the node has no value, the column stays null, and
the next run reads the row again.
"""

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from scan.database import copy_rows
from scan.database.connection import Database
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.client import Node
from scan.ethereum.column_types import annotated_columns
from scan.indexer import chain_identity
from scan.indexer.block_rows import TRANSACTION_COLUMNS, BlockRows
from scan.indexer.block_source import BlockSource
from scan.indexer.log_selection import NO_LOGS
from scan.indexer.prefetch import BlockPrefetcher
from scan.indexer.prefetch_process import MIN_PROCESS_BLOCKS
from scan.indexer.stage_seconds import StageSeconds
from scan.settings import Settings

WINDOW_BLOCKS = MIN_PROCESS_BLOCKS - 1  # fetched in ascending order; windows go from new to old
FIND_BLOCKS = 2_000  # searched by one statement: a range that the planner takes for small
WRITE_TRANSACTIONS = 2_000  # in one write, for which the indexer waits a tenth of a second


class LaterColumns(NamedTuple):
    """The names of the columns that migrations have added since release 1.0."""

    blocks: tuple[str, ...]
    transactions: tuple[str, ...]


LATER = LaterColumns(
    *(
        tuple(name for name, column in annotated_columns(record).items() if column.added_by)
        for record in (DecodedBlock, DecodedTransaction)
    )
)


class FieldBackfill:
    """The backfill of one database from one node. Its construction raises WrongChain if the node
    serves a different chain."""

    def __init__(
        self, settings: Settings, database: Database, node: Node, stop: threading.Event
    ) -> None:
        self.filled = 0  # rows
        self.differing: set[int] = set()  # numbers of blocks whose hash is not the node's
        self._database = database
        self._source = BlockSource(node, traces="off")
        self._prefetcher = BlockPrefetcher(settings, self._source, stop)
        self._stop = stop
        # By column, the block from which the node has it: if a block lacks it, so do all before it.
        self._given_from = dict.fromkeys(LATER.blocks, 0)
        chain = chain_identity.check(node, database)
        self._start_block = chain.start_block if chain else 0
        head = database.row("indexer/blocks_get_head")
        self._next = -1 if head is None else int(head[0])  # all blocks above have been visited

    def run(self, report: Callable[[int], None]) -> None:
        """Fill rows until all blocks were visited, or `stop` is set. `report` gets the first block
        of each finished window. Raises NodeError, MalformedBlock, ScanError; another call goes on.
        """
        while (newest := self._find_unfilled()) is not None:
            first = max(self._start_block, newest - WINDOW_BLOCKS + 1)
            batch: list[BlockRows] = []
            for blocks in self._prefetcher.blocks(first, newest, NO_LOGS, StageSeconds()):
                batch += blocks
                if sum(len(block.transactions) for block in batch) >= WRITE_TRANSACTIONS:
                    self._write(batch)
                    batch = []
            self._write(batch)
            self._next = first - 1
            report(first)

    def _find_unfilled(self) -> int | None:
        """Return the newest unfilled block that was not visited yet; None if there is none, or
        `stop` is set."""
        while self._next >= self._start_block and any(LATER) and not self._stop.is_set():
            first = max(self._start_block, self._next - FIND_BLOCKS + 1)
            number: int | None = self._database.value(
                "indexer/fields_find_unfilled",
                block_from=first,
                block_to=self._next,
                columns=list(self._given_from),
                columns_from=list(self._given_from.values()),
                transaction_columns=list(LATER.transactions),
            )
            if number is not None:
                return number
            self._next = first - 1
        return None

    def _write(self, blocks: Sequence[BlockRows]) -> None:
        if not blocks:
            return
        names = ("number", "hash", *LATER.blocks)
        with self._database.transaction() as tx:
            tx.execute("indexer/backfill_lock")
            tx.execute("indexer/fields_create")
            copy_rows.copy_records(tx, "fetched_blocks", names, [block.columns for block in blocks])
            lines = [line for block in blocks for line in block.transactions]
            copy_rows.copy_lines(tx, "fetched_transactions", TRANSACTION_COLUMNS, lines)
            self.differing |= {number for (number,) in tx.rows("indexer/fields_match")}
            filled = 0
            for table, key in (("blocks", "number"), ("transactions", "ordinal")):
                if columns := list(getattr(LATER, table)):
                    filled += tx.value("indexer/fields_fill", table=table, key=key, columns=columns)
            if filled:
                tx.execute("indexer/chain_notify")
        self.filled += filled
        for block in blocks:
            for name, first in self._given_from.items():
                if block.columns[name] is None:
                    self._given_from[name] = max(first, block.number + 1)
