"""Fills columns that are null in older rows, from the node, newest blocks first.

It may run beside the indexer, and be killed at any time: what is filled stays, and the next run
walks past it. A row gets what a block of the very hash it stands in has for it, or stays as it is;
the indexer writes nothing meanwhile (indexer/backfill_lock). The sums of addresses follow.
"""

import json
import threading
from collections.abc import Callable, Sequence

from scan.database.connection import Database
from scan.ethereum.blocks import BLOCK_COLUMNS
from scan.ethereum.client import Node
from scan.indexer import chain_identity
from scan.indexer.block_rows import TRANSACTION_COLUMNS, BlockRows
from scan.indexer.block_source import BlockSource
from scan.indexer.log_selection import NO_LOGS
from scan.indexer.prefetch import MIN_PROCESS_BLOCKS, BlockPrefetcher
from scan.indexer.stage_seconds import StageSeconds
from scan.settings import Settings

WINDOW_BLOCKS = MIN_PROCESS_BLOCKS - 1  # fetched in their order; windows go from new to old
FIND_BLOCKS = 2_000  # looked at by one statement: a range that the planner takes for small
WRITE_TRANSACTIONS = 2_000  # at once: the indexer waits for that, a tenth of a second


class FieldBackfill:
    """Fills one database from one node; raises WrongChain if it serves a different chain."""

    def __init__(
        self, settings: Settings, database: Database, node: Node, stop: threading.Event
    ) -> None:
        self.filled = 0  # transactions
        self._database = database
        self._source = BlockSource(node, traces="off")
        self._prefetcher = BlockPrefetcher(settings, self._source, stop)
        self._stop = stop
        # Columns of blocks that older rows lack: below its number none of the node's has a value.
        self._block_columns = {name: 0 for name, c in BLOCK_COLUMNS.items() if c.added_by}
        chain = chain_identity.check(node, database)
        self._start_block = chain.start_block if chain else 0
        self._next = self._head()  # everything above it has been walked over

    def run(self, report: Callable[[int], None]) -> None:
        """Until everything is walked over, or stopped; `report` gets the number of each block
        reached. Raises NodeError, MalformedBlock, ScanError; called again, it goes on."""
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

    def newest_unfilled(self) -> int | None:
        """The newest block that is still unfilled after a complete run."""
        self._next = self._head()
        return self._find_unfilled()

    def _head(self) -> int:
        row = self._database.row("indexer/blocks_get_head")
        return -1 if row is None else int(row[0])

    def _find_unfilled(self) -> int | None:
        """The newest unfilled block that was not visited yet; None also when stopped."""
        while self._next >= self._start_block and not self._stop.is_set():
            first = max(self._start_block, self._next - FIND_BLOCKS + 1)
            number: int | None = self._database.value(
                "indexer/fields_find_unfilled",
                block_from=first,
                block_to=self._next,
                columns=list(self._block_columns),
                columns_from=list(self._block_columns.values()),
            )
            if number is not None:
                return number
            self._next = first - 1
        return None

    def _write(self, blocks: Sequence[BlockRows]) -> None:
        if not blocks:
            return
        keys = {
            "numbers": [block.number for block in blocks],
            "hashes": [block.hash for block in blocks],
        }
        fetched = [
            {"number": block.number, "hash": f"\\x{block.hash.hex()}"}
            | {name: block.columns[name] for name in self._block_columns}
            for block in blocks
        ]
        with self._database.transaction() as tx:
            tx.execute("indexer/backfill_lock")
            tx.execute("indexer/fields_create")
            lines = [line for block in blocks for line in block.transactions]
            tx.copy_lines("fetched_transactions", TRANSACTION_COLUMNS, lines)
            filled = tx.value("indexer/fields_fill_transactions", **keys)
            if filled + tx.value("indexer/fields_fill_blocks", fetched=json.dumps(fetched)):
                tx.execute("indexer/chain_notify")
        self.filled += filled
        for block in blocks:
            for name, first in self._block_columns.items():
                if block.columns[name] is None:
                    self._block_columns[name] = max(first, block.number + 1)
