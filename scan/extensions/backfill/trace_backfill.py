"""`scan backfill traces`: traces of blocks that were indexed without them, filled in later from a
node that has their state, so that the next run continues after a kill.
"""

import argparse
import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from typing import Any

from scan.audit.derived_tables import DERIVED, expect
from scan.cached_values import LazyMapping
from scan.commands import arguments, audit, long_work
from scan.contracts import account_state
from scan.contracts.known_proxies import delegation_text
from scan.database import connection, transaction
from scan.database.transaction import copy_lines
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import HistoryPruned, Node
from scan.ethereum.events import ZERO_ADDRESS
from scan.ethereum.node_errors import RETRIED, Retries
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.backfill.plan import PATIENCE_S, CannotBackfill, whole_range
from scan.hex import data, to_hex
from scan.indexer import (
    block_rows,
    block_source,
    chain_identity,
    contract_state,
    partitions,
    writer,
)
from scan.settings import Settings

log = logging.getLogger(__name__)

READ_BLOCKS = 8  # in one request
READ_AT_ONCE = 4  # requests
LISTED_BLOCKS = 256
COPIED_BLOCKS = 100
_UNNUMBERED = ("credits", "contract_creations", "log_emitters")
TABLES: Mapping[str, Sequence[str]] = LazyMapping(
    lambda: {
        "internal_transfers": block_rows.INTERNAL_TRANSFER_COLUMNS,
        **{name: block_rows.UNNUMBERED[name] for name in _UNNUMBERED},
    }
)
CONTRACT_COLUMNS = ("address", "block_number", "code_hash")


def require_all_rows(database: connection.Database | transaction.Transaction) -> None:
    """Raise CannotBackfill where rows of older blocks are removed, or soon will be."""
    if database.value("indexer/retention_get_oldest") is not None:
        raise CannotBackfill(
            "rows of older blocks are removed (SCAN_KEEP_DAYS), so that later ones cannot be"
            " computed anew"
        )


class TraceBackfill:
    """Fills in the traces of one database; `stop` ends the reading.

    First the rows that follow from traces are read and kept in a table of their own, beside a
    running indexer. Then they are put into the tables of the chain in one transaction, for which
    the indexer waits: ordinals of internal transfers have no gaps, so all later ones are numbered
    anew, and derived tables are computed anew of all rows.
    """

    def __init__(self, database: connection.Database, node: Node, stop: threading.Event) -> None:
        self._database = database
        self._source = block_source.BlockSource(node)
        self._state = contract_state.StateReader(node)
        self._stop = stop

    def missing(self) -> Sequence[int]:
        """Return how many blocks were indexed without traces, and how many of these are to be
        read."""
        return self._database.row("bulk/traces_count_missing") or (0, 0)

    def read(self) -> Iterator[int]:
        """Read traces, and yield how many blocks have got theirs. Raises CannotBackfill and, after
        PATIENCE_S, the errors of RETRIED."""
        after = -1
        with ThreadPoolExecutor(READ_AT_ONCE, "trace") as pool:
            while not self._stop.is_set():
                listed = self._database.rows(
                    "bulk/traces_list_missing", after=after, most=LISTED_BLOCKS
                )
                if not listed:
                    return
                after = listed[-1][0]
                hashes = {number: bytes(hash_) for number, hash_ in listed}
                for read in pool.map(partial(self._read, hashes), _spans([*hashes])):
                    if self._stop.is_set():
                        return
                    if read:
                        numbers, hashes_, rows = map(list, zip(*read, strict=True))
                        with self._database.transaction() as tx:
                            tx.execute(
                                "bulk/traces_put", numbers=numbers, hashes=hashes_, rows=rows
                            )
                    yield len(read)

    def _read(self, hashes: dict[int, bytes], span: Sequence[int]) -> list[tuple[int, bytes, str]]:
        """Return number, hash and rows of the blocks of a span that the node has as the index."""
        made: list[tuple[int, bytes, str]] = []
        retries = Retries(PATIENCE_S)
        for block in whole_range(lambda *ends: retries.run(self._fetch, *ends), span[0], span[-1]):
            number, hash_ = block.block.number, block.block.hash
            if self._stop.is_set():
                break
            if block.is_traced is False:
                self._require_state(contract_state.BlockId(number, hash_))
            elif hashes.get(number) == hash_:
                made.append((number, hash_, json.dumps(self._rows(block))))
        return made

    def _require_state(self, block: contract_state.BlockId) -> None:
        """Raise CannotBackfill where a block has no traces since the node has no state of it, or
        offers none. One that it refuses alone stays untraced."""
        if not self._source.can_trace:
            raise CannotBackfill(
                "the node offers no traces (debug_traceBlockByHash, trace_block or"
                " debug_traceTransaction)"
            )
        code = contract_state.StateQuery(ZERO_ADDRESS, None, block, is_of_block_only=True)
        if Retries(PATIENCE_S).run(self._state.read, [code])[code] is None:
            raise CannotBackfill(
                f"the node cannot trace block {block.number}: use one that has its state (an"
                " archive node)"
            )

    def _fetch(self, first: int, last: int) -> list[block_rows.FetchedBlock]:
        try:
            return self._source.blocks(first, last)
        except HistoryPruned:
            raise CannotBackfill(
                f"the node has pruned block {first}: only one that has all blocks and their state"
                " (an archive node) traces them"
            ) from None

    def _rows(self, fetched: block_rows.FetchedBlock) -> dict[str, Any]:
        """Return what a block's traces add to the tables, as JSON."""
        block = fetched.block
        made = block_rows.table_rows(fetched, block_rows.NO_LOGS)
        rows = {"internal_transfers": made.internal_transfers, **made.unnumbered}
        failed = [t.transaction_index for t in block.transactions if not t.status]
        at = contract_state.BlockId(block.number, block.hash)
        addresses = (*fetched.created, *fetched.destroyed)
        queries = [contract_state.StateQuery(address, None, at) for address in addresses]
        codes = Retries(PATIENCE_S).run(self._state.read, queries)
        return {
            **{table: [*map(transaction.line, rows[table])] for table in TABLES},
            block_rows.DELEGATED_CALLS: [
                [at if isinstance(at, int) else at and to_hex(at) for at in call]
                for call in rows[block_rows.DELEGATED_CALLS]
            ],
            "failed": [] if block.has_statuses else failed,
            "codes": [
                (to_hex(query.address), to_hex(code))
                for query, code in codes.items()
                if code is not None and not code.startswith(DELEGATION)
            ],
        }

    def write(self, partition_rows: int) -> None:
        """Put what was read into the tables. The indexer waits for the end of the transaction, and
        then goes on with the new ordinals. Raises CannotBackfill."""
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            require_all_rows(tx)  # the indexer may have begun to remove some since the reading did
            tx.execute("bulk/traces_begin")
            self._copy(tx)
            renumbered = tx.row("bulk/traces_renumber")
            if renumbered is not None:
                needed = sum(renumbered)
                partitions.make_empty(tx, "internal_transfers", partition_rows, needed)
                tx.execute("bulk/traces_replace")
                for table in DERIVED:
                    expect(tx, table)
                    tx.execute("audit/derived_repair", table=table)
                    log.info("%s computed anew", table)
            tx.execute("bulk/traces_end")
            tx.execute("indexer/chain_notify")

    def _copy(self, tx: transaction.Transaction) -> None:
        """Copy the rows of all blocks into temporary tables."""
        after = -1
        while page := tx.rows("bulk/traces_list", after=after, most=COPIED_BLOCKS):
            after = page[-1][0]
            for table, columns in TABLES.items():
                lines = (line for _, rows in page for line in rows[table])
                copy_lines(tx, f"new_{table}", columns, lines)
            writer.store_delegated_calls(
                tx,
                [
                    (data(address), data(selector), number, implementation and data(implementation))
                    for _, rows in page
                    for address, selector, number, implementation in rows[
                        block_rows.DELEGATED_CALLS
                    ]
                ],
            )
            failed = [(number, index) for number, rows in page for index in rows["failed"]]
            if failed:
                numbers, indexes = map(list, zip(*failed, strict=True))
                tx.execute("bulk/traces_fail_transactions", numbers=numbers, indexes=indexes)
            self._copy_codes(tx, page)

    def _copy_codes(self, tx: transaction.Transaction, page: Sequence[Any]) -> None:
        codes = {code: data(code) for _, rows in page for _, code in rows["codes"] if code != "0x"}
        hashes = {code: keccak256(content) for code, content in codes.items()}
        tx.execute(
            "indexer/codes_insert",
            code_hashes=[*hashes.values()],
            codes=[*codes.values()],
            delegations=[*map(delegation_text, codes.values())],
        )
        lines = (
            transaction.line((data(address), number, hashes.get(code)))
            for number, rows in page
            for address, code in rows["codes"]
        )
        copy_lines(tx, "new_contracts", CONTRACT_COLUMNS, lines)


def _spans(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield runs of consecutive numbers, of READ_BLOCKS at most."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        consecutive = [number for _, number in run]
        for start in range(0, len(consecutive), READ_BLOCKS):
            yield consecutive[start : start + READ_BLOCKS]


TRACES = """\
Reads the traces of blocks that were indexed without them, as those from files of history are, and
fills in what follows: internal transfers, creations by contracts, balances and counters. The node
has to have the state of these blocks. Reading goes on beside a running indexer, and after an
interruption the next run continues; then the indexer waits while the rows are written. See
docs/growing.md."""


def add_arguments(actions: Any) -> None:
    text = "read the traces of blocks that were indexed without them"
    arguments.add_command(actions, "traces", text, TRACES, run)


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE if no block lacks traces any more, NOT_DONE if the next run has to continue."""
    failures = (*RETRIED, CannotBackfill)
    with long_work.begun(settings, "scan-traces", failures, session=audit.SESSION) as begun:
        settings, database, stop = begun
        node = account_state.node_of_index(settings)
        require_all_rows(database)
        chain_identity.check(node, database)
        backfill = TraceBackfill(database, node, stop)
        blocks, unread = backfill.missing()
        long_work.write_line(f"{blocks} blocks lack traces; {unread} of them are to be read")
        long_work.Progress(unread, "read the traces of").follow(backfill.read())
        blocks, unread = backfill.missing()
        if blocks > unread and not stop.is_set():
            long_work.write_line(f"writing the rows of {blocks - unread} blocks; the indexer waits")
            backfill.write(settings.partition_rows)
            blocks, unread = backfill.missing()
        if not blocks:
            return long_work.DONE
        long_work.report(f"{blocks} blocks lack traces")
    return long_work.NOT_DONE
