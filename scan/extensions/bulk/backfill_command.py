"""`scan backfill`: fills columns that an upgrade added, and indexes whole chains in bulk."""

import argparse
import sys
import threading
import time
from contextlib import closing, suppress

from scan.commands.arguments import add_actions, add_command
from scan.commands.startup import (
    on_stop_signals,
    prepare_database,
    require_node,
    with_running_database,
)
from scan.database.connection import Database
from scan.ethereum.client import Node, NodeError
from scan.ethereum.retries import RETRIED, Retries
from scan.extensions.bulk import chain_command
from scan.indexer.chain_identity import WrongChain
from scan.indexer.field_backfill import FieldBackfill
from scan.settings import Settings

FILLED, UNFILLED = 0, 1
REPORT_EVERY_S = 5.0
PATIENCE_S = 600.0  # with a node or database that fails while no row is filled
# The longest time for which a process that hangs in a transaction can block unwinding a fork.
SESSION = {"idle_in_transaction_session_timeout": "10000"}

FIELDS = """\
Fills columns of blocks and transactions that an upgrade added, in rows that were indexed before.
Starts with the newest blocks. The indexer and the API may run meanwhile. After an interruption, the
next run continues. Exits with 0 when every row is filled, with 1 when it was stopped or the node
did not return all data."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    add_command(actions, "fields", "fill added columns from the node", FIELDS, fields)
    chain_command.add_actions(actions)


def fields(settings: Settings, _options: argparse.Namespace) -> int:
    """Return FILLED if all rows are filled, UNFILLED if the backfill was stopped or failed."""
    settings = with_running_database(settings)
    require_node(settings)
    prepare_database(settings)
    stop = threading.Event()
    on_stop_signals(stop.set)
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-backfill", session=SESSION
    )
    with closing(database):
        try:
            node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
            return _fill(FieldBackfill(settings, database, node, stop), stop)
        except (WrongChain, NodeError) as error:
            print(error, file=sys.stderr)
            return UNFILLED


def _fill(backfill: FieldBackfill, stop: threading.Event) -> int:
    if not _run(backfill, stop):
        return UNFILLED
    print(f"filled {backfill.filled} rows", file=sys.stderr)
    if backfill.differing:
        print(
            f"block {max(backfill.differing)} differed from the node's block when it was read; run"
            " this command again",
            file=sys.stderr,
        )
    return UNFILLED if backfill.differing or stop.is_set() else FILLED


def _run(backfill: FieldBackfill, stop: threading.Event) -> bool:
    """Run the backfill, again after temporary errors, and return whether it completed."""
    progress, retries = _Progress(backfill), Retries(PATIENCE_S)
    with suppress(*RETRIED):
        while not stop.is_set():
            try:
                backfill.run(progress.show)
                return True
            except RETRIED as error:
                print(error, file=sys.stderr)
                stop.wait(retries.pause_s(error, backfill.filled))
    print("stopped; the next run continues from here", file=sys.stderr)
    return False


class _Progress:
    """Reports the progress of a backfill every REPORT_EVERY_S."""

    def __init__(self, backfill: FieldBackfill) -> None:
        self._backfill = backfill
        self._shown_at = time.monotonic()

    def show(self, block_number: int) -> None:
        now = time.monotonic()
        if now - self._shown_at >= REPORT_EVERY_S:
            self._shown_at = now
            print(
                f"filled {self._backfill.filled} rows down to block {block_number}", file=sys.stderr
            )
