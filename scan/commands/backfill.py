"""`scan backfill`: what rows and days of an older version lack, from the node or from the rows."""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from scan.commands import chain_backfill
from scan.commands.arguments import add_actions, add_command
from scan.commands.startup import (
    on_stop_signals,
    prepare_database,
    require_node,
    with_running_database,
)
from scan.database.connection import Database
from scan.errors import ScanError
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node, NodeError, RpcError
from scan.indexer.candle_backfill import CandleBackfill
from scan.indexer.chain_identity import WrongChain
from scan.indexer.daily_backfill import DailyBackfill
from scan.indexer.field_backfill import FieldBackfill
from scan.settings import Settings

FILLED, UNFILLED = 0, 1
REPORT_EVERY_S = 5.0
MAX_FAILURES, MAX_PAUSE_S = 8, 10.0
# So that a process that hangs in a transaction does not block the unwinding of a fork for longer.
SESSION = {"idle_in_transaction_session_timeout": "10000"}

FIELDS = """\
Fills columns that are null in blocks and transactions indexed by an older version: base fee, size,
nonce, gas limit, type, fees, cumulative gas and method. Starts with the newest blocks. The indexer
and the API may run meanwhile. After an interruption, the next run continues. Exits with 0 when
every row is filled, with 1 when it was stopped or the node did not return all data."""

DAILY = """\
Counts the days (UTC) that an older version indexed, for /api/v1/stats/daily and the page of charts.
Starts with the newest day. The indexer and the API may run meanwhile. After an interruption, the
next run continues. Exits with 0 when every day is counted, with 1 when it was stopped."""

CANDLES = """\
Counts the trades that an older version indexed, for the candles and volumes of pools. Starts with
the newest ones. The indexer and the API may run meanwhile. After an interruption, the next run
continues. Exits with 0 when every trade is counted, with 1 when it was stopped."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    add_command(actions, "fields", "fill null columns from the node", FIELDS, fields)
    add_command(actions, "daily", "count days from their blocks", DAILY, daily)
    add_command(actions, "candles", "count candles of pools from their trades", CANDLES, candles)
    chain_backfill.add_actions(actions)


def fields(settings: Settings, _options: argparse.Namespace) -> int:
    """FILLED if all rows are filled; UNFILLED if it was stopped or failed."""
    settings = with_running_database(settings)
    require_node(settings)
    with _prepared_database(settings) as (database, stop):
        try:
            node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
            backfill = FieldBackfill(settings, database, node, stop)
            if not _run(backfill, stop):
                return UNFILLED
            unfilled_block = None if stop.is_set() else backfill.newest_unfilled()
            _write_line(f"filled {backfill.filled} transactions")
            if unfilled_block is not None:
                _write_line(
                    f"block {unfilled_block} differs from the node's block, or differed when it"
                    " was read; run this command again"
                )
            return FILLED if unfilled_block is None and not stop.is_set() else UNFILLED
        except (WrongChain, NodeError) as error:
            _write_line(str(error))
            return UNFILLED


def daily(settings: Settings, _options: argparse.Namespace) -> int:
    """FILLED if every day is counted; UNFILLED if it was stopped."""
    with _prepared_database(with_running_database(settings)) as (database, stop):
        backfill = DailyBackfill(database, stop)
        is_complete = backfill.run(lambda day: _write_line(f"counted {day}"))
    _write_line(f"counted {backfill.counted} days")
    return FILLED if is_complete else UNFILLED


def candles(settings: Settings, _options: argparse.Namespace) -> int:
    """FILLED if every trade is counted; UNFILLED if it was stopped."""
    with _prepared_database(with_running_database(settings)) as (database, stop):
        backfill = CandleBackfill(database, stop)
        is_complete = backfill.run(lambda left: _write_line(f"{left} trades left"))
    _write_line(f"counted {backfill.counted} trades")
    return FILLED if is_complete else UNFILLED


@contextmanager
def _prepared_database(settings: Settings) -> Iterator[tuple[Database, threading.Event]]:
    """The migrated database, and an event that is set when the process is to stop."""
    prepare_database(settings)
    stop = threading.Event()
    on_stop_signals(stop.set)
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-backfill", session=SESSION
    )
    with closing(database):
        yield database, stop


def _run(backfill: FieldBackfill, stop: threading.Event) -> bool:
    """Whether it completed; retries after temporary errors."""
    progress, failures, filled = _Progress(backfill), 0, -1
    while True:
        try:
            backfill.run(progress.show)
            return True
        except (NodeError, RpcError, MalformedBlock, ScanError) as error:
            failures = failures + 1 if backfill.filled == filled else 1
            filled = backfill.filled
            _write_line(f"{error}")
            if failures == MAX_FAILURES or stop.wait(min(0.5 * 2**failures, MAX_PAUSE_S)):
                _write_line("stopped; the next run continues from here")
                return False


class _Progress:
    def __init__(self, backfill: FieldBackfill) -> None:
        self._backfill = backfill
        self._shown_at = time.monotonic()

    def show(self, block_number: int) -> None:
        now = time.monotonic()
        if now - self._shown_at >= REPORT_EVERY_S:
            self._shown_at = now
            _write_line(f"filled {self._backfill.filled} transactions down to block {block_number}")


def _write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
