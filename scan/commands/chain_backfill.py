"""`scan backfill chain`: a whole chain into an empty index, in bulk."""

import argparse
import os
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

from scan.audit.node_comparison import NodeComparison
from scan.commands.startup import (
    on_stop_signals,
    prepare_database,
    require_node,
    with_running_database,
)
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.errors import ScanError
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node, NodeError, RpcError
from scan.indexer.chain_identity import WrongChain, WrongLogs
from scan.indexer.writer import NotTheWriter
from scan.settings import Settings

DONE, NOT_DONE = 0, 1
REFUSED = 3  # of --automatic: it cannot begin, so the indexer goes block after block
PACKAGES = ("duckdb", "pyarrow", "numpy", "msgspec")
INSTALL = "pip install 'scan[bulk]'"
AUDITED_BLOCKS = 100
MAX_SHOWN = 5
GB = 10**9


class ExtraMissing(ScanError):
    """The packages of scan[bulk] are not installed."""


def run(settings: Settings, options: argparse.Namespace) -> int:
    """DONE when the head is set; NOT_DONE when it was stopped, or failed, and may be continued."""
    try:
        from scan.bulk.chain_backfill import CannotBackfill, CannotBegin, ChainBackfill, Resources
        from scan.bulk.memory import total_bytes
        from scan.bulk.shared_spool import Part
        from scan.bulk.spool import SpoolFailed
        from scan.bulk.warehouse import WarehouseError
    except ImportError as error:
        raise _extra_missing(error) from None
    settings = with_running_database(settings)
    require_node(settings)
    prepare_database(settings, may_be_away=False)
    stop = threading.Event()
    if not options.automatic:  # else SIGTERM ends it at once, as SIGKILL may
        on_stop_signals(stop.set)
    memory_bytes = options.memory * GB if options.memory else total_bytes() // 4 or GB
    index_bytes = min(memory_bytes // 8, 2 * GB)
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    backfill_database = Database(
        settings.database_url,
        statement_timeout_ms=0,
        name="scan-backfill",
        # Files go on from what was committed, so no commit may be lost where the server crashes.
        session={
            "maintenance_work_mem": f"{index_bytes // 1024}kB",
            "synchronous_commit": "on",
        },
    )
    with closing(backfill_database) as database:
        backfill = ChainBackfill(
            settings,
            database,
            node,
            Resources(
                options.workers,
                memory_bytes,
                threads=len(os.sched_getaffinity(0)),
                tables_at_once=options.tables_at_once,
                index_bytes=index_bytes,
                part=Part(*options.part),
            ),
            partial(_differences, node, settings),
            stop,
        )
        try:
            if options.discard:
                backfill.discard()
                _write_line("the bulk backfill is discarded")
                return DONE
            folder = Path(options.folder or settings.data_dir / "bulk").absolute()
            plan = backfill.begin(folder, options.range_blocks, options.last_block)
            _write_line(backfill.describe(plan))
            if backfill.run():
                _write_line(f"indexed up to block {plan.last_block}; `scan index` follows the node")
                return DONE
        except NotTheWriter:
            reason = "another indexer or backfill is running on this database: stop it first"
        except CannotBegin as error:
            _write_line(str(error))
            if options.automatic:
                print(error, flush=True)
            return REFUSED if options.automatic else NOT_DONE
        except (NodeError, RpcError, MalformedBlock, WrongChain, WrongLogs) as error:
            reason = str(error)
        except (CannotBackfill, SpoolFailed, WarehouseError, ScanError, OSError) as error:
            reason = str(error)
        else:
            reason = "stopped"
    _write_line(f"{reason}; the next run continues from here")
    if options.automatic:
        print(reason, flush=True)
    return NOT_DONE


def fetch(settings: Settings, options: argparse.Namespace) -> int:
    """DONE when no range of this part is missing; NOT_DONE when it was stopped, or failed."""
    try:
        from scan.bulk.shared_spool import NoSpool, Part, fetch_share
        from scan.bulk.spool import SpoolFailed
    except ImportError as error:
        raise _extra_missing(error) from None
    require_node(settings)
    stop = threading.Event()
    on_stop_signals(stop.set)
    folder = Path(options.folder).absolute()
    try:
        fetched = fetch_share(settings, folder, Part(*options.part), options.workers, stop)
    except (NoSpool, SpoolFailed, NodeError, RpcError, OSError) as error:
        _write_line(str(error))
        return NOT_DONE
    if stop.is_set():
        _write_line("stopped, or the main run needs no more files")
        return NOT_DONE
    _write_line(f"{fetched} ranges were missing and are there now")
    return DONE


def _extra_missing(error: ImportError) -> ExtraMissing:
    return ExtraMissing(f"this needs the extra `bulk` ({error.name} is not installed): {INSTALL}")


def _differences(node: Node, settings: Settings, tx: Transaction) -> list[str]:
    """Of a sample of blocks from the node's, in the transaction that makes them visible."""
    comparison = NodeComparison(tx, node, settings)
    lines: list[str] = []
    for first, last in comparison.ranges(AUDITED_BLOCKS):
        lines += comparison.compare(first, last)
        if len(lines) >= MAX_SHOWN:
            break
    return lines[:MAX_SHOWN]


def _write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
