"""`scan backfill bodies`, and the same beside the indexer: transactions and receipts of blocks that
were indexed without storing them, filled in later, so that the next run continues after a kill.
They are read from the node or from history files, the newest first, one request at a time.
"""

import argparse
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scan.commands import arguments, long_work
from scan.contracts import account_state
from scan.database import connection
from scan.database.transaction import binary_row, copy_binary
from scan.ethereum.client import HistoryPruned, Node
from scan.ethereum.node_errors import RETRIED, Retries
from scan.extensions.backfill import command_options
from scan.extensions.backfill.plan import PATIENCE_S, CannotBackfill, whole_range
from scan.indexer import block_rows, block_source, chain_identity, partitions
from scan.indexer.block_rows import BODIES
from scan.settings import Settings

if TYPE_CHECKING:  # which needs the packages of scan[bulk]
    from scan.extensions.backfill.history_source import ChainFiles, HistorySource

READ_BLOCKS = 8  # in one request and one transaction


class BodyBackfill:
    """Stores older blocks of one database until `stop` is set. Each range is one transaction, with
    the block from which on all are stored; a block has to have the hash by which it is indexed."""

    def __init__(
        self,
        database: connection.Database,
        node: Node,
        stop: threading.Event,
        files: "ChainFiles | None" = None,
        partition_rows: int = partitions.DEFAULT_ROWS,
    ) -> None:
        self._partition_rows = partition_rows
        self._database = database
        self._stop = stop
        self._files = files
        self._source = block_source.BlockSource(node, traces="off", stores_bodies=True)
        self._of_files: tuple[HistorySource, int] | None = None  # of an era, and its first block

    def missing(self) -> tuple[int, int] | None:
        """Return the first and last of the blocks that are not stored; None where there is none, or
        where SCAN_BODIES is off."""
        return self._database.row("bulk/bodies_get_missing")

    def run(self) -> Iterator[int]:
        """Store blocks, and yield how many were stored. Raises CannotBackfill, and the errors of
        RETRIED after PATIENCE_S."""
        while not self._stop.is_set() and (missing := self.missing()) is not None:
            first, last = max(missing[0], missing[1] - READ_BLOCKS + 1), missing[1]
            blocks = Retries(PATIENCE_S).run(self._read, first, last)
            self._write(blocks, last)
            yield last - blocks[0].block.number + 1

    def _read(self, first: int, last: int) -> list[block_rows.FetchedBlock]:
        """Return the blocks up to `last`, from `first` on or from a later one."""
        source: block_source.BlockSource | HistorySource = self._source
        if self._files is not None and last <= self._files.last_block:
            if self._of_files is None or last < self._of_files[1]:
                if self._of_files is not None:
                    self._of_files[0].close()
                self._of_files = self._files.source_of(last, self._source)
            source, first = self._of_files[0], max(first, self._of_files[1])
        try:
            return [*whole_range(source.blocks, first, last)]
        except HistoryPruned as error:
            if first == last:
                raise CannotBackfill(str(error)) from None
            return self._read(last, last)  # the node may have dropped the first of them alone

    def _write(self, blocks: list[block_rows.FetchedBlock], last: int) -> None:
        first = blocks[0].block.number
        with self._database.transaction() as tx:
            # An indexer that takes blocks back meanwhile would not see these rows.
            tx.execute("indexer/writes_lock")
            rows = tx.rows("bulk/blocks_list_hashes", block_from=first, block_to=last)
            indexed: dict[int, Any] = dict(rows)
            for fetched in blocks:
                number, hash_ = fetched.block.number, fetched.block.hash
                if number not in indexed or bytes(indexed[number]) != hash_:
                    raise CannotBackfill(f"block {number} is another one than the one indexed")
            if tx.value("indexer/partitions_get_bound", table=BODIES) <= last:
                partition_rows = partitions.rows_of(BODIES, self._partition_rows)
                partitions.make_empty(tx, BODIES, partition_rows, last + 1)
            rows = [(b.block.number, *b.block.body) for b in blocks if b.block.body]
            tx.execute("bulk/bodies_delete", block_from=first, block_to=last)
            copy_binary(tx, BODIES, block_rows.UNNUMBERED[BODIES], map(binary_row, rows))
            if not tx.execute("bulk/bodies_set_first", first=first, following=last + 1):
                raise CannotBackfill("SCAN_BODIES was turned off, or a reorganisation is under way")


STORED = """\
Stores the transactions and receipts of blocks that were indexed before SCAN_BODIES was on, the
newest first, from the node or from history files. The indexer does so by itself in the background;
see docs/growing.md."""


def add_arguments(actions: Any) -> None:
    text = "store the transactions and receipts of blocks that were indexed without"
    command = arguments.add_command(actions, "bodies", text, STORED, run)
    command_options.add_arguments(command)
    command.add_argument("--automatic", action="store_true", help=argparse.SUPPRESS)
    command.set_defaults(cluster=None)


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE if all indexed blocks are stored, NOT_DONE if the next run has to continue."""
    failures = (*RETRIED, CannotBackfill)
    with long_work.begun(settings, "scan-bodies", failures) as (settings, database, stop):
        if options.automatic:
            long_work.lower_priority()
        node = account_state.node_of_index(settings)
        chain_identity.check(node, database)
        files = command_options.open_history(settings, options)
        backfill = BodyBackfill(database, node, stop, files, settings.partition_rows)
        if database.value("indexer/bodies_from_get") is None:
            raise CannotBackfill("the indexer stores no blocks, since SCAN_BODIES is off")
        first, last = backfill.missing() or (0, -1)
        long_work.write_line(f"{last - first + 1} blocks are not stored")
        if first <= last:
            long_work.Progress(last - first + 1, "stored").follow(backfill.run())
        if backfill.missing() is None:
            if files is not None:
                files.end()
            return long_work.DONE
    return long_work.NOT_DONE


def run_beside(settings: Settings, stop: threading.Event) -> None:
    """Store older blocks beside the indexer."""

    def is_needed(database: connection.Database) -> bool:
        return settings.stores_bodies and database.row("bulk/bodies_get_missing") is not None

    long_work.run_when_needed(settings, stop, is_needed, "backfill", "bodies", "--automatic")
