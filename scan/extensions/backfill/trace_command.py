"""`scan backfill traces`: the traces of blocks that were indexed without them."""

import argparse
import sys
import threading
import time
from contextlib import closing
from typing import Any

from scan.commands.arguments import add_command
from scan.commands.audit import SESSION
from scan.commands.startup import (
    on_stop_signals,
    prepare_database,
    require_node,
    with_running_database,
)
from scan.contracts.index_node import node_of_index
from scan.database.connection import Database
from scan.ethereum.retries import RETRIED
from scan.extensions.backfill.trace_backfill import CannotTrace, TraceBackfill, require_all_rows
from scan.indexer import chain_identity
from scan.settings import Settings

DONE, NOT_DONE = 0, 1
SHOW_EVERY_S = 5.0

TRACES = """\
Reads the traces of blocks that were indexed without them, as those from files of history are, and
fills in what follows: internal transfers, creations by contracts, balances and counters. The node
has to have the state of these blocks. Reading goes on beside a running indexer, and after an
interruption the next run continues; then the indexer waits while the rows are written. See
docs/growing.md."""


def add_arguments(actions: Any) -> None:
    text = "read the traces of blocks that were indexed without them"
    add_command(actions, "traces", text, TRACES, run)


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE if no block lacks traces any more, NOT_DONE if the next run has to continue."""
    settings = with_running_database(settings)
    require_node(settings)
    prepare_database(settings, may_be_away=False)
    stop = threading.Event()
    on_stop_signals(stop.set)
    node = node_of_index(settings)
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-traces", session=SESSION
    )
    with closing(database):
        try:
            require_all_rows(database)
            chain_identity.check(node, database)
            backfill = TraceBackfill(database, node, stop)
            blocks, unread = backfill.missing()
            _write_line(f"{blocks} blocks lack traces; {unread} of them are to be read")
            _read(backfill, unread)
            blocks, unread = backfill.missing()
            if blocks and not stop.is_set():
                _write_line(f"writing the rows of {blocks - unread} blocks; the indexer waits")
                backfill.write(settings.partition_rows)
                blocks, unread = backfill.missing()
        except (*RETRIED, CannotTrace) as error:
            _write_line(f"{error}; the next run continues from here")
            return NOT_DONE
    if blocks:
        _write_line(f"{blocks} blocks lack traces; the next run continues from here")
    return NOT_DONE if blocks else DONE


def _read(backfill: TraceBackfill, total: int) -> None:
    done, shown_at = 0, time.monotonic()
    for blocks in backfill.read():
        done += blocks
        if time.monotonic() - shown_at > SHOW_EVERY_S:
            shown_at = time.monotonic()
            _write_line(f"traces of {done} of {total} blocks are read")


def _write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
